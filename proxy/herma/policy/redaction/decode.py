r"""What secrets are wrapped in: escapes, percent signs, entities, quotes, colour codes, lines, variables, look-alikes.

Each decoder makes a view of a text without one wrapping, or none when nothing is wrapped so. The one group of a decoder's pattern
is what it rewrites.
"""

import re
from collections.abc import Callable
from typing import Final

from herma.policy.redaction.cut import (
    may_be_broken,
    may_be_cut,
    may_be_spaced,
    parted,
    unbroken,
    uncut,
    unspaced,
    zeros_dropped,
)
from herma.policy.redaction.glued import JOINTS, glued
from herma.policy.redaction.hidden import CONTROLS, may_hide, overprinted, smuggled, visible
from herma.policy.redaction.run import plain
from herma.policy.redaction.variable import joined_variables, may_join_variables
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work

__all__ = ["DECODERS", "EVENT_GAP", "wrapped"]

# What joints are made of, in kinds of characters: a quote beside a quote, between two word characters, before a plus.
_KINDS: Final = bytes(
    0x71  # q: a quote
    if byte in b"\"'"
    else 0x70  # p: a plus
    if byte == 0x2B
    else 0x73  # s: a blank
    if byte == 0x20
    else 0x62  # b: a backslash
    if byte == 0x5C
    else 0x64  # d: a dollar
    if byte == 0x24
    else 0x79  # y: what a part may begin with besides
    if byte in b"!@#%^*~?"
    else 0x78  # x: a character of a word
    if byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=-"
    else 0x20
    for byte in range(256)
)
# A text in quotes that goes on in quotes on the next line, as Python and C join them.
_NEXT_LINE: Final = re.compile(r"[\"']\n[ \t]{1,32}[\"']")
# Arguments of a script that has none: a shell drops them.
_NOTHING: Final = ("$@", "$*", "${@", "${*")
_JOINS: Final = (b"xqx", b"qqx", b"qqy", b"qqd", b"qdq", b"xdqx", b"qp", b"qsp")
# A quote in quotes of the other kind.
_QUOTED_QUOTES: Final = ("\"'\"'", "'\"'\"")
_ESCAPE: Final = re.compile(
    r"(\\(?:(?:u|U0000|u\{0{0,4})[0-9a-fA-F]{4}\}?|u\{[0-9a-fA-F]{2,3}\}|x[0-9a-fA-F]{2}|[01][0-7]{2}|[\"'\\/bfnrt]))",
    re.ASCII,
)
_CONTROL: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# All but an escape, which begins a sequence, and a step back, which takes a letter.
_NOT_SHOWN: Final = frozenset(CONTROLS) - {0x1B, 0x08}
_PERCENT: Final = re.compile(r"(%[0-7][0-9A-Fa-f])", re.ASCII)
_ENTITY: Final = re.compile(r"(&(?:quot|amp|lt|gt|apos|#0{0,5}\d{2,3}|#[xX]0{0,6}[0-9a-fA-F]{2});)", re.ASCII)
# RFC 2045 section 6.7: where the sign `=` itself is encoded, or several characters in a row, a mail or form was.
_QUOTED_PRINTABLE: Final = re.compile(r"(=(?:[2-7][0-9A-F]|\r?\n))", re.ASCII)
_PRINTABLE_RUN: Final = re.compile(r"=[2-7][0-9A-F]=[2-7][0-9A-F]=[2-7][0-9A-F]", re.ASCII)
# Between two deltas of one text in a recorded event stream.
EVENT_GAP: Final = re.compile(
    r"(\"[}\]][^\n\"]{0,16}(?:,\"[^\n]{0,200})?\r?\n\r?\n(?:event:[^\n]{0,80}\r?\n)?data:[ ]?\{[^\n]{0,300}?"
    r"\"(?:content|text|delta|arguments|partial_json|reasoning_content)\":[ ]?\"(?!\{))"
)
_ENTITIES: Final = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">", "&apos;": "'"}
# A quoted-printable line is cut at 76 characters, perhaps amid a token; a sign that pads base64 looks the same, but for what follows.
_SOFT_BREAK: Final = re.compile(
    r"=(?<=[^\n]{72}[^\n=]=)\r?\n(?=[A-Za-z0-9_-]{1,76}(?:[\s\"'.,;)]|$))", re.ASCII
)
# Base64 in lines, as `base64` and mails write it: 64 or 76 characters.
_LINE_OF_BASE64: Final = re.compile(
    r"(\n(?<=[A-Za-z0-9+/]{60}\n)[ \t]{0,16}(?=(?:[A-Za-z0-9+/]{16,76}={0,2}|[A-Za-z0-9+/]{2,16}={1,2})[\"']?(?:[\r\n]|$)))",
    re.ASCII,
)
# What a shell turns round. A credential without its prefix is one of few shapes; turned back, it has its prefix.
_REVERSED: Final = re.compile(
    r"([A-Za-z0-9_.+/=-]{12,512}+(?=[\"']?[ ]{0,2}\|[ ]{0,2}rev\b)|(?<=rev[ ]<<<[ ])[A-Za-z0-9_.+/=-]{12,512}+"
    r"|(?<=rev[ ]<<<[ ][\"'])[A-Za-z0-9_.+/=-]{12,512}+)",
    re.ASCII,
)
_TURNING: Final = ("| rev", "|rev", "|  rev", "rev <<<")
# Letters of other alphabets that look like those of a vendor's prefix, beside ASCII letters.
_ALIKE: Final = {
    **dict(
        zip(
            "\u0430\u0441\u0501\u0435\u0456\u0458\u043e\u0440\u0455\u0445\u0443\u051b\u051d\u04bb\u043a",
            "acdeijopsxyqwhk",
            strict=True,
        )
    ),
    **dict(
        zip(
            "\u0410\u0412\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0421\u0422\u0425\u0405\u0423",
            "ABEHIJKMOPCTXSY",
            strict=True,
        )
    ),
    **dict(
        zip(
            "\u03bf\u03b1\u03c1\u03bd\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
            "oapvABEHIKMNOPTX",
            strict=True,
        )
    ),
}
# Digits of other scripts.
_ALIKE.update(
    (chr(first + digit), str(digit))
    for first in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xED0, 0x1040, 0x17E0)
    for digit in range(10)
)
_FOREIGN: Final = re.compile(
    f"([{''.join(_ALIKE)}](?:(?<=[A-Za-z0-9_-].)|[{''.join(_ALIKE)}]{{0,8}}+(?=[A-Za-z0-9_-])))", re.ASCII
)
# Between two arguments of a list.
_LISTED: Final = re.compile(r"(\",[ ]?\")")


