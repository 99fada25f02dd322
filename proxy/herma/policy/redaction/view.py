r"""Decoded views of a text, with the way back: a secret wrapped in `\u0067`, `%67`, `&#103;`, quotes or colour codes.

A view is built only when its trigger is in the text. It keeps a map to the source, so that what was found in the view is
masked in the source, whole escapes at a time, and what the decoding dropped (quotes, line continuations) stays where it was.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.piece import piece_end, piece_start
from herma.policy.redaction.places import Block, Places, Span
from herma.policy.redaction.work import DECODED_SIGN, GLUED, PIECE_CHARS, Work, unjudged

__all__ = ["Span", "View"]

_QUOTES: Final = ('"', "'")

# The longest way from a name to its value is 400 characters (a command line); a value in one line is found from its start.
MAX_BEFORE: Final = 512
MAX_AFTER: Final = 4096
# The longest match of a decoder: the gap between two events.
MAX_SIGN_CHARS: Final = 1024
# Between what stands far apart in the source.
_APART: Final = "\n\n"


class View:
    """A text derived from another, with a map back to it; the first view of a text is the text itself."""

    def __init__(
        self,
        text: str,
        source: "View | None" = None,
        places: Callable[[], Block | Places] | None = None,
    ) -> None:
        self.text = text
        self._source = source
        # The map, which is drawn when the first place is asked for: most views hold nothing.
        self._draw = places
        self._drawn: Block | Places | None = None
        # What was to be decoded and was not; to be masked.
        self.unseen: list[Hit] = []

    @property
    def _places(self) -> Block | Places:
        if self._drawn is None:
            self._drawn = self._draw() if self._draw is not None else Block([0], [0], [0])
        return self._drawn

    def spans(self, start: int, end: int) -> list[Span]:
        """Map characters `start` to `end` to the source: more than one span where the decoding dropped something between."""
        if self._source is None:
            return [(start, end)]
        spans: list[Span] = []
        for first, last in self._places.spans(start, end):
            spans.extend(self._source.spans(first, last))
        # A view may write what stands apart in another order.
        return _joined(sorted(spans))

    def reach(self, start: int, end: int) -> Span:
        """Map characters `start` to `end` to the source as one span, with all that the decoding dropped between."""
        view = self
        while view._source is not None:
            start, end = view._places.reach(start, end)
            view = view._source
        return start, max(start, end)

    def derive(
        self, pattern: re.Pattern[str], write: Callable[[str], str], work: Work | None = None
    ) -> "View | None":
        """Rewrite every match of a pattern, which is its one group; None when there is none.

        The new view holds the surroundings of the matches only: the rest reads the same and has been looked at. When the
        work is spent, the rest of the view is not decoded: the pieces in which something matches become `unseen`.
        """
        text = self.text
        work = Work(len(text)) if work is None else work
        affordable = int(max(0, work.left) / DECODED_SIGN)
        # Every second part is a match: a text made of escapes is taken apart at the speed of the pattern.
        parts: list[str] = pattern.split(text, affordable) if affordable else [text]
        work.left -= DECODED_SIGN * (len(parts) // 2)
        if len(parts) // 2 == affordable:
            following = pattern.search(text, len(text) - len(parts[-1]))
            if following is not None:
                work.left = min(0, work.left) - DECODED_SIGN
                self._give_up(pattern, following.start())
        if len(parts) == 1:
            return None
        # Signs repeat: each is read once.
        signs = parts[1::2]
        written = {sign: write(sign) for sign in set(signs)}
        read = parts.copy()
        read[1::2] = map(written.__getitem__, signs)
        return self._view(parts, read)

    def rewrite(
        self,
        pattern: re.Pattern[str],
        signs_of: Callable[[str, Iterable[re.Match[str]]], list[tuple[int, int, str]]],
        work: Work | None = None,
    ) -> "View | None":
        """Rewrite signs that depend on each other: `signs_of` a text and the matches of the pattern gives them in order."""
        text = self.text
        work = Work(len(text)) if work is None else work
        affordable = int(max(0, work.left) / GLUED)
        matches = pattern.finditer(text)
        signs = signs_of(text, islice(matches, affordable))
        # A line that goes on is no part of a word whose ends are looked for.
        work.left -= sum(GLUED if text[end - 1 : end] in _QUOTES else DECODED_SIGN for _, end, _ in signs)
        following = next(matches, None)
        if following is not None:
            work.left = min(0, work.left) - GLUED
            self._give_up(pattern, max(following.start(), signs[-1][1] if signs else 0))
        if not signs:
            return None
        parts: list[str] = []
        read: list[str] = []
        done = 0
        for start, end, written in signs:
            before = text[done:start]
            parts += (before, text[start:end])
            read += (before, written)
            done = end
        rest = text[done:]
        return self._view([*parts, rest], [*read, rest])

    def _view(self, parts: list[str], read: list[str]) -> "View":
        parts, read, far = _leave_out(parts, read)
        return View("".join(read), self, lambda: Places(parts, read, far))

    def quote(self, groups: Iterable[Sequence[Span]]) -> "View | None":
        """Write the spans of each group one behind another, and the groups apart; None when there are none."""
        read: list[str] = []
        places = Block([0], [], [])
        for group in groups:
            for start, end in group:
                places.add(start, end, end - start)
                read.append(self.text[start:end])
            places.add(places.end[-1], places.end[-1], len(_APART))
            read.append(_APART)
        return View("".join(read), self, lambda: places) if read else None

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


def _leave_out(parts: list[str], read: list[str]) -> tuple[list[str], list[str], list[int]]:
    """Keep of the parts between escapes what is near one; tell which parts stand for what was left out."""
    stop = parts[-1].find("\n", 0, MAX_AFTER)
    read[-1] = parts[-1] = parts[-1][: stop if stop >= 0 else MAX_AFTER]
    kept: list[str] = []
    shown: list[str] = []
    far: list[int] = []
    done = 0
    between = list(map(len, parts[2:-1:2]))
    long = (
        [2 * at for at, chars in enumerate(between, 1) if chars > MAX_BEFORE]
        if max(between, default=0) > MAX_BEFORE
        else []
    )
    for number in (0, *long):
        part = parts[number]
        stop = part.find("\n", 0, MAX_AFTER) if number else 0
        stop = stop if stop >= 0 else MAX_AFTER
        # Far apart: no name here belongs to a value there.
        first = max(part.rfind("\n", 0, max(0, len(part) - 1)) + 1, len(part) - MAX_BEFORE)
        if first > stop:
            kept += (*parts[done:number], part[:stop], part[stop:first], part[first:])
            shown += (*read[done:number], part[:stop], _APART, part[first:])
            far.append(len(kept) - 2)
            done = number + 1
    return (kept + parts[done:], shown + read[done:], far) if far else (parts, read, far)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
