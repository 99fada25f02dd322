"""Words for the concepts that a prompt can speak of, in many languages, found in one pass.

A term is a word or a phrase. `stem*` takes any ending, `*stem` any beginning (German compounds). Scripts that write
prefixes, endings or whole sentences without blanks need no marks: the script of the term decides.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

import ahocorasick_rs
import regex

from herma.policy.pattern import compile_pattern
from herma.policy.text.bare import bare

__all__ = ["Concept", "Hit", "Kind", "Shape", "Vocabulary"]

# Conjunctions, articles and prepositions that Arabic and Hebrew write as the beginning of a word.
_PROCLITICS = frozenset("وفبلكسا" + "והבלמכש")
MAX_PROCLITICS = 3
# Endings that a stem of a script with alphabet may take; longer ones make another word.
MAX_ENDING = 14


class Kind(StrEnum):
    """What a concept does in a sentence."""

    INTENT = "intent"
    # What an intent is about; in most languages it follows the verb.
    OBJECT = "object"
    # Circumstances, channels, frames: anywhere in the sentence.
    CONTEXT = "context"
    # What is found inside such a term is not counted: `secret store`, `.env.example`.
    MASK = "mask"
    # Turns the intent behind it (`never`), or before it (German `nichts`), into its opposite.
    NEGATION = "negation"
    NEGATION_AFTER = "negation_after"
    # What follows (or went before) is asked about, not asked for: `check whether`.
    FRAME = "frame"
    FRAME_AFTER = "frame_after"
    # Objects behind it are spoken of: `about`.
    TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern for what has no words, such as an address; tried where one of its keywords is in the text."""

    keywords: tuple[str, ...]
    pattern: str


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept with its terms in every language; `misspelt` also takes them with letters swapped or missing.

    `late` are terms of languages that put the verb behind its object.
    """

    name: str
    kind: Kind
    terms: tuple[str, ...]
    late: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    misspelt: bool = False


# A concept at a place of a text: start, end, number of the concept, whether the language puts verbs last. A plain tuple,
# for there are hundreds in a text.
type Hit = tuple[int, int, int, bool]


class _Edge(IntEnum):
    FREE = 0
    BOUNDARY = 1
    PROCLITIC = 2


class Vocabulary:
    """All concepts, compiled into one automaton."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        self.concepts = tuple(concepts)
        self.kinds = tuple(concept.kind for concept in concepts)
        self.index = {concept.name: number for number, concept in enumerate(concepts)}
        self._shapes: list[tuple[regex.Pattern[str], int]] = []
        keywords: dict[str, list[int]] = {}
        for number, concept in enumerate(concepts):
            for shape in concept.shapes:
                for keyword in shape.keywords:
                    keywords.setdefault(keyword, []).append(len(self._shapes))
                self._shapes.append((compile_pattern(shape.pattern), number))
        # Per keyword: the shapes that it may be a part of.
        self._tried = list(keywords.values())
        self._keywords = _automaton(list(keywords))
        table: dict[str, dict[tuple[_Edge, _Edge], dict[int, bool]]] = {}
        for number, concept in enumerate(concepts):
            for terms, late in ((concept.terms, False), (concept.late, True)):
                for written in _spellings(terms, misspelt=concept.misspelt):
                    term, left, right = _edges(written)
                    owners = table.setdefault(term, {}).setdefault((left, right), {})
                    owners[number] = owners.get(number, False) or late
        # Per term: the edges it needs and the concepts it stands for; nearly always one of each.
        self._terms = [
            tuple((int(left), int(right), tuple(owners.items())) for (left, right), owners in edges.items())
            for edges in table.values()
        ]
        self._automaton = _automaton(list(table))

    def hits(self, text: str) -> list[Hit]:
        """Give every concept that a text (already bare) speaks of, in the order of the text."""
        found: list[Hit] = []
        if self._automaton is not None:
            framed, terms = f" {text} ", self._terms
            for number, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
                for left, right, owners in terms[number]:
                    # Most terms end amid a word of another meaning.
                    if right and framed[end + 1].isalnum():
                        continue
                    if left:
                        before = framed[start]
                        joined = before.isalnum() or (before > "\u0300" and _is_vowel_sign(before))
                        if joined and not _is_prefixed(left, text, start):
                            continue
                    for owner, late in owners:
                        found.append((start, end, owner, late))
        if self._keywords is not None:
            shown = {
                number for number, _, _ in self._keywords.find_matches_as_indexes(text, overlapping=True)
            }
            for shape in {shape for number in shown for shape in self._tried[number]}:
                pattern, owner = self._shapes[shape]
                found += [(match.start(), match.end(), owner, False) for match in pattern.finditer(text)]
        return sorted(set(found))


