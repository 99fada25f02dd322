"""Rules for prompts: concepts that stand together.

A combination holds when one mention of every term stands near the mention of the first one, in any order. A term is a
concept, several with `|` between them, or one with `not:` before it, which asks for the negated intent. An intent counts
as it is meant: one that is negated or only asked about is none, unless the term begins with `any:`.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from herma.policy.prompt.reading import Mention, Reading
from herma.policy.prompt.vocabulary import Kind, Vocabulary

__all__ = ["Combination", "combinations"]

# Two words of one order stand in one sentence, hardly farther apart than this.
DEFAULT_REACH_CHARS = 120
_KEYS = frozenset({"all", "none", "reach", "across", "ordered"})


class _Alternative(NamedTuple):
    concept: int
    # Whether the concept is an intent whose meaning counts, and with which sign.
    meant: bool
    negated: bool
    # Whether it is the object of a verb, and so stands behind it.
    object: bool


@dataclass(frozen=True, slots=True)
class _Term:
    alternatives: tuple[_Alternative, ...]
    mask: int

    def mentions(self, reading: Reading) -> list[tuple[Mention, bool]]:
        """Give the mentions that count for this term, in order, each with whether it is an object."""
        found = [
            (mention, is_object)
            for concept, meant, negated, is_object in self.alternatives
            for mention in reading.mentions.get(concept, ())
            if not meant or (mention.negated is negated and not mention.reported)
        ]
        return sorted(found) if len(self.alternatives) > 1 else found


@dataclass(frozen=True, slots=True)
class Combination:
    """Concepts that must stand together, and those that must not be near."""

    terms: tuple[_Term, ...]
    none: tuple[_Term, ...]
    reach: int
    across: bool
    ordered: bool
    # Whether the first term is a verb, so that objects follow it.
    verb: bool

    def applies(self, reading: Reading) -> bool:
        """Tell whether the text says it."""
        present = reading.present
        for term in self.terms:
            if not present & term.mask:
                return False
        anchors, *others = [term.mentions(reading) for term in self.terms]
        if not anchors or not all(others):
            return False
        for anchor, _ in anchors:
            if self._surrounded(anchor, others) and not any(
                self._damped(anchor, term, reading) for term in self.none if present & term.mask
            ):
                return True
        return False

    def _surrounded(self, anchor: Mention, others: list[list[tuple[Mention, bool]]]) -> bool:
        before = anchor
        for mentions in others:
            found = self._near(anchor, before, mentions)
            if found is None:
                return False
            if self.ordered:
                before = found
        return True

    def _near(self, anchor: Mention, before: Mention, mentions: list[tuple[Mention, bool]]) -> Mention | None:
        low = bisect_left(mentions, anchor.start - self.reach, key=_start)
        for mention, is_object in mentions[low:]:
            if mention.start > anchor.end + self.reach:
                return None
            if not self.across and mention.sentence != anchor.sentence:
                continue
            if self.ordered and mention.start < before.end:
                continue
            if mention.start > anchor.start or (
                mention.end <= anchor.start and not (self.verb and is_object and not anchor.loose)
            ):
                return mention
        return None

    def _damped(self, anchor: Mention, term: _Term, reading: Reading) -> bool:
        return any(
            mention.sentence == anchor.sentence
            and mention.start <= anchor.end + self.reach
            and mention.end >= anchor.start - self.reach
            for mention, _ in term.mentions(reading)
        )


def _start(item: tuple[Mention, bool]) -> int:
    return item[0].start


def combinations(options: Mapping[str, Any], vocabulary: Vocabulary) -> tuple[Combination, ...]:
    """Read the combinations of a rule.

    Raises:
        ValueError: one is not a mapping of known keys, or names a concept that no file defines.
    """
    entries = options.get("combine", [])
    if not isinstance(entries, list):
        raise ValueError("combine is a list")  # noqa: TRY004 - a fault of the file, not of the caller
    return tuple(_combination(entry, vocabulary) for entry in entries)


def _combination(entry: Any, vocabulary: Vocabulary) -> Combination:
    if not isinstance(entry, dict) or not _KEYS.issuperset(entry) or not entry.get("all"):
        raise ValueError("a combination has `all`, and maybe `none`, `reach` and `across`")
    reach = entry.get("reach", DEFAULT_REACH_CHARS)
    across, ordered = entry.get("across", False), entry.get("ordered", False)
    if isinstance(reach, bool) or not isinstance(reach, int):
        raise ValueError("reach is a number of characters")  # noqa: TRY004 - a fault of the file, not of the caller
    if not isinstance(across, bool) or not isinstance(ordered, bool):
        raise ValueError("across and ordered are true or false")  # noqa: TRY004 - a fault of the file, not of the caller
    terms = _terms(entry["all"], vocabulary)
    verb = all(alternative.meant for alternative in terms[0].alternatives)
    return Combination(terms, _terms(entry.get("none", []), vocabulary), reach, across, ordered, verb)


def _terms(names: Any, vocabulary: Vocabulary) -> tuple[_Term, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("a combination lists names of concepts")
    return tuple(_term(name, vocabulary) for name in names)


def _term(written: str, vocabulary: Vocabulary) -> _Term:
    alternatives = tuple(_alternative(name, vocabulary) for name in written.split("|"))
    mask = 0
    for alternative in alternatives:
        mask |= 1 << alternative.concept
    return _Term(alternatives, mask)


def _alternative(written: str, vocabulary: Vocabulary) -> _Alternative:
    sign, _, name = written.rpartition(":")
    number = vocabulary.index.get(name)
    if number is None or sign not in {"", "not", "any"}:
        raise ValueError(f"no concept is called {written!r}")
    kind = vocabulary.kinds[number]
    intent = kind is Kind.INTENT
    if sign == "not" and not intent:
        raise ValueError(f"{written!r} negates what is no intent")
    return _Alternative(number, intent and sign != "any", sign == "not", kind is Kind.OBJECT)