def _shell(view: View, work: Work | None = None) -> View | None:
    if not _shell_may_join(view.text):
        return None
    return view.rewrite(JOINTS, glued, work)


def _shell_may_join(text: str) -> bool:
    if "$" in text and ("IFS" in text or any(sign in text for sign in _NOTHING)):
        return True
    if "\\" in text and ("\\\n" in text or "\\\r\n" in text):
        return True
    if "'" not in text and '"' not in text:
        return False
    if _NEXT_LINE.search(text) is not None:
        return True
    kinds = plain(text).translate(_KINDS)
    # `find` is three times faster than `in`.
    return any(kinds.find(join) >= 0 for join in _JOINS) or any(signs in text for signs in _QUOTED_QUOTES)


def _unescaped(view: View, work: Work | None = None) -> View | None:
    return view.derive(_ESCAPE, _unescape, work) if "\\" in view.text else None


def _unescape(sign: str) -> str:
    kind = sign[1]
    if kind in "uxU":
        return _shown(int(sign[2:].strip("{}"), 16))
    return _shown(int(sign[1:], 8)) if kind in "01" else _CONTROL.get(kind, kind)


def _shown(code: int) -> str:
    # What shows nothing needs no view of its own to be dropped: `0x%02x` stands in much code.
    return "" if code in _NOT_SHOWN else chr(code)


