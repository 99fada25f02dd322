"""Tokens that were used, in a file."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from herma.errors import StoreError
from herma.store import Once, Spending
from herma.store.spent_file import SpentFile
from support.tokens import NOW

ONCE = Once("a" * 64, NOW, NOW + 300)


def opened(path: Path, now: float = NOW, **over: int) -> SpentFile:
    return SpentFile(str(path), lambda: now, **over)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """The path of a file that was made long before the tokens."""
    file = tmp_path / "used.db"
    await opened(file, NOW - 1000).close()
    return file


@pytest.mark.bypass(76)
async def test_a_use_outlives_the_process(path: Path) -> None:
    """And ends with the token."""
    first = opened(path)
    assert [await first.spend(ONCE) for _ in range(2)] == [Spending.FIRST, Spending.AGAIN]
    await first.close()
    again = opened(path)
    assert await again.spend(ONCE) is Spending.AGAIN
    await again.close()
    late = opened(path, ONCE.until)
    assert await late.spend(ONCE) is Spending.FIRST
    await late.close()


@pytest.mark.bypass(76)
async def test_a_new_file_knows_nothing_from_before(tmp_path: Path) -> None:
    """So it takes no token from before, also after it was opened again."""
    new = opened(tmp_path / "used.db")
    assert await new.spend(ONCE) is Spending.OUTDATED
    await new.close()
    again = opened(tmp_path / "used.db", NOW + 50)
    assert await again.spend(ONCE) is Spending.OUTDATED
    assert await again.spend(Once("b", NOW + 31, NOW + 300)) is Spending.FIRST
    await again.close()


async def test_a_full_file_refuses_and_forgets_nothing(path: Path) -> None:
    """Until one of them is over."""
    spent = opened(path, limit=1)
    assert await spent.spend(ONCE) is Spending.FIRST
    assert await spent.spend(Once("b", NOW, NOW + 300)) is Spending.FULL
    assert await spent.spend(ONCE) is Spending.AGAIN
    await spent.close()


async def test_two_gates_share_a_file(path: Path) -> None:
    """Of many uses at the same time one is the first."""
    both = [opened(path), opened(path)]
    tokens = [Once(str(number), NOW, NOW + 300) for number in range(10)]
    found = await asyncio.gather(*(spent.spend(once) for once in tokens for spent in both))
    assert found.count(Spending.FIRST) == 10
    assert found.count(Spending.AGAIN) == 10
    for spent in both:
        await spent.close()


_USE = """
import asyncio, sys
from herma.store import Once
from herma.store.spent_file import SpentFile
async def main():
    spent = SpentFile(sys.argv[1], lambda: 1_900_000_000.0)
    print((await spent.spend(Once("c", 1_900_000_000.0, 1_900_000_300.0))).value, flush=True)
    import os; os.kill(os.getpid(), 9)
asyncio.run(main())
"""


@pytest.mark.bypass(76)
def test_a_use_is_on_the_disk_before_it_is_told(path: Path) -> None:
    """A gate that is killed a moment later has used the token."""
    said = [
        subprocess.run(
            [sys.executable, "-c", _USE, str(path)], capture_output=True, text=True, check=False
        ).stdout
        for _ in range(2)
    ]
    assert said == ["first\n", "again\n"]


async def test_it_is_its_owners_alone(path: Path) -> None:
    """And so is what SQLite keeps beside it."""
    spent = opened(path)
    await spent.spend(ONCE)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}
    await spent.close()


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _second_name(path: Path) -> None:
    path.with_name("other").hardlink_to(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _not_ours(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE x (y)")
    database.close()
    path.chmod(0o600)


def _damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


UNFIT: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (_link, "cannot be opened"),
    "two names": (_second_name, "one name"),
    "directory": (_directory, "cannot be opened"),
    "pipe": (_pipe, "no regular file"),
    "readable": (lambda path: path.chmod(0o640), "chmod 0600"),
    "directory of others": (lambda path: path.parent.chmod(0o777), "chmod go-w"),
    "no database": (lambda path: path.write_bytes(b"not a database" * 500), "move it away"),
    "another database": (_not_ours, "move it away"),
    "damaged": (_damaged, "move it away"),
    "nowhere": (lambda path: (path.unlink(), path.parent.rmdir()), "cannot be opened"),
}


@pytest.mark.bypass(76)
@pytest.mark.parametrize("case", UNFIT)
async def test_a_file_that_must_not_be_trusted_is_refused(tmp_path: Path, case: str) -> None:
    """And left as it is, so that nothing in it becomes usable again."""
    directory = tmp_path / "state"
    directory.mkdir(mode=0o700)
    path = directory / "used.db"
    await opened(path).close()
    spoil, message = UNFIT[case]
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError, match=message):
        opened(path)
    assert (path.read_bytes() if path.is_file() else b"") == before


async def test_what_breaks_later_is_told(path: Path) -> None:
    """Nothing is started on its word."""
    spent = opened(path)
    spent._database.close()
    with pytest.raises(StoreError):
        await spent.spend(ONCE)
    await spent.close()
    with pytest.raises(StoreError):
        await spent.spend(ONCE)
