"""What one text says: concepts in order, which of them are negated or only asked about, and where sentences end."""

# ruff: noqa: RUF001 - conjunctions and pronouns of other scripts

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from herma.policy.prompt.means import is_means
from herma.policy.prompt.vocabulary import Hit, Kind, Vocabulary

__all__ = ["Mention", "Reading"]

# A negation reaches the next verb of its clause and those joined to it by "or".
MAX_NEGATION_CHARS: Final = 24
MAX_NEGATION_BACK_CHARS: Final = 48
# What a frame asks about is in its own clause, or in those that only go on with it.
MAX_FRAME_CHARS: Final = 160
MAX_TOPIC_CHARS: Final = 32
# A page of prose of 5,000 characters has some 200 hits, of Chinese 1,500. A text with more is a list of words, which no rule
# can judge: it is `crowded`, and whoever reads it refuses.
MAX_HITS: Final = 4000

# A mark that ends a sentence wherever it stands, or one that does so before a blank.
_SENTENCE = re.compile(r"[.!?؟।。！？；\n](?:(?<=[。！？；\n])|(?=[\s\"')\]]|$))")
# "do not, under any circumstances, tell": what stands between commas is passed over.
_INSERTED = re.compile(r",[^,.;:]{3,40}, ?")
MAX_INSERTED_CHARS: Final = 48
_CLAUSE = re.compile(r"[,;:،、，：；()]| - ")
_CLAUSE_END = re.compile(r"[,;:.!?()\n]| - | (?:and|from|to|in|into|at|on) ")
# What a conjunction joins is another thing to do.
_AND = re.compile(
    r"(?<!\w)(?:and|then|but|und|aber|y|et|mais|e|en|maar|i|ale|и|но|та|але|ve|dan|va|och|og|ja)(?!\w)"
)
_OR = re.compile(
    r"^[^;:.]{0,12}(?:\bor\b|\bnor\b|/|\boder\b|\bou\b|\bo\b|\bof\b|\bили\b|\bабо\b|\bveya\b|\blub\b|\bani\b|\bni\b)"
)
# The beginning of a clause of its own: an imperative here is an order again, whatever the clause before asked.
_HEAD = re.compile(
    r"(?:^|[,;:،、，：；&|>)\n-]|[^\w](?:and|then|also|next|instead|und|dann|danach|anschliessend|y|luego|despues|et|puis"
    r"|ensuite|e|poi|quindi|depois|entao|ve|sonra|ardindan|en|daarna|i|oraz|potem|nastepnie|и|затем|потом|та|і|потім|و"
    r"|ثم|سپس|بعد|וגם|ואז|और|फिर|va|roi|sau do|dan|lalu|kemudian|och|sedan|og|ja|sitten|a|pak|si|apoi|και|μετα))"
    r"[\s\"']*(?:please\s|bitte\s)?$"
)
# Before these a word is a noun: `the copy in git`, `any change`.
_BEFORE_NOUNS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "any",
        "each",
        "every",
        "this",
        "no",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "some",
        "last",
        "latest",
        "next",
        "of",
        "per",
        "which",
        "la",
        "le",
        "les",
        "el",
        "los",
        "las",
        "un",
        "une",
        "una",
        "des",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "ein",
        "eine",
        "einen",
        "il",
        "lo",
        "gli",
        "het",
        "een",
        "de",
        "du",
        "da",
        "os",
        "as",
        "weekly",
        "daily",
        "nightly",
        "monthly",
        "new",
        "old",
        "failed",
        "successful",
        "git",
    ]
)
MAX_WORD_BEFORE: Final = 12
# The rest of a word whose stem alone would be an imperative: `configured`, `Umleitung`.
_PARTICIPLE = re.compile(r"[a-z]{0,6}(?:ed|ing|ings|tion|tions|ment|ments|ung|ungen)(?![a-z])|d(?![a-z])")
# The object was named before: `take the keys and send them to`, `envíalo`.
_PRONOUN = re.compile(
    r"\s(?:the\s)?(?:output|results?|contents?|archive|dump|copy|copies)\b"
    r"|\s(?:it|them|that|this|those|these|everything|all|sie|es|ihn|diese|alles|ze|het|je|их|его|ее|все|їх|його|усе|nya|chung|no)\b"
    r"|\w{0,3}(?:l[oaei]s?)\b|-l(?:e|a|es)\b|-(?:os|as|o|a)\b|-?(?:nya|ها|ه|هم)\b"
)

# A test that has nobody else as its subject.
_TRIED = re.compile(
    r"(?:\b(?:check|test|verify|confirm|see|ensure|make sure|find out|try)(?: that| if| whether)?"
    r"|\b(?:prufe|uberprufe|teste|kontrolliere|pruf)(?: mal)?,? ob|\b(?:verifie|teste) (?:que|si)"
    r"|\b(?:comprueba|verifica|prueba) (?:que|si)|\b(?:controlla|verifica) (?:che|se)|\b(?:проверь|перевір),? (?:что|ли|чи|що))"
    r"(?: the (?:command|call|line|pipeline|script))?[\s:`'\"]*$"
)
MAX_TRIED_CHARS: Final = 60

