"""Parameter expansions of the shell: `${x:2:1}`, `${x/a/b}`, `${x,,}`, `${!x}`, `${x:-y}`.

What needs a file, a clock or a pattern language beyond `*` and `?` stays as it was written.
"""

import re
from collections.abc import Callable, Mapping
from fnmatch import translate

__all__ = ["ExpansionError", "element", "expand"]

_EXPANSION = re.compile(r"\$\{?([#!]?)([A-Za-z_]\w*+|[0-9@*])(?:\[([^\]]*+)\])?(.*?)\}?", re.DOTALL)
_SLICE = re.compile(r":\s{0,4}(-?\d{1,6})\s{0,4}(?::\s{0,4}(-?\d{1,6}))?")
# Text that a pattern of an expansion is tried on, at each of its characters; names and paths are short. Longer text with a pattern
# is refused; to cut it at a place or at plain text is not.
MAX_SUBJECT_CHARS = 128
_MAX_PATTERN_CHARS = 64
# What is the same on nearly every host, so that letters can be cut from it.
_USUAL = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "PWD": "/root",
    "LOGNAME": "root",
    "OSTYPE": "linux-gnu",
    "HOSTTYPE": "x86_64",
    "LANG": "en_US.UTF-8",
}


class ExpansionError(ValueError):
    """An expansion takes a pattern to more text than is tried."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Give what an expansion stands for; the expansion itself where that is not known.

    Raises:
        ExpansionError: it cannot be worked out within the bounds.
    """
    if text in {"$IFS", "${IFS}"} or text.startswith("${IFS"):
        return " "
    match = _EXPANSION.fullmatch(text)
    if match is None:
        return text
    sign, name, index, operation = match.groups()
    value = variables.get(name)
    if index is not None:
        value = variables.get(element(name, index, variables), value)
    if sign == "!" and value is not None:
        return variables.get(value, text)
    if value is None and operation and operation[0] in ":/" and operation[1:2] not in {"-", "=", "+", "?"}:
        # Letters are cut from the variables that every host has.
        value = _USUAL.get(name)
    if value is None:
        default = re.fullmatch(r":?[-=](.*)", operation, re.DOTALL)
        if default is not None:
            return default[1].strip("\"'")
        return "" if name in "@*" or name.isdigit() else text
    if "[*]" in text and variables.get("IFS") == "":
        # All elements of an array, with nothing between them.
        return value.replace(" ", "")
    if sign == "#":
        return str(len(value))
    return _operate(value, operation) if operation else value


def element(name: str, index: str, variables: Mapping[str, str]) -> str:
    """Give the name that an element of an array is kept under; what stands for the index may be a variable."""
    plain = index.strip("\"'")
    if plain.startswith("$"):
        plain = variables.get(plain.strip("${}"), plain)
    key = f"{name}[{plain}]"
    return f"{name}[{variables[plain]}]" if key not in variables and plain in variables else key


def _operate(value: str, operation: str) -> str:
    if (cut := _SLICE.fullmatch(operation)) is not None:
        return _slice(value, int(cut[1]), None if cut[2] is None else int(cut[2]))
    for sign, change in _CHANGES:
        if operation.startswith(sign):
            return change(value, operation[len(sign) :].strip("\"'"))
    return value


def _slice(value: str, start: int, length: int | None) -> str:
    rest = value[start:]
    return rest if length is None else rest[:length]


def _replaced(value: str, operation: str, count: int) -> str:
    old, _, new = operation.partition("/")
    if not old:
        return value
    if _WILD.search(old) is None:
        return value.replace(old, new.strip("\"'"), count or -1)
    pattern = _glob(_bounded(value, old))
    return re.sub(pattern, lambda _match: new.strip("\"'"), value, count=count)


_WILD = re.compile(r"[*?\[\\]")


def _bounded(value: str, pattern: str) -> str:
    if len(value) > MAX_SUBJECT_CHARS or len(pattern) > _MAX_PATTERN_CHARS:
        raise ExpansionError
    return pattern


def _glob(pattern: str) -> str:
    # `translate` anchors the end; an expansion looks inside, and runs of stars would only cost time.
    return re.sub(r"\\[zZ]$", "", translate(re.sub(r"\*+", "*", pattern))).replace("(?s:.*", "(?s:.*?", 1)


def _without_start(value: str, pattern: str) -> str:
    if _WILD.search(pattern) is None:
        return value.removeprefix(pattern)
    match = re.match(_glob(_bounded(value, pattern)), value)
    return value if match is None else value[match.end() :]


def _without_end(value: str, pattern: str) -> str:
    if _WILD.search(pattern) is None:
        return value.removesuffix(pattern)
    whole = translate(_bounded(value, pattern))
    ends = [at for at in range(len(value)) if re.match(whole, value[at:]) is not None]
    return value[: ends[-1]] if ends else value


_CHANGES: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    ("//", lambda value, rest: _replaced(value, rest, 0)),
    ("/", lambda value, rest: _replaced(value, rest, 1)),
    ("##", _without_start),
    ("#", _without_start),
    ("%%", _without_end),
    ("%", _without_end),
    (",", lambda value, _rest: value.lower()),
    ("^^", lambda value, _rest: value.upper()),
    ("^", lambda value, _rest: value[:1].upper() + value[1:]),
)
