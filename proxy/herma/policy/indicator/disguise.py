"""Spellings that people use so that nobody follows an address by accident, and that programs undo: `hxxp://a[.]example`.

A text that hands such a spelling to a program is meant to be undone; so are octets with zeros in front, which some resolvers
read as decimal, and a line that goes on behind a backslash.
"""

import re

from herma.policy.text.views import rewritten

__all__ = ["HIDING_BYTES", "undisguised"]

_DOT = re.compile(r"[\[({<] ?(?:\.|dot) ?[\])}>]", re.IGNORECASE)
_COLON = re.compile(r"[\[({<](:(?://)?)[\])}>]")
# Classes of both cases, and a class in front: the search skips to its signs.
_SCHEME = re.compile(r"[hH][xX*]{2}[pP](?=[sS]?:)")
_AT = re.compile(r"[\[({] ?(?:@|at) ?[\])}]", re.IGNORECASE)
# What shells and languages take away between the parts of a word, and a blank of its own: `gift""shop`, `"gift"+"shop"`.
_JOINT = re.compile(
    r"[\"'\\](?<=[\w.-].)(?:(?<=\")(?:\s?\+\s?)?\"|(?<=')(?:\s?\+\s?)?'|(?<=\\)(?=[a-zA-Z.]))(?=[\w.-])"
)
# Download tools and browsers take one slash, many, or those of the other direction.
_SLASHES = re.compile(r"(?i)(?<![a-z])(https?|ftp|wss?):[/\\]{1,8}(?=[^/\\\s])")
# `*.a.example`, `$(id).a.example`, `.a.example`: whatever stands before it, it is a name below that one.
_BELOW = re.compile(r"(?<![\w.-])\.(?=[^\W\d_][\w-]{0,62}\.)")
# Names below names below names: the last three labels are enough, and more than ten are read by nobody.
_DEEP = re.compile(r"(?<![\w./-])(?:[\w-]{1,63}\.){6,120}(?=(?:[\w-]{1,63}\.){3})")
_DOTS = dict.fromkeys("\u3002\uff0e\uff61", ".")
_LINE = re.compile(r"\\\r?\n")
# An octet with zeros in front, in a quad; read as decimal (as octal it is an odd spelling of its own).
_PADDED = re.compile(r"(?<![\w.])(?:[0-9]{1,4}\.){3}[0-9]{1,4}(?![\w])")
_ZEROS = re.compile(r"(?<![0-9])0{1,3}(?=[0-9])")
# An address that is handed over in pieces beside each other.
_CUT = re.compile(r"(?<=[0-9]) {1,2}(?=\.[0-9])|(?<=[0-9]\.) {1,2}(?=[0-9])")

_JOINTS = ('""', "''", "+", "\\")

# Signs of zeros, each found by its first character.
_ZERO_BEFORE = re.compile(r"0[0-9]{1,3}\.[0-9]")
_ZERO_BEHIND = re.compile(r"\.0[0-9]")
# More is no list of arguments.
MAX_CUT_CHARS = 64 * 1024

# What shows in raw bytes that a text may hold one of these; one pattern for each first byte, which is found ten times faster
# than a choice.
HIDING_BYTES = (
    re.compile(rb"\[ ?(?:[.:@]|[dD][oO][tT]|[aA][tT] ?\])"),
    re.compile(rb"\( ?(?:[.:@] ?\)|[dD][oO][tT])"),
    re.compile(rb"\{ ?(?:[.:@] ?\}|[dD][oO][tT])"),
    re.compile(rb"p(?<=[xX*]{2}p)[sS]?\[?:"),
    re.compile(rb"P(?<=[xX*]{2}P)[sS]?\[?:"),
    re.compile(rb"\\\"(?:\\\"|\s?\+\s?\\\")"),
    re.compile(rb"'(?:'|\s?\+\s?')"),
    re.compile(rb"\.(?:0[0-9]{1,3}\.[0-9]|[0-9]{1,3}\.0[0-9])"),
)


def undisguised(text: str) -> str:
    """Write a text as it is meant to be used; most texts come back as they are."""
    if "\\\n" in text or "\\\r" in text:
        text = _LINE.sub("", text)
    if any(bracket in text for bracket in "[({<"):
        text = _AT.sub("@", _COLON.sub(r"\1", _DOT.sub(".", text)))
    text = _SCHEME.sub("http", text)
    if any(joint in text for joint in _JOINTS):
        text = _JOINT.sub("", text)
    if not text.isascii():
        text = rewritten(text, _DOTS)
    if len(text) <= MAX_CUT_CHARS:
        # The name itself shows in these, so that a longer text is read in pieces around it.
        text = _DEEP.sub("", _BELOW.sub(" ", _SLASHES.sub(r"\1://", text)))
        text = _CUT.sub("", text)
    if _ZERO_BEFORE.search(text) is None and _ZERO_BEHIND.search(text) is None:
        return text
    return _PADDED.sub(lambda match: _ZEROS.sub("", match[0]), text)
