"""One pass of all grammars over one text, place by place, within what the text may cost.

The gate names the places; each grammar looks at most once at what it has already read. When the work is spent, every piece in
which a rule could still begin is masked unseen.
"""

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from herma.policy.redaction.assignment import name_around
from herma.policy.redaction.fingerprint import PLACEHOLDER
from herma.policy.redaction.gate import Gate
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.name import BEHIND_NAME, Names
from herma.policy.redaction.piece import piece_end, piece_start
from herma.policy.redaction.work import (
    BEGINNING,
    FORMAT,
    HIT,
    LINE,
    PIECE_CHARS,
    PLACE,
    REPEATED_COMMAND,
    TIMED_OUT,
    Work,
    unjudged,
)

__all__ = ["STRETCH_CHARS", "Find", "Grammar", "Place", "Sweep"]

type Place = tuple[int, int, int]
type Find = Callable[[str, int, int, Work], Sequence[Hit]]

_WORD_CHARACTERS: Final = frozenset(string.ascii_letters + string.digits)
_SEPARATOR: Final = re.compile(r"[\n;|&]")
_START: Final = itemgetter(1)
# How far in front of its literal a format may begin (`1234567890:AA…`).
MAX_BEFORE: Final = 96
# So often a verb may find nothing before its repetitions are thinned out.
FREE_TRIES: Final = 32
# A verb repeated within so few characters of one simple command is a hostile repetition, or a path (`mysql/mysql.sock`).
SAME_COMMAND_CHARS: Final = 100
# The gate asks for keywords in stretches of this size, so that a text made of keywords is not listed whole.
STRETCH_CHARS: Final = 4 * PIECE_CHARS
# To tell whether a piece holds a keyword at all, its beginning mostly suffices.
PEEK_CHARS: Final = 256


@dataclass(frozen=True, slots=True)
class Grammar:
    """How the rules behind one keyword look at a place: `name` widens to the name first, `line` looks at a line once."""

    find: Find
    number: int
    name: bool = False
    line: bool = False
    command: bool = False
    # A word character in front rules it out.
    bounded: bool = False
    # Tells at once that nothing begins at a place.
    begins: Callable[[str, int], object | None] | None = None
    # The token may begin before the place.
    around: bool = False
    # What one look costs, in units of work.
    cost: float = FORMAT
    # Grammars, by number, that have nothing to add between this one's place and what it found there.
    covers: tuple[int, ...] = ()


