r"""Patterns of indicators: how they are kept in bounds, and which literal every match of one must hold.

People publish `base64 -d.*\| *sh`. A repeat without an end is read as one of at most `MAX_REPEAT` characters, which is as far
as a command goes and keeps every text fast.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from herma.policy.pattern import MAX_PATTERN_CHARS, examine_pattern

__all__ = ["bounded_pattern", "required_literal"]

# The longest published dropper has 400 characters between its first word and its last.
MAX_REPEAT = 512

_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*+\]")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{[0-9]{0,5}(?:,[0-9]{0,5})?\})[?+]?")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]{1,16}\)")
_OPEN = re.compile(r"\((?:\?(?:[a-zA-Z-]{0,16}:|[=!>]|<[=!]|P<\w{1,64}>))?")


class _Kind(StrEnum):
    LITERAL = "literal"
    OPEN = "open"
    CLOSE = "close"
    CHOICE = "choice"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str
    quantifier: str = ""


def bounded_pattern(pattern: str) -> str:
    """Give the pattern with an end to each of its repeats.

    Raises:
        ValueError: it is outside the subset that rules may use.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"a pattern has at most {MAX_PATTERN_CHARS} characters")
    made = "".join(token.text + _bounded(token.quantifier) for token in _tokens(pattern))
    examine_pattern(made)
    return made


def _bounded(quantifier: str) -> str:
    body, lazy = (
        (quantifier[:-1], quantifier[-1])
        if len(quantifier) > 1 and quantifier[-1] in "?+"
        else (quantifier, "")
    )
    if body in {"*", "+"}:
        return f"{{{int(body == '+')},{MAX_REPEAT}}}{lazy}"
    if body.endswith(",}"):
        low = int(body[1:-2] or "0")
        return f"{{{low},{max(low, MAX_REPEAT)}}}{lazy}"
    return quantifier


def required_literal(pattern: str) -> str:
    """Give the longest run of plain characters that no match can lack, lower-case; empty where there is none.

    Careful rather than clever: what stands in a group, a class, an alternative or before a quantifier does not count.
    """
    longest, run, depth = "", "", 0
    for token in _tokens(pattern):
        if token.kind is _Kind.CHOICE and not depth:
            return ""
        if token.kind is _Kind.OTHER and _FLAGS.fullmatch(token.text) and "x" in token.text:
            # Blanks mean nothing in a verbose pattern.
            return ""
        depth += (token.kind is _Kind.OPEN) - (token.kind is _Kind.CLOSE)
        if token.kind is _Kind.LITERAL and not token.quantifier and not depth:
            run += token.text[-1]
        else:
            run = ""
        longest = max(longest, run, key=len)
    return longest.lower()


def _tokens(pattern: str) -> Iterator[_Token]:
    at = 0
    while at < len(pattern):
        kind, text = _token(pattern, at)
        at += len(text)
        quantifier = (
            _QUANTIFIER.match(pattern, at) if kind in {_Kind.LITERAL, _Kind.OTHER, _Kind.CLOSE} else None
        )
        at = quantifier.end() if quantifier else at
        yield _Token(kind, text, quantifier[0] if quantifier else "")


def _token(pattern: str, at: int) -> tuple[_Kind, str]:
    character = pattern[at]
    if character == "\\":
        text = pattern[at : at + 2]
        # An escaped letter or digit is a class, a boundary or a code: nothing that stands in the text as it is.
        return (_Kind.LITERAL if len(text) == 2 and not text[1].isalnum() else _Kind.OTHER), text
    if bracket := _CLASS.match(pattern, at):
        return _Kind.OTHER, bracket[0]
    if flags := _FLAGS.match(pattern, at):
        return _Kind.OTHER, flags[0]
    if opened := _OPEN.match(pattern, at):
        return _Kind.OPEN, opened[0]
    match character:
        case ")":
            return _Kind.CLOSE, character
        case "|":
            return _Kind.CHOICE, character
        case "." | "^" | "$" | "[" | "*" | "+" | "?" | "{":
            return _Kind.OTHER, character
        case _:
            return _Kind.LITERAL, character
