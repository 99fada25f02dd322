"""Published indicators of compromise in any string of any body."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.entry.runner import PackagesError
from herma.policy.exchange import Exchange, Phase
from herma.policy.grant import Scope
from herma.policy.indicator import Action, Indicator, IndicatorSet
from herma.policy.indicator.disguise import HIDING_BYTES, undisguised
from herma.policy.indicator.layers import layers, unescaped
from herma.policy.indicator.mention import in_use
from herma.policy.indicator.spelled import SPELLING_BYTES, respelled, spelled_out
from herma.policy.jsondoc import Document, strings
from herma.policy.text.unfold import unfold
from herma.policy.text.views import views

__all__ = ["IndicatorGuard"]

MAX_FINDINGS = 32
# A string up to here is read whole; of a longer one, what stands around each suspicious word.
WHOLE_CHARS = 8 * 1024
AROUND_CHARS = 1024
# Text of one body that is read closely, at some two microseconds a character, and the pieces of it. Only what surrounds
# suspicious words counts.
MAX_READ_CHARS = 48 * 1024
MAX_PIECES = 2048
# Places that begin so are places of the same indicator, and so many of them are looked at.
SAME_CHARS = 8
MAX_MENTIONS = 64
# Strings that take the quick look together: as many small ones as make one look worth its start.
BATCH_CHARS = 16 * 1024

# A line of base64 that goes on in the next.
_WRAPPED = re.compile(rb"\\[rn](?<=[A-Za-z0-9+/_-]{16}\\[rn])")
# What can hide an indicator from the quick look at the raw bytes, beside encodings.
# One pattern for each first byte, which is found ten times faster than a choice.
_HIDING = (
    re.compile(rb"\\[u/\\0-7xU]"),
    re.compile(rb"%[0-9a-fA-F]{2}"),
    re.compile(rb"&(?:#|[a-zA-Z]{3,6};)"),
    _WRAPPED,
    *HIDING_BYTES,
    *SPELLING_BYTES,
)


class IndicatorGuard:
    """Refuses a body that uses an indicator whose action is `block`; reports every other mention.

    A mention in a sentence is no use: a person may ask about an address, or have logs searched for it. It is a use when
    the string is the indicator's own (an address, a name, a command word), when it was encoded, or when the sentence
    does something with it.
    """

    id: ClassVar[str] = "indicator_guard"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def __init__(self, indicators: IndicatorSet) -> None:
        self._indicators = indicators

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Look at the raw bytes first; only a body with a suspicious word in it is read string by string.

        What the upstream fetches or changes may also stand in the query. Where it only reads, that is what somebody
        searches for.
        """
        queried = Allow() if _only_reads(exchange) else self._judge(_query(exchange.head.target.query))
        if isinstance(queried, Deny) or exchange.document is None:
            return queried
        try:
            judged = self._judge(exchange.document)
        except PackagesError:
            return _TOO_MUCH
        return judged if isinstance(judged, Deny) else Allow((*queried.findings, *judged.findings))

    def _judge(self, document: Document) -> Allow | Deny:
        if not self._suspects(document):
            return Allow()
        found = _Found()
        for place, text in self._suspicious(document.value):
            for piece, encoded in self._pieces(text):
                if not found.take(len(piece)):
                    return found.refusal() or _TOO_MUCH
                for indicator, use in self._find(piece):
                    found.add(indicator, place, use=use or encoded)
            if found.is_full():
                break
        return found.refusal() or Allow(found.noted())

    def _suspects(self, document: Document) -> bool:
        """Take the quick look; True also where hiding is possible, and the strings have to be looked at."""
        raw = document.raw
        if self._indicators.suspects(raw.lower()) or not raw.isascii():
            return True
        if any(pattern.search(raw) for pattern in _HIDING):
            return True
        return any(self._indicators.suspects(layer.lower()) for layer in layers(raw))

    def _suspicious(self, value: Any) -> Iterator[tuple[str, str]]:
        """Give the strings that have to be read one by one: those of a batch with a suspicious word in any form."""
        for batch in _batches(strings(value, keys=True)):
            # One long string takes the look for itself, in `_pieces`.
            if len(batch) == 1 or self._suspect("\0".join(text for _, text in batch)):
                yield from batch

    def _suspect(self, whole: str) -> bool:
        plain = unescaped(whole)
        forms = _forms(whole, plain)
        said = (form.encode("utf-8", "replace") for form in chain(forms, spelled_out(plain)))
        raw = chain(said, _encoded(plain))
        return any(self._indicators.suspects(form.lower()) for form in raw)

    def _pieces(self, text: str) -> Iterator[tuple[str, bool]]:
        """Give what of a string has to be read closely, and whether it was encoded: what surrounds suspicious words."""
        plain = unescaped(text)
        for form in _forms(text, plain):
            yield from ((piece, False) for piece in _around(form, self._indicators.places(form)))
        for form in spelled_out(plain):
            yield from ((piece, True) for piece in _around(form, self._indicators.places(form)))
        for layer in _encoded(plain):
            pieces = _around(layer, self._indicators.byte_places(layer.lower()))
            yield from ((piece.decode("utf-8", "replace"), True) for piece in pieces)

    def _find(self, text: str) -> Iterator[tuple[Indicator, bool]]:
        # What a list repeats is judged once.
        for indicator, start in dict.fromkeys(self._indicators.find(text)):
            yield indicator, any(in_use(text, place) for place in _again(text, start))
        for inner in unfold(text):
            yield from ((indicator, True) for indicator, _ in self._indicators.find(inner))


