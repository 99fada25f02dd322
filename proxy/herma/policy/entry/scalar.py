"""Scalars of YAML 1.1 as the agent's parser reads them: quotes, folds, blocks, and what a plain word means."""

import re

__all__ = ["block", "double_quoted", "folded", "plain", "single_quoted"]

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\n[ \t\n]*)|(.))", re.DOTALL
)
_SIMPLE = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", " ": " ",
    '"': '"', "\\": "\\", "/": "/", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_BREAKS = re.compile(r"[ \t]*+\n[ \t\n]*+")
_BLOCK_HEAD = re.compile(r"[|>](?:([1-9])[+-]?|[+-]([1-9])?)?(?: +#[^\n]*+| *)(?:\n|\Z)")
_TRUE = frozenset({"yes", "true", "on"})
_FALSE = frozenset({"no", "false", "off"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_NUMBER = re.compile(r"([-+]?)(?:0b([01_]{1,64})|0x([0-9a-fA-F_]{1,32})|0([0-7_]{0,32})|([1-9][0-9_]{0,32}))")


def plain(text: str) -> str | bool | int | None:
    """Give what an unquoted scalar means: a truth value, nothing, a whole number, or the text itself."""
    if text in _NULL:
        return None
    if len(text) < 6 and text in {text.lower(), text.upper(), text.capitalize()}:
        if text.lower() in _TRUE:
            return True
        if text.lower() in _FALSE:
            return False
    match = _NUMBER.fullmatch(text) if text[0] in "+-0123456789" else None
    if match is None:
        return text
    for base, digits in ((2, match[2]), (16, match[3]), (8, match[4]), (10, match[5])):
        if digits is not None:
            number = digits.replace("_", "") or "0"
            return int(f"{match[1]}{number}", base)
    raise AssertionError  # pragma: no cover - one of the groups is there


def double_quoted(text: str) -> str | None:
    """Read what stands between double quotes; None if an escape has no meaning."""
    parts: list[str] = []
    at = 0
    for match in _ESCAPE.finditer(text):
        parts.append(folded(text[at : match.start()]))
        at = match.end()
        code = match[1] or match[2] or match[3]
        if code is not None:
            number = int(code, 16)
            if number > 0x10FFFF:
                return None
            parts.append(chr(number))
        elif match[4] is not None:
            # A break that is escaped joins; empty lines after it stay.
            parts.append("\n" * match[4].count("\n", 1))
        else:
            meant = _SIMPLE.get(match[5])
            if meant is None:
                return None
            parts.append(meant)
    parts.append(folded(text[at:]))
    return "".join(parts)


def single_quoted(text: str) -> str:
    """Read what stands between single quotes."""
    return folded(text.replace("''", "'"))


def folded(text: str) -> str:
    """Fold the lines of a scalar: one break is a blank, more are one break less."""
    return _BREAKS.sub(_fold, text) if "\n" in text else text


def _fold(match: re.Match[str]) -> str:
    return "\n" * (match[0].count("\n") - 1) or " "


def block(text: str, start: int, parent: int) -> tuple[str, int] | None:
    """Read a block scalar below a key in column `parent`: its lines, and where it ends; None if its head is none."""
    head = _BLOCK_HEAD.match(text, start)
    if head is None:
        return None
    at = head.end()
    told = head[1] or head[2]
    least = max(parent + 1, 1)
    lines: list[str] = []
    indent = least + int(told) - 1 if told else 0
    blank = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        bare = line.lstrip(" ")
        if not indent and not bare:
            blank = max(blank, len(line))
        elif not indent:
            indent = max(least, blank, len(line) - len(bare))
        if bare and len(line) - len(bare) < indent:
            break
        lines.append(line[indent:] if indent else "")
        at = min(end + 1, len(text))
    joined = "\n".join(lines).rstrip("\n")
    value = re.sub(r"(?<=[^\s])\n(?=[^\s])", " ", joined) if head[0][0] == ">" else joined
    # The break before what follows belongs to that.
    return value, at - 1 if at < len(text) else at