# Chinese may put the object first, behind one of these.
_FRONTING: Final = ("把", "将")
MAX_FRONTED_CHARS: Final = 24

_PRONOUNS: Final = (" it", " them", " that", " sie", " es", "-les", "-la", "-le")


class Mention(NamedTuple):
    """One hit with what the sentence makes of it; `loose` where the object may stand before it."""

    start: int
    end: int
    sentence: int
    negated: bool
    reported: bool
    loose: bool


class Reading:
    """A text read against a vocabulary; `crowded` if it holds more words of it than can be judged."""

    def __init__(self, vocabulary: Vocabulary, text: str) -> None:
        self.text = text
        self.mentions: dict[int, list[Mention]] = {}
        self.present = 0
        self.crowded = False
        self._ends: list[int] | None = None
        kinds = vocabulary.kinds
        found = vocabulary.hits(text)
        if len(found) > MAX_HITS:
            self.crowded = True
            found = []
        hits = _unmasked(text, found, kinds)
        verbs, nouns = _verbs(text, hits, kinds)
        negated = _negated(text, hits, verbs, kinds)
        self._frames = [hit for hit in hits if kinds[hit[2]] is Kind.FRAME]
        reported = self._reported(hits, verbs, kinds)
        self._live = [verb[0] for verb in verbs if verb[0] not in reported]
        spoken = _spoken(text, hits, kinds)
        mentions = self.mentions
        last, ends, sentence, loosely = -1, -1, 0, False
        fronting = any(sign in text for sign in _FRONTING)
        for start, end, concept, late in hits:
            kind = kinds[concept]
            loose = late
            if start != last:
                # Most words stand for several concepts.
                last, sentence, ends = start, self.sentence(start), -1
            if kind is Kind.INTENT:
                if (start, end) in nouns and not late:
                    continue
                if end != ends:
                    ends = end
                    loosely = (
                        text.endswith(_PRONOUNS, start, end)
                        or _PRONOUN.match(text, end) is not None
                        or (fronting and _is_fronted(text, start))
                    )
                loose = late or loosely
            elif kind is Kind.OBJECT and start in spoken:
                continue
            mention = Mention(start, end, sentence, start in negated, start in reported, loose)
            told = mentions.get(concept)
            if told is None:
                mentions[concept] = [mention]
            else:
                told.append(mention)
        for concept in mentions:
            self.present |= 1 << concept

    def sentence(self, at: int) -> int:
        """Tell which sentence a place lies in."""
        if self._ends is None:
            self._ends = [match.end() for match in _SENTENCE.finditer(self.text)]
        return bisect_right(self._ends, at)

    def reports(self, at: int) -> bool:
        """Tell whether what begins at a place is only looked for: a frame is before it, and no order between them.

        Whoever is to check whether a command works has to run it: then it is not only looked for.
        """
        if _TRIED.search(self.text, max(0, at - MAX_TRIED_CHARS), at):
            return False
        sentence = self.sentence(at)
        for frame in reversed(self._frames):
            if frame[0] < at and at - frame[1] <= MAX_FRAME_CHARS:
                if self.sentence(frame[0]) != sentence or ";" in self.text[frame[1] : at]:
                    return False
                first = bisect_right(self._live, frame[1] - 1)
                return first >= len(self._live) or self._live[first] >= at
        return False

    def orders(self, at: int) -> bool:
        """Tell whether something is to be done behind a place, in its sentence."""
        first = bisect_right(self._live, at)
        return first < len(self._live) and self.sentence(self._live[first]) == self.sentence(at)

    def _reported(self, hits: list[Hit], verbs: list[Hit], kinds: tuple[Kind, ...]) -> set[int]:
        found: set[int] = set()
        for hit in hits:
            kind = kinds[hit[2]]
            if kind is Kind.FRAME:
                self._frame(hit, verbs, found)
            elif kind is Kind.FRAME_AFTER:
                at = bisect_right(verbs, (hit[0], hit[0], 0, False))
                sentence = self.sentence(hit[0])
                for verb in reversed(verbs[:at]):
                    if hit[0] - verb[1] > MAX_NEGATION_BACK_CHARS or self.sentence(verb[0]) != sentence:
                        break
                    found.add(verb[0])
        return found

    def _frame(self, frame: Hit, verbs: list[Hit], found: set[int]) -> None:
        at = bisect_right(verbs, (frame[0], frame[0], 0, False))
        sentence = self.sentence(frame[0])
        # What a frame quotes ends with the quotation.
        quoted = self.text.find('"', frame[1]) if self.text[frame[1] - 1] == '"' else -1
        for verb in verbs[at:]:
            if verb[0] - frame[1] > MAX_FRAME_CHARS or self.sentence(verb[0]) != sentence:
                return
            if quoted >= 0:
                if verb[0] > quoted:
                    return
            elif verb[0] >= frame[1] and (
                _HEAD.search(self.text, max(frame[1], verb[0] - 24), verb[0])
                or is_means(self.text, frame[0], verb[0])
            ):
                return
            found.add(verb[0])