class Sweep:
    """The pass over one text; `lower` is the text in lower case, character for character."""

    def __init__(
        self,
        text: str,
        lower: str,
        gate: Gate,
        grammars: Sequence[Sequence[Grammar]],
        names: Names,
        work: Work,
    ) -> None:
        self._text = text
        self._lower = lower
        self._gate = gate
        self._grammars = grammars
        self._names = names
        self._work = work
        # Where each grammar has already looked: a hostile repetition is read once, not once a repetition.
        self._seen: dict[int, int] = {}
        self._tried: dict[int, int] = {}
        # How often each verb found nothing, and where it did last.
        self._failures: dict[int, tuple[int, int]] = {}
        # Ends of placeholders: the class inside one (`[password:7f3a91c2]`) is a keyword as well.
        self._masked = [found.span() for found in PLACEHOLDER.finditer(text)] if "[" in text else []
        self._starts = [start for start, _ in self._masked]
        self._unseen: list[Hit] = []

    def run(self, places: list[Place] | None = None) -> list[Hit]:
        """Find every secret that a keyword announces, in no order; hits may overlap.

        `places` are those of the whole text, if it is short and the caller has asked the gate already.
        """
        hits: list[Hit] = []
        done, chars = 0, len(self._text)
        while done < chars:
            last = min(chars, done + STRETCH_CHARS)
            stopped = done
            if not self._work.spent:
                stopped = self._stretch(self._places(done, last) if places is None else places, hits)
            done = last if stopped < 0 else self._mask(stopped, last)
        if self._masked:
            # A hit that begins or ends inside a placeholder took it apart.
            hits = [hit for hit in hits if not (self._inside(hit.start) or self._inside(hit.end))]
        return [*hits, *self._unseen] if self._unseen else hits

    def _places(self, first: int, last: int) -> list[Place]:
        # What began before this stretch and ends in it belongs to it.
        start = max(0, first - self._gate.longest + 1)
        hits = self._gate.hits(self._lower[start:last])
        return [(number, start + a, start + b) for number, a, b in hits if start + b > first]

    def _stretch(self, places: list[Place], hits: list[Hit]) -> int:
        """Look at one stretch; return the place at which the work was spent, or -1."""
        places.sort(key=_START)
        text, work, seen, masked = self._text, self._work, self._seen, self._masked
        nameless = self._names.nameless
        for number, start, end in places:
            if masked and self._inside(start, closed=True):
                continue
            work.left -= PLACE
            if work.left < 0:
                return start
            inside = text[start - 1 : start] in _WORD_CHARACTERS
            for grammar in self._grammars[number]:
                if (grammar.bounded and inside) or start < seen.get(grammar.number, 0):
                    continue
                if grammar.begins is not None and grammar.begins(text, start) is None:
                    work.left -= FORMAT
                    continue
                if grammar.name:
                    name = nameless.get(text[start - 1 : end + BEHIND_NAME])
                    if name is not None:
                        work.name(name)
                        continue
                found = self._look(grammar, start, end)
                if found:
                    hits.extend(found)
        return -1

    def _look(self, grammar: Grammar, start: int, end: int) -> Sequence[Hit]:
        text, number, work = self._text, grammar.number, self._work
        if grammar.name:
            seen, (start, end) = text[start - 1 : end + BEHIND_NAME], name_around(text, start, end)
            # `api_key` is found as `api_key` and as `key`: one name, one look.
            self._seen[number] = end
            name = text[start:end].strip("-.")
            work.name(name)
            # What stands before a bare `key` may tell more.
            if self._names.classify(name) is None and name.lower() != "key":
                self._names.forget(seen, name)
                return ()
        elif grammar.line:
            line_end = text.find("\n", start)
            self._seen[number] = line_end if line_end >= 0 else len(text)
        elif grammar.around:
            # Where one began to be read, none need be tried again for a literal further on.
            start, end = max(self._tried.get(number, 0), start - MAX_BEFORE, 0), start
            self._tried[number] = end + 1
            work.left -= (end - start) * BEGINNING
        work.left -= grammar.cost
        hits = grammar.find(text, start, end, work)
        if hits:
            work.left -= HIT * len(hits) + (TIMED_OUT if hits[0].timed_out else 0)
            if not grammar.line:
                self._seen[number] = last = max(hit.end for hit in hits)
                for other in grammar.covers:
                    self._seen[other] = max(last, self._seen.get(other, 0))
        elif grammar.command and not grammar.line:
            tries, last = self._failures.get(number, (0, -SAME_COMMAND_CHARS))
            self._failures[number] = tries + 1, start
            if start - last < SAME_COMMAND_CHARS and _SEPARATOR.search(text, last, start) is None:
                # One verb behind another makes the pattern try all that may stand between a verb and its credential.
                work.left -= REPEATED_COMMAND
            if tries >= FREE_TRIES:
                # What this verb did not find, the same verb a few characters on will not find either.
                separator = _SEPARATOR.search(text, end, end + SAME_COMMAND_CHARS)
                # A long command is read far for nothing.
                work.left -= LINE if separator is None else 0
                self._seen[number] = separator.start() if separator else end + SAME_COMMAND_CHARS
        return hits

    def _mask(self, start: int, last: int) -> int:
        """Mask the pieces from `start` on in which a rule could begin; return where to go on."""
        while start < last:
            at = self._keyword(start, min(last, start + PIECE_CHARS))
            if at < 0:
                start = min(last, start + PIECE_CHARS)
                continue
            first = piece_start(self._text, at, 0)
            end = piece_end(self._text, first, min(last, start + PIECE_CHARS))
            unjudged(self._unseen, self._text, first, end)
            start = end
        return start

    def _keyword(self, first: int, last: int) -> int:
        """Find a keyword that begins in a piece; -1 when there is none."""
        for start in range(first, last, PEEK_CHARS):
            stop = min(last, start + PEEK_CHARS) + self._gate.longest - 1
            found = self._gate.first_start(self._lower[start:stop])
            if found >= 0:
                return start + found
        return -1

    def _inside(self, at: int, *, closed: bool = False) -> bool:
        """Tell whether a place lies inside a placeholder; its first character counts when `closed`."""
        number = bisect_right(self._starts, at) - 1
        if number < 0:
            return False
        start, end = self._masked[number]
        return at < end and (closed or at > start)