def _automaton(terms: list[str]) -> ahocorasick_rs.AhoCorasick | None:
    if not terms:
        return None
    return ahocorasick_rs.AhoCorasick(terms, implementation=ahocorasick_rs.Implementation.DFA)


def _is_vowel_sign(character: str) -> bool:
    """Tell whether a character is part of a word without being a letter, as vowel signs of Indic scripts are."""
    return unicodedata.category(character)[0] == "M"


def _is_prefixed(left: int, text: str, start: int) -> bool:
    return left == _Edge.PROCLITIC and _after_proclitics(text, start)


def _after_proclitics(text: str, start: int) -> bool:
    """Tell whether only prefixes stand between the beginning of the word and `start`."""
    for back in range(1, MAX_PROCLITICS + 1):
        if text[start - back] not in _PROCLITICS:
            return False
        if start == back or not text[start - back - 1].isalnum():
            return True
    return False


def _edges(term: str) -> tuple[str, _Edge, _Edge]:
    plain = bare(term.strip("*")).strip()
    if not plain:
        raise ValueError("a term has at least one letter")
    free_left, free_right = term.startswith("*"), term.endswith("*")
    script = _script(plain)
    if script in _UNSPACED:
        return plain, _Edge.FREE, _Edge.FREE
    if script in _SEMITIC:
        return plain, _Edge.FREE if free_left else _Edge.PROCLITIC, _Edge.FREE
    if script in _ENDINGS:
        return plain, _Edge.BOUNDARY if plain[0].isalnum() and not free_left else _Edge.FREE, _Edge.FREE
    left = _Edge.FREE if free_left or not plain[0].isalnum() else _Edge.BOUNDARY
    right = _Edge.FREE if free_right or not plain[-1].isalnum() else _Edge.BOUNDARY
    return plain, left, right


_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "HANGUL"})
_SEMITIC = frozenset({"ARABIC", "HEBREW"})
_ENDINGS = frozenset(
    {"DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "GUJARATI", "GURMUKHI", "SINHALA"}
)


def _script(term: str) -> str:
    """Name the script of the last letter that is not Latin, or of the last letter."""
    if term.isascii():
        return "LATIN"
    names = [unicodedata.name(letter, "").split(" ", 1)[0] for letter in term if letter.isalpha()]
    others = [name for name in names if name != "LATIN"]
    return (others or names or [""])[-1]


# Words shorter than this have neighbours that are words as well: `send`, `sand`.
MIN_MISSPELT = 6


def _spellings(terms: Iterable[str], *, misspelt: bool) -> Iterable[str]:
    for term in terms:
        yield term
        word = term.strip("*")
        if misspelt and word.isascii() and word.isalpha() and len(word) >= MIN_MISSPELT:
            ending = "*" if term.endswith("*") else ""
            for at in range(1, len(word) - 1):
                yield word[:at] + word[at + 1] + word[at] + word[at + 2 :] + ending
                if len(word) > MIN_MISSPELT + 1:
                    yield word[:at] + word[at + 1 :] + ending