def _only_reads(exchange: Exchange) -> bool:
    return exchange.head.method in {"GET", "HEAD"} and exchange.match.route.scope in _READING


def _query(raw: bytes) -> Document:
    """Take a query as the text that it is: names and values."""
    text = raw.replace(b"+", b" ").decode("latin-1")
    return Document(
        raw, {"query": [part for pair in text.split("&") for part in pair.split("=", 1)]}, form=True
    )


_READING = frozenset({Scope.READ, Scope.STATUS})


class _Found:
    """What a body holds, up to the bounds."""

    def __init__(self) -> None:
        self._used: dict[Finding, None] = {}
        self._noted: dict[Finding, None] = {}
        self._block_seen = False
        self._read = 0
        self._pieces = 0

    def take(self, chars: int) -> bool:
        """Count a text before it is read; False when it would be too much."""
        self._read += chars
        self._pieces += 1
        return self._read <= MAX_READ_CHARS and self._pieces <= MAX_PIECES

    def add(self, indicator: Indicator, place: str, *, use: bool) -> None:
        finding = indicator.finding(place)
        if indicator.action is Action.BLOCK and use:
            self._used[finding] = None
        elif indicator.action is not Action.CONTEXT or self._block_seen:
            self._noted[finding] = None
        self._block_seen = self._block_seen or indicator.action is Action.BLOCK

    def is_full(self) -> bool:
        return len(self._used) + len(self._noted) > MAX_FINDINGS

    def noted(self) -> tuple[Finding, ...]:
        return tuple(self._noted)[:MAX_FINDINGS]

    def refusal(self) -> Deny | None:
        if not self._used:
            return None
        findings = (*self._used, *(finding for finding in self._noted if finding not in self._used))
        message = "The body holds a published indicator of compromise."
        return Deny(403, "herma.ioc.match", message, findings[:MAX_FINDINGS])


def _batches(texts: Iterator[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for place, text in texts:
        if batch and size + len(text) > BATCH_CHARS:
            yield batch
            batch, size = [], 0
        batch.append((place, text))
        size += len(text) + 1
    if batch:
        yield batch


_TOO_MUCH = Deny(
    413,
    "herma.ioc.oversize",
    "The body holds more suspicious text than can be judged.",
    (Finding("ioc-oversize", Level.HIGH),),
)


def _forms(text: str, plain: str) -> Iterator[str]:
    """Give a text, without its escapes, as it looks and as it is meant to be used."""
    yield text
    forms = dict.fromkeys((plain, *views(plain).each(), undisguised(plain), *respelled(plain)))
    yield from (form for form in forms if form != text)


def _encoded(plain: str) -> Iterator[bytes]:
    """Give what is encoded in a text."""
    # What is not ASCII is no part of an encoding: invisible characters inside one are gone with it.
    return layers(plain.encode("ascii", "ignore"))


def _around[T: (str, bytes)](text: T, places: Sequence[int]) -> Iterator[T]:
    """Give a short text whole, of a long one the surroundings of the places, joined where they touch."""
    if not places:
        return
    if len(text) <= WHOLE_CHARS:
        yield text
        return
    start = end = 0
    for place in places:
        if place - AROUND_CHARS > end:
            if end:
                yield text[start:end]
            start = place - AROUND_CHARS
        end = place + AROUND_CHARS
    yield text[max(start, 0) : end]


def _again(text: str, start: int) -> Iterator[int]:
    """Give a place, and those behind it that look the same: who asks about an address first may use it then."""
    yield start
    beginning, place = text[start : start + SAME_CHARS], start
    for _ in range(MAX_MENTIONS if start >= 0 else 0):
        place = text.find(beginning, place + 1)
        if place < 0:
            return
        yield place
    # More are not looked at one by one.
    yield -1
