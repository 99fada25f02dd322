r"""Decoded views of a text, with the way back: a secret wrapped in `\u0067`, `%67`, `&#103;`, quotes or colour codes.

A view is built only when its trigger is in the text. It keeps a map to the source, so that what was found in the view is
masked in the source, whole escapes at a time, and what the decoding dropped (quotes, line continuations) stays where it was.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.piece import piece_end, piece_start
from herma.policy.redaction.work import DECODED_SIGN, PIECE_CHARS, Work, unjudged

__all__ = ["Piece", "Span", "View"]

type Span = tuple[int, int]

# The longest way from a name to its value is 400 characters (a command line); a value in one line is found from its start.
MAX_BEFORE: Final = 512
MAX_AFTER: Final = 4096
# The longest match of a decoder: the gap between two events.
MAX_SIGN_CHARS: Final = 1024


class Piece(NamedTuple):
    """Characters of the view from `at` on, and the characters of the source they stand for."""

    at: int
    start: int
    end: int
    # One character of the view a character of the source; otherwise the piece is one escape.
    literal: bool


class View:
    """A text derived from another, with a map back to it; the first view of a text is the text itself."""

    def __init__(self, text: str, pieces: list[Piece] | None = None, source: "View | None" = None) -> None:
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
        # A view may write what stands apart in another order.
        return _joined(sorted(spans))

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
        self._pieces: list[Piece] = []
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
            self._pieces.append(Piece(self._at, start, end, False))
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
            self._pieces.append(Piece(self._at, self._done, end, True))
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
