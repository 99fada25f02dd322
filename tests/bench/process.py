"""CPU time and memory of a whole process tree, read from /proc."""

from contextlib import suppress
from pathlib import Path

__all__ = ["cpu_seconds", "memory_bytes", "tree"]


def tree(pid: int) -> list[int]:
    """Return the process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = path.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.get(one, [])
    return found


def cpu_seconds(pid: int) -> float:
    """Return the time all threads of the tree have run, to the nanosecond."""
    total = 0
    for one in tree(pid) if pid else []:
        for path in Path(f"/proc/{one}/task").glob("*/schedstat"):
            with suppress(OSError, ValueError):
                total += int(path.read_text().split()[0])
    return total / 1e9


def memory_bytes(pid: int) -> int:
    """Return the proportional set size of the tree."""
    total = 0
    for one in tree(pid) if pid else []:
        with suppress(OSError):
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total