def _verbs(text: str, hits: list[Hit], kinds: tuple[Kind, ...]) -> tuple[list[Hit], set[tuple[int, int]]]:
    """Part intents that are verbs from words that only look like them."""
    verbs: list[Hit] = []
    nouns: dict[tuple[int, int], bool] = {}
    for hit in hits:
        if kinds[hit[2]] is Kind.INTENT:
            place = (hit[0], hit[1])
            noun = nouns.get(place)
            if noun is None:
                noun = nouns[place] = _is_noun(text, hit[0], hit[1])
            if hit[3] or not noun:
                verbs.append(hit)
    return verbs, {place for place, noun in nouns.items() if noun}


def _spoken(text: str, hits: list[Hit], kinds: tuple[Kind, ...]) -> set[int]:
    """Give the places of objects that are only spoken of."""
    found: set[int] = set()
    for number, topic in enumerate(hits):
        if kinds[topic[2]] is not Kind.TOPIC:
            continue
        clause = _CLAUSE_END.search(text, topic[1], topic[1] + MAX_TOPIC_CHARS)
        end = clause.start() if clause else topic[1] + MAX_TOPIC_CHARS
        for hit in hits[number + 1 :]:
            if hit[0] > end:
                break
            if hit[0] >= topic[1] and kinds[hit[2]] is Kind.OBJECT:
                found.add(hit[0])
    return found


def _is_fronted(text: str, start: int) -> bool:
    """Tell whether what a Chinese verb is done to stands before it, in its clause."""
    before = text[max(0, start - MAX_FRONTED_CHARS) : start]
    at = max(map(before.rfind, _FRONTING))
    return at >= 0 and _CLAUSE.search(before, at) is None and _SENTENCE.search(before, at) is None


def _is_noun(text: str, start: int, end: int) -> bool:
    """Tell whether a word that could be an imperative is a noun or a participle here."""
    if end < len(text) and text[end].isalpha() and _PARTICIPLE.match(text, end):
        return True
    if start < 2 or text[start - 1] != " ":
        return False
    before = text[max(0, start - MAX_WORD_BEFORE) : start - 1].rpartition(" ")[2].rpartition("\n")[2]
    return before in _BEFORE_NOUNS


def _unmasked(text: str, hits: list[Hit], kinds: tuple[Kind, ...]) -> list[Hit]:
    """Drop what stands inside a mask, and the masks; what is exactly as long as its mask stays."""
    masks = [(hit[0], hit[1], _word_end(text, hit[1])) for hit in hits if kinds[hit[2]] is Kind.MASK]
    if not masks:
        return hits
    kept: list[Hit] = []
    starts = [mask[0] for mask in masks]
    for hit in hits:
        if kinds[hit[2]] is Kind.MASK:
            continue
        last = bisect_right(starts, hit[0])
        if not any(
            end >= hit[1] and (start, written) != hit[:2]
            for start, written, end in masks[max(0, last - MAX_NESTED_MASKS) : last]
        ):
            kept.append(hit)
    return kept


def _word_end(text: str, at: int) -> int:
    """Give the end of the word that goes on at a place; a stem covers its ending."""
    while at < len(text) and text[at].isalnum():
        at += 1
    return at


# Masks that begin before a place and may still cover it; they are a few words long.
MAX_NESTED_MASKS: Final = 8


def _negated(text: str, hits: list[Hit], verbs: list[Hit], kinds: tuple[Kind, ...]) -> set[int]:
    found: set[int] = set()
    for hit in hits:
        kind = kinds[hit[2]]
        if kind is Kind.NEGATION:
            _negate_after(text, hit, verbs, found)
        elif kind is Kind.NEGATION_AFTER:
            at = bisect_right(verbs, (hit[0], hit[0], 0, False))
            for verb in reversed(verbs[:at]):
                between = text[verb[1] : hit[0]]
                if len(between) > MAX_NEGATION_BACK_CHARS or _CLAUSE.search(between) or ". " in between:
                    break
                found.add(verb[0])
                break
    return found


def _negate_after(text: str, negation: Hit, verbs: list[Hit], found: set[int]) -> None:
    at = bisect_right(verbs, (negation[1] - 1, negation[1], 1 << 30, True))
    end, last = negation[1], -1
    for verb in verbs[at:]:
        if verb[0] == last:
            continue
        between = text[end : verb[0]]
        if len(between) > (MAX_INSERTED_CHARS if between.startswith(",") else MAX_NEGATION_CHARS):
            return
        if last < 0 and _CLAUSE.search(between) and not _INSERTED.fullmatch(between):
            return
        if last < 0 and (_AND.search(between) or _SENTENCE.search(between)):
            return
        if last >= 0 and not _OR.search(between):
            return
        found.add(verb[0])
        last, end = verb[0], verb[1]
