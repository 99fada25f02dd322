"""What a call of an entry makes run: a file, what is piped into it, what another command prints."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from herma.policy.command.argv import SHELLS, script_of
from herma.policy.command.call import Call
from herma.policy.command.code import LANGUAGES, code_of
from herma.policy.command.path import resolve_path
from herma.policy.entry.network import UNKNOWN
from herma.policy.entry.place import is_hidden_program, is_scratch, is_share, is_uploaded, is_well_hidden

__all__ = ["DIRECTORIES", "RUNNING", "program_effects", "scratch"]

_EXECUTABLE = re.compile(r"^(?:[ugoa]{0,4}\+[rwst]{0,3}x|0?[0-7]?7[0-7]{2}|0?[0-7]?5[0-7]{2})")


def program_effects(call: Call, name: str, built: Sequence[str], where: str) -> Iterator[str]:
    """Give what a call makes run: a file, what is piped into it, what another command prints."""
    program = call.argv[0]
    # The name of a program is looked up; only a path is seen from where one is.
    yield from scratch(_seen_from(where if "/" in program else "", program), built, language=False)
    operands = [word for word in call.argv[1:] if not word.startswith("-")]
    if name == "chmod" and len(operands) > 1 and _EXECUTABLE.match(operands[0].lower()):
        yield "makes:executable"
    if name not in RUNNING:
        return
    if call.piped and (
        (not operands and call.fed is None) or (name in _EVALUATING and any(map(UNKNOWN.search, operands)))
    ):
        yield "runs:input"
    if any(word.startswith(("<(", "$(", "`")) for word in (*operands, *call.reads)):
        yield "runs:output"
    told = _told(call.argv)
    for word in (*operands[: _OPERANDS.get(name, 1)], *call.reads):
        if word in told:
            continue
        # What `exec` and `xargs` start is looked up, too.
        file = name not in {"exec", "xargs"} or "/" in word
        seen = _seen_from(where if file else "", word)
        if name in LANGUAGES and seen.rstrip("/") in DIRECTORIES:
            # An interpreter runs what a directory calls its main program.
            seen = seen.rstrip("/") + "/__main__"
        yield from scratch(seen, built, language=name in LANGUAGES)


def _told(argv: Sequence[str]) -> frozenset[str]:
    """Give the words of a vector that are programs themselves, and no files: `sh -c`, `node -e`."""
    script = script_of(argv)
    codes = frozenset(code_of(argv))
    given = (word for before, word in pairwise(argv) if word in codes and _CODE_OPTION.fullmatch(before))
    return frozenset(given) if script is None else frozenset({script[0], *given})


_CODE_OPTION = re.compile(r"-[a-zA-Z]{0,4}[ceEpr]|--(?:eval|print|execute)")
DIRECTORIES = frozenset({"/tmp", "/var/tmp", "/dev/shm"})  # noqa: S108 - names to compare


def _seen_from(where: str, word: str) -> str:
    return word.lower() if not where or word.startswith(_ABSOLUTE) else (where + word).lower()


_ABSOLUTE = ("/", "~", "$", "%", "\\")
_EVALUATING = frozenset({"eval", "iex", "invoke-expression"})
# Operands that may be the script: those of options come before it here.
_OPERANDS = {"powershell": 6, "pwsh": 6}
RUNNING = SHELLS | LANGUAGES | _EVALUATING | {"source", ".", "exec", "xargs"}


def scratch(word: str, built: Sequence[str], *, language: bool) -> Iterator[str]:
    """Tell of a program in a place where everybody may write, graver where it is hidden or a shell runs it.

    What the same script has just built there is its own.
    """
    if is_hidden_program(word) or is_share(word) or is_uploaded(word):
        yield "runs:temporary"
    elif is_scratch(word):
        path = resolve_path(word)
        own = any(path == place or path.startswith(place + "/") for place in built)
        yield "runs:scratch" if (language or own) and not is_well_hidden(word) else "runs:temporary"
