"""Spellings that programs undo in a step: lists of characters' numbers, short escapes, braces, rot13, words turned round, odd numbers.

Each gives a form of the whole text, in which what was spelled out stands as it is meant; whoever asks looks for words in it.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from herma.policy.address import parse_address
from herma.policy.command.path import BracesError, braces

__all__ = ["SPELLING_BYTES", "respelled", "spelled_out"]

# `chr(104)`, `[char]104`, `(byte)0x68` are what they hold.
_WRAPPED = re.compile(
    r"[cC][hH][rR][wWbB$]{0,2}\s?\(\s?(0[xX]|&[hH])?([0-9][0-9a-fA-F]{1,2})\s?\)|\[(?:[cC]har|CHAR|[bB]yte|[iI]nt)\]\s?|\((?:byte|char)\)\s?"
)
_WRAPPERS = ("chr(", "chrw(", "chrb(", "chr$(", "chr (", "[char]", "[byte]", "[int]", "(byte)", "(char)")
# The number of a character that is shown begins with a digit in any base. These patterns begin with one, too, and look behind
# it afterwards: that is found much faster.
_BEGINS = r"[0-9](?<![\w.][0-9])"
_LIST = re.compile(_BEGINS + r"[0-9a-fA-FxX]{1,4}(?:[\s,;+&.|'\"]{1,4}[0-9][0-9a-fA-FxX]{1,4}){5,}+(?![\w])")
_NUMBER = re.compile(r"(0[xX])?([0-9][0-9a-fA-F]{1,3})")
# Four numbers that are an address if something joins them.
_FOUR = re.compile(
    rf"({_BEGINS}(?<![0-9][\s,;|/_][0-9])(?<![0-9][,;|] [0-9])[0-9]{{0,2}})([\s,;|/_]{{1,2}})([0-9]{{1,3}})\2([0-9]{{1,3}})\2([0-9]{{1,3}})"
    r"(?![\w.]|\2[0-9])"
)
# What is left of octal escapes where three digits are undone.
_OCTAL = re.compile(r"\\{1,4}0?([0-7]{2,3})")
_ROTATED = ("rot13", "rot-13", "rot 13", "rot_13", "n-za-m", "uggc", "phey ", "jtrg ")
_TURNED = ("| rev", "|rev", "[::-1]", "revers", "backwards")
# An address with a part in hex or octal; others are known as they stand.
_DOTTED = re.compile(
    _BEGINS + r"[0-9a-fA-FxX]{1,17}(?:\.(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,16})){0,3}(?![\w.])|"
    + _BEGINS + r"(?:\.(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,16})){1,3}(?![\w.])"
)  # fmt: skip
_ODD = re.compile(r"(?:^|\.)0[xX0-7]")
# A bare number is an address where a command takes one.
_LONG = re.compile(r"[0-9](?<![\w.][0-9])[0-9]{7,9}(?![\w.])")
_COMMAND = re.compile(
    r"(?i)\b(?:curl|wget|ping6?|ncat|netcat|nc|ssh|scp|telnet|socat|nmap|traceroute|tracepath|mtr|fetch|tftp|ftp|aria2c|lynx|dig|host|nslookup)"
    r"\s+(?:-\S{1,40}\s+){0,8}(?:[\w.-]{1,32}@)?$"
)
# How far before a number its command is looked for.
MAX_BEFORE_CHARS = 160
# Turning a text round is for a name and its line, not for a book.
MAX_TURNED_CHARS = 64 * 1024
# Words with braces of one text that are expanded; a text of more is source code.
MAX_BRACED = 128
MAX_BRACED_CHARS = 512

# What shows in raw bytes that a text may hold one of these; one pattern for each first byte.
SPELLING_BYTES = (
    re.compile(rb",(?<=[0-9],) ?(?:0x)?[0-9a-fA-F]{1,3}, ?(?:0x)?[0-9a-fA-F]{1,3}(?![0-9.])"),
    re.compile(rb" (?<=[0-9a-fA-F]{2} )(?:(?:0x)?[0-9a-fA-F]{2,4} ){4}"),
    re.compile(rb"\|(?<=[0-9]\|)[0-9]{1,3}\|[0-9]{1,3}\|"),
    re.compile(rb"\((?<=[hH][rR]\()"),
    re.compile(rb"\((?<=[hH][rR][wWbB$]\()"),
    re.compile(rb"\[(?:char|byte)\]"),
    re.compile(rb"\(byte\)"),
    re.compile(rb"13(?<=[rR][oO][tT]13)"),
    re.compile(rb"-13(?<=[rR][oO][tT]-13)"),
    re.compile(rb"n-za-m"),
    re.compile(rb"N-ZA-M"),
    re.compile(rb"uggc"),
    re.compile(rb"rev(?:\b|ers)"),
    re.compile(rb"\[::-1\]"),
    re.compile(rb"\{[\w.-]{0,60},[\w.,-]{0,60}\}"),
    re.compile(rb"0[xX][0-9a-fA-F]{1,16}\."),
    re.compile(rb"0x00"),
    re.compile(rb"00(?=0{0,12}[0-7]{2,3}\.0)"),
    re.compile(rb"\.0[0-7]{2,12}\.[0-9]"),
    *(
        re.compile(rb"%b (?:-[^\s\"]{1,40} ){0,8}(?:[\w.-]{1,32}@)?[0-9]{8,10}\b" % name)
        for name in (b"curl", b"wget", b"ping", b"ping6", b"nc", b"ncat", b"ssh", b"telnet")
    ),
)


def respelled(text: str) -> Iterator[str]:
    """Give a text with its braces expanded and its odd numbers as addresses: spellings that are no code."""
    if "{" in text and "," in text:
        yield from _expanded(text)
    numbered = _DOTTED.sub(_address, text)
    numbered = _LONG.sub(_called, numbered)
    numbered = _FOUR.sub(r"\1.\3.\4.\5", numbered)
    if numbered != text:
        yield numbered


def spelled_out(text: str) -> Iterator[str]:
    """Give what a text says once it is decoded: a list of numbers, short escapes, another alphabet, the other direction."""
    lowered = text.lower()
    # What is escaped once more leaves the marks of that behind.
    plain = _OCTAL.sub(lambda match: chr(int(match[1], 8)), text).replace("\\", "") if "\\" in text else text
    if any(sign in lowered for sign in _WRAPPERS):
        plain = _WRAPPED.sub(_unwrapped, plain)
    plain = _LIST.sub(_characters, plain)
    if plain != text:
        yield plain
    if any(sign in lowered for sign in _ROTATED):
        yield codecs.encode(text, "rot13")
    if len(text) <= MAX_TURNED_CHARS and any(sign in lowered for sign in _TURNED):
        yield text[::-1]


def _expanded(text: str) -> Iterator[str]:
    words = (word.strip("'\"") for word in text.split() if "{" in word and "," in word and "}" in word)
    found: list[str] = []
    for word in islice(words, MAX_BRACED):
        try:
            found += braces(word[:MAX_BRACED_CHARS])
        except BracesError:
            continue
    if found:
        yield " ".join(found)


def _unwrapped(match: re.Match[str]) -> str:
    return f"{'0x' if match[1] else ''}{match[2]}" if match[2] else ""


def _characters(match: re.Match[str]) -> str:
    """Read a list as characters, of the base that all its numbers allow; what is no text stays."""
    items = _NUMBER.findall(match[0])
    for base in (10, 8, 16):
        try:
            values = [int(digits, 16 if prefix else base) for prefix, digits in items]
        except ValueError:
            continue
        if all(value in _SHOWN for value in values):
            return "".join(map(chr, values))
    return match[0]


_SHOWN = frozenset((9, 10, 13, *range(32, 127)))


def _address(match: re.Match[str]) -> str:
    """Write an address with an odd part in the usual way; a short number stays."""
    text = match[0]
    if _ODD.search(text) is None or ("." not in text and len(text) < _SHORTEST_NUMBER):
        return text
    return _dotted(text)


# Shorter ones without a point are addresses of 0.0.0.0/8.
_SHORTEST_NUMBER = 8


def _called(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - MAX_BEFORE_CHARS) : match.start()]
    return _dotted(match[0]) if _COMMAND.search(before) is not None else match[0]


# What a text repeats is read once.
@lru_cache(maxsize=1024)
def _dotted(text: str) -> str:
    address = parse_address(text)
    return text if address is None else str(address)
