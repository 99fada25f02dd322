r"""Decoded views of a text, with the way back: a secret wrapped in `\u0067`, `%67`, `&#103;`, quotes or colour codes.

A view is built only when its trigger is in the text. It keeps a map to the source, so that what was found in the view is
masked in the source, whole escapes at a time, and what the decoding dropped (quotes, line continuations) stays where it was.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.piece import piece_end, piece_start
from herma.policy.redaction.run import plain
from herma.policy.redaction.work import DECODED_SIGN, PIECE_CHARS, Work, unjudged

__all__ = ["DECODERS", "Span", "View", "wrapped"]

type Span = tuple[int, int]

# One class of characters in front, so that the search skips to them.
_INVISIBLE: Final = re.compile(
    "[\x1b\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f\uff0d\uff10-\uff19\uff1d\uff21-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff]"
    "(?:(?<!\x1b)|(?:\\[[0-9;?]{0,32}[A-Za-z]|\\][^\x07\x1b]{0,512}(?:\x07|\x1b\\\\)|[()][AB0]|[=>]))"
)
# Again the search skips to the signs that begin a match: quotes, backslashes and dollars.
_SHELL: Final = re.compile(
    r"""["'\\$](?:
        (?<=["'])(?:(?<=[A-Za-z0-9_./+=-].)(?:["'](?=[A-Za-z0-9_./+=-])|[ ]?\+[ ]?(?:\\\r?)?\n?[ ]{0,16}["'](?=[A-Za-z0-9_-]))
          |(?<=[A-Za-z0-9].)(?=[A-Za-z0-9_]))
      | (?<=\\)\r?\n | (?<=\$)\{?IFS\}? )""",
    re.VERBOSE | re.ASCII,
)
# What the pattern can match, in kinds of characters: a quote beside a quote, between two word characters, before a plus.
_KINDS: Final = bytes(
    0x71  # q: a quote
    if byte in b"\"'"
    else 0x70  # p: a plus
    if byte == 0x2B
    else 0x73  # s: a blank
    if byte == 0x20
    else 0x78  # x: a character of a word
    if byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=-"
    else 0x20
    for byte in range(256)
)
_JOINS: Final = (b"xqx", b"qqx", b"qqp", b"qp", b"qsp")
_ESCAPE: Final = re.compile(
    r"\\(?:(?:u|U0000|u\{0{0,4})([0-9a-fA-F]{4})\}?|u\{([0-9a-fA-F]{2,3})\}|x([0-9a-fA-F]{2})|([01][0-7]{2})|([\"'\\/bfnrt]))",
    re.ASCII,
)
_CONTROL: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PERCENT: Final = re.compile(r"%([0-7][0-9A-Fa-f])", re.ASCII)
_ENTITY: Final = re.compile(
    r"&(?:(quot|amp|lt|gt|apos)|#0{0,5}(\d{2,3})|#[xX]0{0,6}([0-9a-fA-F]{2}));", re.ASCII
)
# RFC 2045 section 6.7: where the sign `=` itself is encoded, or several characters in a row, a mail or form was.
_QUOTED_PRINTABLE: Final = re.compile(r"=(?:([2-7][0-9A-F])|\r?\n)", re.ASCII)
_PRINTABLE_RUN: Final = re.compile(r"=[2-7][0-9A-F]=[2-7][0-9A-F]=[2-7][0-9A-F]", re.ASCII)
# Between two deltas of one text in a recorded event stream.
_EVENT_GAP: Final = re.compile(
    r"\"[}\]][^\n\"]{0,16}(?:,\"[^\n]{0,200})?\r?\n\r?\n(?:event:[^\n]{0,80}\r?\n)?data:[ ]?\{[^\n]{0,300}?"
    r"\"(?:content|text|delta|arguments|partial_json|reasoning_content)\":[ ]?\"(?!\{)"
)
_ENTITIES: Final = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}


# The longest way from a name to its value is 400 characters (a command line); a value in one line is found from its start.
MAX_BEFORE: Final = 512
MAX_AFTER: Final = 4096
# The longest match of a decoder: the gap between two events.
MAX_SIGN_CHARS: Final = 1024


class _Piece(NamedTuple):
    """Characters of the view from `at` on, and the characters of the source they stand for."""

    at: int
    start: int
    end: int
    # One character of the view a character of the source; otherwise the piece is one escape.
    literal: bool


class View:
    """A text derived from another, with a map back to it; the first view of a text is the text itself."""

    def __init__(self, text: str, pieces: list[_Piece] | None = None, source: "View | None" = None) -> None:
        self.text = text
        self._pieces = pieces or []
        self._starts = [piece.at for piece in self._pieces]
        self._source = source
        # What was to be decoded and was not; to be masked.
        self.unseen: list[Hit] = []

    def spans(self, start: int, end: int) -> list[Span]:
        """Map characters `start` to `end` to the source: more than one span where the decoding dropped something between."""
        if self._source is None:
            return [(start, end)]
        spans: list[Span] = []
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._pieces)):
            piece = self._pieces[number]
            if piece.at >= end:
                break
            first, last = piece.start, piece.end
            if piece.literal:
                first = piece.start + max(0, start - piece.at)
                last = min(piece.end, piece.start + end - piece.at)
            if first < last:
                spans.extend(self._source.spans(first, last))
        return _joined(spans)

    def reach(self, start: int, end: int) -> Span:
        """Map characters `start` to `end` to the source as one span, with all that the decoding dropped between."""
        view = self
        while view._source is not None and view._pieces:
            first = view._pieces[max(0, bisect_right(view._starts, start) - 1)]
            last = view._pieces[max(0, bisect_right(view._starts, max(start, end - 1)) - 1)]
            start = first.start + (max(0, start - first.at) if first.literal else 0)
            end = min(last.end, last.start + end - last.at) if last.literal else last.end
            view = view._source
        return start, max(start, end)

    def derive(
        self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], work: Work | None = None
    ) -> "View | None":
        """Rewrite every match of a pattern; None when there is none.

        The new view holds the surroundings of the matches only: the rest reads the same and has been looked at. When the
        work is spent, the rest of the view is not decoded: the pieces in which something matches become `unseen`.
        """
        work = Work(len(self.text)) if work is None else work
        builder = _Builder(self.text)
        for found in pattern.finditer(self.text):
            work.left -= DECODED_SIGN
            if work.left < 0:
                self._give_up(pattern, found.start())
                break
            builder.add(*found.span(), replace(found))
        return builder.view(self)

    def _give_up(self, pattern: re.Pattern[str], start: int) -> None:
        """Note the pieces from `start` on that the pattern would rewrite."""
        text = self.text
        while start < len(text):
            stop = min(len(text), start + PIECE_CHARS)
            found = pattern.search(text, start, min(len(text), stop + MAX_SIGN_CHARS))
            if found is None or found.start() >= stop:
                start = stop
                continue
            first = piece_start(text, found.start(), 0)
            start = piece_end(text, first, stop)
            unjudged(self.unseen, text, first, start)


class _Builder:
    """Puts the pieces of a derived view together."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[_Piece] = []
        self._parts: list[str] = []
        self._at = 0
        # Where the source was read to; nothing is wanted of it before the first match.
        self._done = 0
        self._begun = False

    def add(self, start: int, end: int, written: str) -> None:
        gap = start - self._done
        if gap:
            if self._begun and gap <= MAX_BEFORE:
                self._copy(start)
            else:
                self._gap(start)
        if written:
            self._pieces.append(_Piece(self._at, start, end, False))
            self._parts.append(written)
            self._at += len(written)
        self._done = end
        self._begun = True

    def _gap(self, start: int) -> None:
        """Copy what lies before the next match: all of it, or the surroundings of both ends."""
        wanted = self._wanted()
        if start > wanted:
            self._copy(wanted)
            first = max(self._done, self._text.rfind("\n", 0, max(0, start - 1)) + 1, start - MAX_BEFORE)
            if first > self._done:
                # Far apart: no name here belongs to a value there.
                self._parts.append("\n\n")
                self._at += 2
                self._done = first
        self._copy(start)

    def _wanted(self) -> int:
        """Tell where the surroundings of the last match end."""
        if not self._begun:
            return 0
        stop = self._text.find("\n", self._done, self._done + MAX_AFTER)
        return stop if stop >= 0 else min(len(self._text), self._done + MAX_AFTER)

    def _copy(self, end: int) -> None:
        if end > self._done:
            self._pieces.append(_Piece(self._at, self._done, end, True))
            self._parts.append(self._text[self._done : end])
            self._at += end - self._done
            self._done = end

    def view(self, source: View) -> View | None:
        if not self._begun:
            return None
        self._copy(self._wanted())
        return View("".join(self._parts), self._pieces, source)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _visible(view: View, work: Work | None = None) -> View | None:
    return view.derive(_INVISIBLE, _fold, work) if _may_hide(view.text) else None


