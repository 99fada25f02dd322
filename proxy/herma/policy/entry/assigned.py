"""Variables that a command line sets for what it starts: `env X=1 node`, `X=1 node`, `export X=1`, `$env:X = '1'`.

To what is started they are the same as those of the entry, and are judged as such.
"""

import re
from collections.abc import Iterable, Iterator

from herma.policy.command.argv import basename
from herma.policy.command.call import Call

__all__ = ["AssignedError", "assigned"]

# Variables that one entry sets in this way; a command line sets a few.
MAX_ASSIGNED = 256

_STARTERS = frozenset({"env", "sudo", "doas", "exec", "busybox", "systemd-run", "toybox"})
_ONE = r"[A-Za-z_]\w{0,60}=(?:\"[^\"]*+\"|'[^']*+'|[^\s;|&'\"]*+)"
_WORD = re.compile(r"(?:--(?:setenv|property)=(?:Environment=)?)?([A-Za-z_]\w{0,60})=(.*)", re.DOTALL)
_FIRST = re.compile(rf"\s*(?:{_ONE}\s+)++")
_EXPORTED = re.compile(rf"\b(?:export|declare -\w{{0,4}}x|typeset -\w{{0,4}}x)((?:\s+{_ONE})++)")
# The shell itself goes by these, exported or not.
_OWN = re.compile(
    r"(?:^|[;&|({\n]|\s-[a-z]{0,4}c\s)\s*+((?:CDPATH|PATH|HOME|FPATH|ENV|IFS|PROMPT_COMMAND|PS4)=(?:\"[^\"]*+\"|'[^']*+'|[^\s;|&'\"]*+))"
)
_PAIR = re.compile(r"([A-Za-z_]\w{0,60})=(?:\"([^\"]*+)\"|'([^']*+)'|([^\s;|&'\"]*+))")
# C shell, fish, PowerShell and the shell of Windows.
_OTHER = re.compile(
    r"\bsetenv\s+([A-Za-z_]\w{0,60})\s+(\S+)|\bset -\w{0,4}x\w{0,2}\s+([A-Za-z_]\w{0,60})\s+(\S+)"
    r"|\$env:([A-Za-z_]\w{0,60})\s?=\s?['\"]?([^'\";]{1,200})|\bset \"?([A-Za-z_]\w{0,60})=([^\"&|]{1,200})"
)


class AssignedError(ValueError):
    """An entry sets more variables than are judged."""


def assigned(calls: Iterable[Call], lines: Iterable[str], texts: Iterable[str]) -> list[dict[str, str]]:
    """Give the variables that calls, lines and texts of an entry set; one that is set again stands in another mapping.

    Raises:
        AssignedError: there are more than are judged.
    """
    found: list[dict[str, str]] = []
    for count, (name, value) in enumerate(dict.fromkeys(_pairs(calls, lines, texts))):
        if count >= MAX_ASSIGNED:
            raise AssignedError
        free = next((held for held in found if name not in held), None)
        if free is None:
            found.append(free := {})
        free[name] = value
    return found


def _pairs(calls: Iterable[Call], lines: Iterable[str], texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for call in calls:
        if basename(call.argv[0]) in _STARTERS:
            yield from _of_starter(call.argv[1:])
    for line in lines:
        if (first := _FIRST.match(line)) is not None:
            yield from _values(first[0])
    for text in texts:
        for match in _EXPORTED.finditer(text) if "=" in text else ():
            yield from _values(match[1])
        for match in _OWN.finditer(text) if "=" in text else ():
            yield from _values(match[1])
        for match in _OTHER.finditer(text) if "set" in text or "$env:" in text else ():
            name, value = (group for group in match.groups() if group is not None)
            yield name, value.strip("'\" ")


def _of_starter(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    option = False
    for word in words:
        match = _WORD.fullmatch(word)
        if match is not None:
            yield match[1], match[2]
        elif not word.startswith("-") and not option:
            return
        # What stands behind an option may be its value.
        option = word.startswith("-")


def _values(text: str) -> Iterator[tuple[str, str]]:
    for name, *forms in _PAIR.findall(text):
        yield name, next((form for form in forms if form), "")