def _unquoted(view: View, work: Work | None = None) -> View | None:
    return view.derive(_PERCENT, lambda sign: _shown(int(sign[1:], 16)), work) if "%" in view.text else None


def _entities(view: View, work: Work | None = None) -> View | None:
    return view.derive(_ENTITY, _entity, work) if _may_hold_entity(view.text) else None


def _may_hold_entity(text: str) -> bool:
    # `a && b` and `?a=1&b=2` hold none: it ends with a semicolon.
    return "&" in text and ";" in text and _ENTITY.search(text) is not None


def _entity(sign: str) -> str:
    if sign in _ENTITIES:
        return _ENTITIES[sign]
    return _shown(int(sign[3:-1], 16) if sign[2] in "xX" else int(sign[2:-1]))


def _quoted_printable(view: View, work: Work | None = None) -> View | None:
    if not _is_quoted_printable(view.text):
        return None
    return view.derive(
        _QUOTED_PRINTABLE, lambda sign: "" if sign[-1] == "\n" else chr(int(sign[1:], 16)), work
    )


def _is_quoted_printable(text: str) -> bool:
    return "=" in text and (
        "=3D" in text
        or _PRINTABLE_RUN.search(text) is not None
        or (("=\n" in text or "=\r\n" in text) and _SOFT_BREAK.search(text) is not None)
    )


def _events(view: View, work: Work | None = None) -> View | None:
    return view.derive(EVENT_GAP, lambda _: "", work) if "\ndata:" in view.text else None


def _unreversed(view: View, work: Work | None = None) -> View | None:
    if not _may_be_reversed(view.text):
        return None
    return view.derive(_REVERSED, lambda sign: sign[::-1], work)


def _may_be_reversed(text: str) -> bool:
    return "rev" in text and any(sign in text for sign in _TURNING) and _REVERSED.search(text) is not None


def _lines(view: View, work: Work | None = None) -> View | None:
    return view.derive(_LINE_OF_BASE64, lambda _: "", work) if _may_be_lines(view.text) else None


def _listed(view: View, work: Work | None = None) -> View | None:
    """Write the arguments of a command that stand in a list as its command line: `["mysql", "-pX"]`."""
    return view.derive(_LISTED, lambda _: " ", work) if _may_be_listed(view.text) else None


def _may_be_listed(text: str) -> bool:
    return '", "-' in text or '","-' in text


def _may_be_lines(text: str) -> bool:
    return "\n" in text and _LINE_OF_BASE64.search(text) is not None


def _latin(view: View, work: Work | None = None) -> View | None:
    return view.derive(_FOREIGN, _plain_letters, work) if _may_be_alike(view.text) else None


def _plain_letters(letters: str) -> str:
    return "".join(_ALIKE[letter] for letter in letters)


def _may_be_alike(text: str) -> bool:
    return not text.isascii() and _FOREIGN.search(text) is not None


def wrapped(text: str) -> bool:
    """Tell whether any decoder may have something to do; most texts are what they are."""
    return (
        "\\" in text
        or "%" in text
        or _may_hold_entity(text)
        or "\ndata:" in text
        or _is_quoted_printable(text)
        or _may_be_listed(text)
        or _shell_may_join(text)
        or may_hide(text)
        or _may_be_reversed(text)
        or _may_be_lines(text)
        or _may_be_alike(text)
        or "\x00" in text
        or may_be_cut(text)
        or may_be_broken(text)
        or may_be_spaced(text)
        or may_join_variables(text)
    )


# Cheap ones first; each is tried on every view, so that wrappings in any order come off.
DECODERS: Final[tuple[Callable[[View, Work], View | None], ...]] = (
    visible,
    overprinted,
    smuggled,
    _listed,
    _shell,
    _unescaped,
    _unquoted,
    _entities,
    _quoted_printable,
    _events,
    _unreversed,
    _lines,
    _latin,
    uncut,
    parted,
    zeros_dropped,
    unbroken,
    unspaced,
    joined_variables,
)