def _may_hide(text: str) -> bool:
    if "\x1b" in text:
        return True
    return not text.isascii() and _INVISIBLE.search(text) is not None


def _fold(found: re.Match[str]) -> str:
    character = found.group()
    # Full-width forms are the ASCII ones, moved.
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    # Mathematical letters and digits are the plain ones, dressed.
    return (
        unicodedata.normalize("NFKC", character)
        if character >= "\U0001d400" and character < "\U0001d800"
        else ""
    )


def _shell(view: View, work: Work | None = None) -> View | None:
    if not _shell_may_join(view.text):
        return None
    return view.derive(_SHELL, lambda found: " " if found.group().startswith("$") else "", work)


def _shell_may_join(text: str) -> bool:
    if "IFS" in text or ("\\" in text and ("\\\n" in text or "\\\r\n" in text)):
        return True
    if "'" not in text and '"' not in text:
        return False
    kinds = plain(text).translate(_KINDS)
    return any(join in kinds for join in _JOINS)


def _unescaped(view: View, work: Work | None = None) -> View | None:
    return view.derive(_ESCAPE, _unescape, work) if "\\" in view.text else None


def _unescape(found: re.Match[str]) -> str:
    long, braced, short, octal, sign = found.groups()
    if sign is not None:
        return _CONTROL.get(sign, sign)
    return chr(int(octal, 8) if octal else int(long or braced or short, 16))


