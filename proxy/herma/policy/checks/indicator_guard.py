"""Published indicators of compromise in any string of any body."""

import re
from collections.abc import Iterator
from typing import ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding
from herma.policy.exchange import Exchange, Phase
from herma.policy.indicator import Action, Indicator, IndicatorSet
from herma.policy.jsondoc import Document, strings
from herma.policy.text.unfold import unfold
from herma.policy.text.views import views

__all__ = ["IndicatorGuard"]

MAX_FINDINGS = 32
# A string up to here is read whole; of a longer one, what stands around each suspicious word.
WHOLE_CHARS = 8 * 1024
AROUND_CHARS = 1024
# Text of one body that is read closely, at some two microseconds a character. Only suspicious strings count.
MAX_READ_CHARS = 512 * 1024

# Escapes and characters that can hide an indicator from the quick look at the raw bytes.
# Two patterns, because each begins with one fixed byte, which is found ten times faster than a choice.
_ESCAPE = re.compile(rb"\\[u/]")
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_PERCENT_TEXT = re.compile(r"%([0-9a-fA-F]{2})")
# What makes a mention a use: something is done with the indicator, shortly before it in the same sentence …
_USE = re.compile(
    r"(?i)(?:\b(?:post|send|upload|connect|clone|install|download|fetch|register|bcc|cc|forward|run|running|execute|start|keep|curl|"
    r"wget|nc|ncat|ssh|scp|pip|npx|npm|uvx|add|use|open|point|proxy|mirror|push|pull|write|append|echo)\b|[a-z]{2,8}://)[^.;\n]{0,120}$"
)
# … and what makes it talk about the indicator: people hunt for these.
_HUNT = re.compile(
    r"(?i)\b(?:search|look(?:s|ing)? (?:for|whether|if)|check (?:that|whether|if|for|\S{1,40} for)|grep|scan|hunt|audit|alert|block(?:list)?|detect|"
    r"report|whether|logs?|malicious|compromised?|indicators?|known bad|summari[sz]e|explain|what is|is it safe|prüfe|revisa|vérifie)\b[^\n]{0,200}$"
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
        """Look at the raw bytes first; only a body with a suspicious word in it is read string by string."""
        document = exchange.document
        if document is None or not self._suspects(document):
            return Allow()
        used: dict[Finding, None] = {}
        noted: dict[Finding, None] = {}
        blocked_beside = False
        read = 0
        for place, text in strings(document.value, keys=True):
            for piece in self._pieces(text):
                read += len(piece)
                for indicator, use in self._find(piece):
                    finding = indicator.finding(place)
                    if indicator.action is Action.BLOCK and use:
                        used[finding] = None
                    elif indicator.action is not Action.CONTEXT or blocked_beside:
                        noted[finding] = None
                    blocked_beside = blocked_beside or indicator.action is Action.BLOCK
            if read > MAX_READ_CHARS and not used:
                return _TOO_MUCH
            if len(used) + len(noted) > MAX_FINDINGS:
                break
        findings = (*used, *(finding for finding in noted if finding not in used))[:MAX_FINDINGS]
        if not used:
            return Allow(findings)
        return Deny(403, "herma.ioc.match", "The body holds a published indicator of compromise.", findings)

    def _pieces(self, text: str) -> Iterator[str]:
        """Give what of a string has to be read closely: nothing, all, or what surrounds its suspicious words."""
        for form in dict.fromkeys((text, views(text).folded, _PERCENT_TEXT.sub(_character, text))):
            places = self._indicators.places(form)
            if places and len(form) <= WHOLE_CHARS:
                yield form
            elif places:
                yield from _around(form, places)

    def _suspects(self, document: Document) -> bool:
        if self._indicators.suspects(document.raw.lower()):
            return True
        raw = document.raw
        if raw.isascii() and _ESCAPE.search(raw) is None and _PERCENT.search(raw) is None:
            return False
        texts = [text for _, text in strings(document.value, keys=True)]
        folded = views("\n".join(texts)).folded
        return self._indicators.suspects(folded.encode("utf-8", "replace")) or "%" in folded

    def _find(self, text: str) -> Iterator[tuple[Indicator, bool]]:
        for indicator, start in self._indicators.find(text):
            yield indicator, in_use(text, start)
        for inner in unfold(text):
            yield from ((indicator, True) for indicator, _ in self._indicators.find(inner))


_TOO_MUCH = Deny(413, "herma.ioc.oversize", "The body holds more suspicious text than can be judged.")


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _around(text: str, places: list[int]) -> Iterator[str]:
    """Cut out the surroundings of places, joined where they touch."""
    start = end = 0
    for place in places:
        if place - AROUND_CHARS > end:
            if end:
                yield text[start:end]
            start = place - AROUND_CHARS
        end = place + AROUND_CHARS
    yield text[max(start, 0) : end]


def in_use(text: str, start: int) -> bool:
    """Tell whether what stands at `start` is used by the text rather than talked about."""
    if not re.search(r"\s", text.strip()):
        return True
    before = text[max(0, start - 240) : start]
    return _USE.search(before) is not None and _HUNT.search(before) is None
