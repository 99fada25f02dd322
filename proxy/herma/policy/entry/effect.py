"""What the programs of an entry do: which files they write and read, whom they talk to, what they run.

An effect is a short word, `writes:shell_start` or `sends`; rules name the combinations that are harmful (`when`). Effects are
collected over a whole entry: who reads a key file in one line and posts something in the next does both.
"""

from collections.abc import Iterator, Sequence

from herma.policy.command.argv import SHELLS, basename
from herma.policy.command.call import Call
from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading
from herma.policy.entry.directory import MAX_PLACES, directories, own_place, seen_from
from herma.policy.entry.files import file_effects
from herma.policy.entry.language import code_effects
from herma.policy.entry.loading import behind, loading
from herma.policy.entry.network import network_effects
from herma.policy.entry.place import is_scratch, is_whole
from herma.policy.entry.program import RUNNING, program_effects
from herma.policy.entry.project import project_effects
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["effects"]


def effects(reading: Reading, vocabulary: Vocabulary, where: str = "") -> frozenset[str]:
    """Give the effects of everything that was read, and that begins in the directory `where`.

    Every directory that a command changes to counts for all of them but those that surely run elsewhere: a change may fail, or end
    with the parentheses around it.
    """
    found: set[str] = set()
    built: list[str] = []
    cloned: list[str] = []
    here = directories(reading.calls, where)
    if len(here) > MAX_PLACES:
        # Nobody walks that far to start a server; where it ends is not known.
        found.add("runs:temporary")
    for call in reading.calls:
        name = basename(call.argv[0])
        for place in ("",) if call.inside else (call.after,) if call.after else here:
            found.update(_of_call(call, seen_from(place, own_place(call.argv)), vocabulary, built))
            for own, words in (name, call.argv[1:]), *behind(call.argv):
                found.update(project_effects(vocabulary.projects(own), words, place, built))
        found.update(_fetched(call, name, cloned, reading.codes, vocabulary))
        if "builder" in vocabulary.kinds(name) or "venv" in call.argv:
            built += [resolve_path(word.lower()) for word in call.argv[1:] if is_scratch(word.lower())]
    for code in reading.codes:
        found.update(code_effects(code, vocabulary))
    return frozenset(found)


def _fetched(
    call: Call, name: str, cloned: list[str], codes: Sequence[str], vocabulary: Vocabulary
) -> Iterator[str]:
    """Tell of a shell that runs a file of a repository that was just cloned, or one that a program fetched."""
    operands = [word for word in call.argv[1:] if not word.startswith("-")]
    if name == "git" and operands[:1] == ["clone"] and len(operands) > 1:
        cloned.append(operands[-1].rstrip("/").rpartition("/")[2].removesuffix(".git"))
    if name not in SHELLS and name not in {"source", "."} and "/" not in call.argv[0]:
        return
    program = (operands[0] if operands else "") if name in RUNNING else call.argv[0]
    if program and any(place in program.split("/") for place in cloned):
        yield "cloned:runs"
    if "/" in program and any(
        program in code and "net" in vocabulary.code.classes(code.lower()) for code in codes
    ):
        yield "cloned:runs"


def _of_call(call: Call, where: str, vocabulary: Vocabulary, built: Sequence[str]) -> Iterator[str]:
    name = basename(call.argv[0])
    kinds = vocabulary.kinds(name)
    for kind in kinds:
        yield f"runs:{kind}"
        if call.shell:
            yield f"shell:{kind}"
    yield from file_effects(call, name, kinds, where, vocabulary)
    yield from program_effects(call, name, built, where)
    yield from loading(call, name, kinds, vocabulary)
    if name in _DUMPS and not [word for word in call.argv[1:] if word not in {"-0", "-p"}]:
        yield "dumps:environment"
    if name == "mkfifo" or (name == "mknod" and call.argv[-1] == "p"):
        yield "makes:pipe"
    if "remover" in kinds and any(map(is_whole, call.argv[1:])):
        yield "wipes"
    if "cloud" in kinds and name not in {"mail", "mailx"}:
        operands = [word for word in call.argv[1:] if not word.startswith("-")]
        # The last one is where it goes.
        if any(map(is_whole, operands[:-1])):
            yield "sends:home"
    yield from network_effects(call, kinds)


_DUMPS = frozenset({"env", "printenv", "set", "export", "declare", "typeset", "compgen"})
