"""What the programs of an entry do: which files they write and read, whom they talk to, what they run.

An effect is a short word, `writes:shell_start` or `sends`; rules name the combinations that are harmful (`when`). Effects are
collected over a whole entry: who reads a key file in one line and posts something in the next does both.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from herma.policy.command.argv import basename
from herma.policy.command.call import Call
from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading
from herma.policy.entry.cloned import Clones
from herma.policy.entry.directory import MAX_PLACES, directories, own_place, seen_from
from herma.policy.entry.files import file_effects
from herma.policy.entry.language import code_effects
from herma.policy.entry.loading import behind, loading
from herma.policy.entry.network import network_effects
from herma.policy.entry.place import is_scratch, is_whole
from herma.policy.entry.program import program_effects
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
    clones = Clones(reading.codes, vocabulary)
    here = directories(reading.calls, where)
    if len(here) > MAX_PLACES:
        # Nobody walks that far to start a server; where it ends is not known.
        found.add("runs:temporary")
    for call in reading.calls:
        name = basename(call.argv[0])
        places = ("",) if call.inside else (call.after,) if call.after else here
        for place in places:
            found.update(_of_call(call, seen_from(place, own_place(call.argv)), vocabulary, built))
            for own, words in (name, call.argv[1:]), *behind(call.argv):
                found.update(project_effects(vocabulary.projects(own), words, place, built))
        found.update(clones.effects(call, places))
        if "builder" in vocabulary.kinds(name) or "venv" in call.argv:
            built += [resolve_path(word.lower()) for word in call.argv[1:] if is_scratch(word.lower())]
    for code in reading.codes:
        found.update(code_effects(code, vocabulary))
    return frozenset(found)


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
    if "archiver" in kinds and any(
        is_whole(word) for before, word in pairwise(call.argv) if before not in _FROM
    ):
        yield "packs:home"
    if "cloud" in kinds and name not in {"mail", "mailx"}:
        operands = [word for word in call.argv[1:] if not word.startswith("-")]
        # The last one is where it goes.
        if any(map(is_whole, operands[:-1])):
            yield "sends:home"
    yield from network_effects(call, kinds)


# What stands behind these is where the packed or unpacked files lie, seen from there.
_FROM = frozenset({"-C", "--directory", "-d"})
_DUMPS = frozenset({"env", "printenv", "set", "export", "declare", "typeset", "compgen"})
