"""A glance at a JSON document: most hold no secret, and that is told from its values alone, without their places.

The glance asks of every string what the masking asks, and gives up where it is not sure: what it calls clean, the masking
would not change.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from herma.policy.redaction.relation import (
    MAX_ARGUMENTS,
    PAIRED,
    beside,
    labelled,
    labels_of,
    listing,
    number,
    pairs_of,
    tells,
    under,
)
from herma.policy.redaction.work import DOCUMENT, NEW_NAME, STRING, VALUE, Work, passing

if TYPE_CHECKING:
    from herma.policy.redaction.redactor import Found, Redactor

__all__ = ["BATCH_TEXTS", "MAX_NESTED_JSON", "Glance", "Look", "holds_json"]

# `arguments` of a tool call inside a stored transcript inside an event: three layers and one to spare.
MAX_NESTED_JSON: Final = 4
# Documents nested deeper are left to the masking, which keeps a stack of its own.
MAX_LEVELS: Final = 32
# Names of members and constants (`assistant`, `chat.completion`) repeat in every document; what looks drawn does not.
MAX_KNOWN: Final = 4096
# The shortest keyword has two characters; no shorter text is a secret by itself.
MIN_SECRET_CHARS: Final = 2
# `{"a":"b"}` is shorter than any document that holds a secret.
MIN_JSON_CHARS: Final = 10
# So many texts, or characters, are asked about at once; one that is not quiet costs the others a look of their own.
BATCH_TEXTS: Final = 64
BATCH_CHARS: Final = 2048
# What is loud is looked for in so many texts before each is judged.
SMALL_BATCH: Final = 8
# Where a glance takes more of the work than this, the masking goes on, and knows what was judged.
SHARE: Final = 0.75
_CONSTANT: Final = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,39}", re.ASCII)


class _UnsureError(Exception):
    """Only the masking can tell."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    # Of two equal names one value would go unseen.
    if len(members) != len(pairs):
        raise _UnsureError
    return members


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members)


def holds_json(text: str) -> bool:
    """Tell whether a string looks like a JSON document of its own."""
    return text[:1] in {"{", "["} and text.rstrip()[-1:] in {"}", "]"}


@dataclass(slots=True)
class Look:
    """What one look at a document has seen."""

    work: Work
    # Texts that hold a secret, with all that was found in them; nothing where only the masking can tell.
    found: "dict[str, Sequence[Found] | None]" = field(default_factory=dict, repr=False)
    # Texts that hold none.
    judged: set[str] = field(default_factory=set, repr=False)
    dirty: bool = False
    # False when the document was not seen whole.
    sure: bool = True
    told: dict[str, bool] = field(default_factory=dict, repr=False)
    # Looks at documents that stand in strings.
    inner: "dict[str, Look]" = field(default_factory=dict, repr=False)
    # Words of which earlier looks have told that they are none.
    known: Collection[str] = field(default=(), repr=False)
    # What has to be left of the work.
    least: float = 0
    # Texts to be judged, each with the strings that it is made of.
    waiting: list[tuple[str, Sequence[str]]] = field(default_factory=list, repr=False)

    @property
    def clean(self) -> bool:
        """Tell whether the document certainly holds no secret."""
        return self.sure and not self.dirty

    @property
    def spent(self) -> bool:
        """Tell whether the look has taken its share of the work."""
        return self.work.left < self.least

    def quiet(self, text: str) -> bool:
        """Tell whether a text is known to hold no secret by itself."""
        if text in self.found:
            return False
        return self.sure or len(text) < MIN_SECRET_CHARS or text in self.judged or text in self.known


