"""Repositories that a script clones, and what it then runs out of them: whoever writes the repository says what that is."""

from collections.abc import Iterator, Sequence

from herma.policy.command.argv import SHELLS, basename
from herma.policy.command.call import Call
from herma.policy.command.code import LANGUAGES
from herma.policy.entry.program import RUNNING
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["CLONING", "Clones"]

# Programs that copy a repository, and the orders by which they do.
CLONING = {
    "git": frozenset({"clone", "submodule", "worktree"}),
    "gh": frozenset({"clone"}),
    "glab": frozenset({"clone"}),
    "hg": frozenset({"clone"}),
    "jj": frozenset({"clone"}),
    "bzr": frozenset({"branch", "checkout"}),
    "fossil": frozenset({"clone", "open"}),
    "svn": frozenset({"checkout", "co", "export"}),
}
# What a virtual environment holds was put there on this host.
_OWN = ("venv/", ".tox/", "node_modules/")


class Clones:
    """Follows one script: the directories that it clones into, and the programs in its code that fetch files."""

    def __init__(self, codes: Sequence[str], vocabulary: Vocabulary) -> None:
        self._codes = codes
        self._vocabulary = vocabulary
        self._names: set[str] = set()

    def effects(self, call: Call, places: Sequence[str]) -> Iterator[str]:
        """Give what a call runs out of a repository that was just cloned, or a file that a program has just fetched.

        `cloned:runs` is a script or program, `cloned:loads` what an interpreter or a tool for projects takes from there.
        """
        name = basename(call.argv[0])
        operands = [word for word in call.argv[1:] if not word.startswith("-")]
        if not CLONING.get(name, frozenset[str]()).isdisjoint(operands) and len(operands) > 1:
            self._names.add(
                operands[-1].rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
            )
        program = (operands[0] if operands else "") if name in RUNNING else call.argv[0]
        if name in CLONING or any(part in program for part in _OWN):
            return
        starts = name in SHELLS or name in {"source", "."} or (name not in RUNNING and "/" in program)
        if starts and "/" in program and self._is_fetched(program):
            yield "cloned:runs"
        if self._is_inside(program, places):
            if starts and program:
                yield "cloned:runs"
            elif name in LANGUAGES or self._vocabulary.projects(name):
                yield "cloned:loads"

    def _is_inside(self, program: str, places: Sequence[str]) -> bool:
        if not self._names.isdisjoint(program.split("/")):
            return True
        return not program.startswith(("/", "~")) and any(
            not self._names.isdisjoint(place.split("/")) for place in places
        )

    def _is_fetched(self, program: str) -> bool:
        return any(
            program in code and "net" in self._vocabulary.code.classes(code.lower()) for code in self._codes
        )
