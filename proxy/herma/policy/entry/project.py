"""Tools that run what a project says: who may write the project says what runs.

Which tools these are, and which of their words tell them to run something, is data (`projects` in the options of rules). A line of
it is `make|gmake`, or `npm|cnpm start|run !install --prefix`: the names of a tool, orders of which one has to be given, orders that
run nothing of the project, and options that name the project wherever they stand.
The lists are `project`, `script` for what runs single files, `option` for what has a project only if one of these options names it
before the first operand, `setting` for the same wherever it stands,
and `file` for what runs the file or directory that it is given, wherever it starts; behind `!` its options that name something else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from herma.policy.command.path import resolve_path
from herma.policy.entry.place import is_scratch, is_uploaded, is_well_hidden

__all__ = ["Project", "project_effects"]

# What an option names that holds no program, by the parts of its name: caches, outputs, logs, sockets.
_HARMLESS = ("cache", "out", "log", "tmp", "temp", "sock", "pid", "data", "dest", "target", "store", "report", "state", "history", "artifact", "args", "allow", "-o")  # fmt: skip
# A file of a program: what stands behind it belongs to that.
_PROGRAMS = (".py", ".ts", ".js", ".mjs", ".cjs", ".go", ".sh", ".rb", ".jar", ".exs")
# Options without a value; what stands behind any other may be one.
_FLAGS = frozenset(
    {"-y", "--yes", "-q", "--quiet", "-s", "--silent", "-A", "--allow-all", "--bun", "--offline", "--verbose"}
)
# Options by which a tool is told that its project lies elsewhere than where it is started.
_ELSEWHERE = frozenset(
    {"-C", "--directory", "--dir", "-d", "--cwd", "--prefix", "--project", "--project-directory", "--project-dir", "-p", "--manifest-path",
     "-f", "--file", "--makefile", "--justfile", "--taskfile", "-t", "--working-directory", "--working-dir", "--chdir", "-chdir"}
)  # fmt: skip
# Marks that a tool takes before a path.
_MARKS = ("path:", "git+", "file://", "file:", "link:", "portal:", "@")
# Lists of what has a project only by an option.
_BY_OPTION = frozenset({"option", "setting"})
# Characters of a short option with its value glued on: `-C/tmp/x`.
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Project:
    """One line of the data: its list, the orders that count and those that do not, the options that count anywhere."""

    kind: str
    orders: frozenset[str]
    others: frozenset[str]
    options: frozenset[str]

    @classmethod
    def of(cls, kind: str, words: Sequence[str]) -> "Project":
        """Read the words behind the names of a line."""
        orders = [word for order in words if order[0] not in "!-" for word in order.split("|")]
        others = [word for order in words if order[0] == "!" for word in order[1:].split("|")]
        options = [word for order in words if order[0] == "-" for word in order.split("|")]
        return cls(kind, frozenset(orders), frozenset(others), frozenset(options))

    def places(self, words: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
        """Give the words that may name the project, each with its option; None where the tool is told to do something else."""
        anywhere = self.options if self.kind != "option" else frozenset[str]()
        ordered, own, before = not self.orders, True, ""
        named: list[tuple[str, str]] = []
        for word in words:
            if word == "--":
                break
            held, before = before, ""
            if word[:1] == "-":
                option, equals, value = word.partition("=")
                before = (
                    ""
                    if equals or (option in _FLAGS and option not in self.others | self.options)
                    else option
                )
                if own or option in anywhere:
                    glued = word[_SHORT:] if word[_SHORT:].startswith((*_ABSOLUTE, ".")) else ""
                    named.append((option, value) if equals else (word[:_SHORT], glued))
                continue
            if held and (own or held in anywhere):
                named.append((held, word))
            if own and word in self.others:
                return None
            if own and word in self.orders:
                ordered = True
            elif own and (not held or word.endswith(_PROGRAMS)):
                # The first operand; those behind it are the program's.
                named.append(("", word))
                own = False
        wanted = self.options if self.kind in _BY_OPTION else None
        kept = (
            (option, place)
            for option, place in named
            if place
            and option not in self.others
            and (option in wanted if wanted is not None else not _is_harmless(option))
        )
        return tuple(kept) if ordered else None


def _is_harmless(option: str) -> bool:
    return any(part in option for part in _HARMLESS)


def project_effects(
    lines: Sequence[Project], words: Sequence[str], where: str, built: Sequence[str]
) -> Iterator[str]:
    """Give the effects of a tool with these arguments, begun in the directory `where`, empty if that is not known.

    What the same script has just built is its own, and counts as any other program there.
    """
    for line in lines:
        places = line.places(words)
        if places is None:
            continue
        elsewhere = line.kind in _BY_OPTION or any(
            option in _ELSEWHERE and place.startswith(_ABSOLUTE) for option, place in places
        )
        named = [
            _from("" if elsewhere else where, part) for _, place in places for part in _parts(place, line)
        ]
        # Seen from elsewhere, only what is not relative is known.
        runs = filter(_is_absolute, named) if elsewhere else named if line.kind == "file" else (where, *named)
        for place in runs:
            yield from _at(place.lower(), built, strict=line.kind != "script")


def _parts(place: str, line: Project) -> list[str]:
    """Take a list of directories apart, as paths of classes have them."""
    return place.split(":") if line.kind in _BY_OPTION and ":/" in place else [place]


def _at(place: str, built: Sequence[str], *, strict: bool) -> Iterator[str]:
    inside = f"{place.rstrip('/')}/x"
    if is_uploaded(inside):
        yield "runs:project"
    elif is_scratch(inside):
        path = resolve_path(place)
        own = any(path == at or path.startswith(at + "/") for at in built)
        if strict and not own:
            yield "runs:project"
        else:
            yield "runs:temporary" if is_well_hidden(inside) else "runs:scratch"


def _from(where: str, place: str) -> str:
    for mark in _MARKS:
        place = place.removeprefix(mark)
    return place if not where or _is_absolute(place) else where + place


def _is_absolute(place: str) -> bool:
    return place.startswith(_ABSOLUTE)


_ABSOLUTE = ("/", "~", "$", "%", "\\")