def _unquoted(view: View, work: Work | None = None) -> View | None:
    return view.derive(_PERCENT, lambda found: chr(int(found[1], 16)), work) if "%" in view.text else None


def _entities(view: View, work: Work | None = None) -> View | None:
    return view.derive(_ENTITY, _entity, work) if _may_hold_entity(view.text) else None


def _may_hold_entity(text: str) -> bool:
    # `a && b` and `?a=1&b=2` hold none: it ends with a semicolon.
    return "&" in text and ";" in text and _ENTITY.search(text) is not None


def _entity(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    return _ENTITIES[name] if name else chr(int(decimal) if decimal else int(hexadecimal, 16))


def _quoted_printable(view: View, work: Work | None = None) -> View | None:
    if not _is_quoted_printable(view.text):
        return None
    return view.derive(_QUOTED_PRINTABLE, lambda found: chr(int(found[1], 16)) if found[1] else "", work)


def _is_quoted_printable(text: str) -> bool:
    return "=" in text and ("=3D" in text or _PRINTABLE_RUN.search(text) is not None)


def _events(view: View, work: Work | None = None) -> View | None:
    return view.derive(_EVENT_GAP, lambda _: "", work) if "\ndata:" in view.text else None


def wrapped(text: str) -> bool:
    """Tell whether any decoder may have something to do; most texts are what they are."""
    return (
        "\\" in text
        or "%" in text
        or _may_hold_entity(text)
        or "\ndata:" in text
        or _is_quoted_printable(text)
        or _shell_may_join(text)
        or _may_hide(text)
    )


# Cheap ones first; each is tried on every view, so that wrappings in any order come off.
DECODERS: Final[tuple[Callable[[View, Work], View | None], ...]] = (
    _visible,
    _shell,
    _unescaped,
    _unquoted,
    _entities,
    _quoted_printable,
    _events,
)