class Glance:
    """Looks at documents with one redactor; it holds no state but the constants that it found to be clean."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor
        self._known: set[str] = set()

    def clean(self, text: str) -> bool:
        """Tell whether a JSON text certainly holds no secret.

        Raises:
            ValueError: the text is no JSON.
            RecursionError: it is nested too deep to be read.
        """
        return self.look(text, 0, Work(len(text))).clean

    def look(self, text: str, depth: int, work: Work) -> Look:
        """Look at a JSON text; `depth` says how many strings it stands in.

        Raises:
            ValueError: the text is no JSON.
            RecursionError: it is nested too deep to be read.
        """
        look = Look(work, known=self._known, least=work.left * (1 - SHARE))
        work.left -= passing(len(text))
        try:
            self._value(_DECODER.decode(text), "", look, depth, 0)
            self._settle(look)
        except _UnsureError:
            look.sure = False
        return look

    def _value(self, value: Any, key: str, look: Look, depth: int, level: int) -> None:
        if isinstance(value, str):
            if self._string(value, key, look, depth):
                look.waiting.append((value, (value,)))
        elif isinstance(value, dict):
            self._object(value, key, look, depth, level + 1)
        elif isinstance(value, list):
            self._array(value, key, look, depth, level + 1)
        elif (
            value is not None
            and self.tells(key, look)
            and number(self._redactor.finder, key, str(value)) is not None
        ):
            look.dirty = True

    def _object(self, members: dict[str, Any], parent: str, look: Look, depth: int, level: int) -> None:
        if level > MAX_LEVELS:
            raise _UnsureError
        texts: list[tuple[str, str]] = []
        for name, value in members.items():
            if name not in self._known and self._string(name, "", look, depth):
                look.waiting.append((name, (name,)))
            self._value(value, name, look, depth, level)
            if isinstance(value, str) and (lower := name.lower()) in PAIRED:
                texts.append((lower, value))
        finder = self._redactor.finder
        for tell, pairs in ((beside, pairs_of(texts)), (labelled, labels_of(texts))):
            for pair in pairs:
                look.work.left -= VALUE
                if look.spent:
                    raise _UnsureError
                look.dirty = look.dirty or any(True for _ in tell(finder, *pair))
        if parent and listing(finder, parent) is not None:
            look.work.left -= VALUE * len(members)
            look.dirty = look.dirty or any(
                True
                for name, value in members.items()
                if isinstance(value, str)
                for _ in under(finder, parent, name, value)
            )

    def _array(self, values: list[Any], key: str, look: Look, depth: int, level: int) -> None:
        if level > MAX_LEVELS:
            raise _UnsureError
        strings = [value for value in values if isinstance(value, str)]
        if not 2 <= len(strings) == len(values) <= MAX_ARGUMENTS:
            look.work.left -= STRING
            for value in values:
                self._value(value, key, look, depth, level)
            return
        kept = [value for value in strings if self._string(value, key, look, depth)]
        look.waiting.append((" ".join(strings), kept))

    def _string(self, text: str, key: str, look: Look, depth: int) -> bool:
        """Look at one string beside its key; tell whether it has to be judged by itself."""
        look.work.left -= STRING
        if look.spent:
            raise _UnsureError
        if self.tells(key, look):
            look.work.left -= VALUE
            look.dirty = look.dirty or any(True for _ in beside(self._redactor.finder, key, text))
        if len(text) < MIN_SECRET_CHARS or text in self._known:
            return False
        if len(text) >= MIN_JSON_CHARS and depth < MAX_NESTED_JSON and holds_json(text):
            look.work.left -= DOCUMENT
            return self._nested(text, look, depth)
        return True

    def tells(self, key: str, look: Look) -> bool:
        """Tell whether a key says anything about what stands beside it; each is asked once in a look."""
        if not key:
            return False
        told = look.told.get(key)
        if told is None:
            look.work.left -= NEW_NAME
            told = look.told[key] = tells(self._redactor.finder, key)
        return told

    def _nested(self, text: str, look: Look, depth: int) -> bool:
        try:
            inner = self.look(text, depth + 1, look.work)
        except (ValueError, RecursionError):
            return True
        if inner.clean:
            look.judged.add(text)
        else:
            look.dirty = True
            look.found[text] = None
            look.inner[text] = inner
        return False

    def _settle(self, look: Look) -> None:
        """Judge what waits: many short texts at a time, and one by one where something is among them."""
        batch: list[tuple[str, Sequence[str]]] = []
        chars = 0
        for one in look.waiting:
            batch.append(one)
            chars += len(one[0])
            if chars > BATCH_CHARS or len(batch) == BATCH_TEXTS:
                self._judge(batch, look)
                batch, chars = [], 0
        if batch:
            self._judge(batch, look)

    def _judge(self, batch: Sequence[tuple[str, Sequence[str]]], look: Look) -> None:
        redactor, work = self._redactor, look.work
        if len(batch) > 1 and redactor.quiet("\n".join([text for text, _ in batch]), work):
            for text, parts in batch:
                self._remember(text)
                look.judged.update(parts)
            return
        if len(batch) > SMALL_BATCH:
            for first in range(0, len(batch), SMALL_BATCH):
                self._judge(batch[first : first + SMALL_BATCH], look)
            return
        for text, parts in batch:
            if len(parts) != 1 or parts[0] is not text:
                look.dirty = bool(redactor.finder.find(text, work)) or look.dirty
            for part in parts:
                found = redactor.found(part, work) if not redactor.quiet(part, work) else ()
                if found:
                    look.dirty = True
                    look.found[part] = found
                else:
                    self._remember(part)
                    look.judged.add(part)
            if look.spent:
                raise _UnsureError

    def _remember(self, text: str) -> None:
        if _CONSTANT.fullmatch(text):
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known.add(text)
