"""Secrets in JSON: strings are rewritten in place, everything else keeps its bytes.

A string is judged with what stands beside it: its key (`"password": "x"`), the name of a name-value pair (`{"name": "TOKEN",
"value": "x"}`), the arguments before it (`["--token", "x"]`). A string that holds JSON is taken apart in turn. When the work is
spent, what was judged stays so, and the strings that were not reached are masked; the document keeps its structure.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import batched
from typing import TYPE_CHECKING, Final

from herma.policy.decision import Finding
from herma.policy.redaction.charset import wide_encoding
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.glance import BATCH_TEXTS, MAX_NESTED_JSON, Look, holds_json
from herma.policy.redaction.hit import UNJUDGED_ID, Hit
from herma.policy.redaction.relation import (
    MAX_ARGUMENTS,
    PAIRED,
    TOLD,
    beside,
    labelled,
    labels_of,
    number,
    pairs_of,
    under,
)
from herma.policy.redaction.rewritten import Rewritten, with_copies
from herma.policy.redaction.unreached import masked_unread
from herma.policy.redaction.work import (
    DOCUMENT_UNITS,
    DOCUMENT_UNITS_PER_CHAR,
    HIT,
    NEW_NAME,
    TOKEN_UNITS,
    VALUE,
    Work,
)

if TYPE_CHECKING:
    from herma.policy.redaction.redactor import Redactor

__all__ = [
    "TOKEN",
    "Piece",
    "Rewritten",
    "literal",
    "redact_json",
    "redact_json_text",
    "redact_string",
    "rewrites",
    "spans",
    "strings",
    "unjudged_document",
]

# An object has one value or a few that its names tell of. One of so many equal keys is not read on, nor what follows.
MAX_TOLD: Final = 64
MARK: Final = "\ufeff"
# A name with its colon, a string, a bracket, or whatever else is a value.
_LEAF: Final = re.compile(r'"(?:[^"\\]|\\.)*+"(?:\s*:)?|[{}\[\]]|[^\s"{}\[\]:,]++')
TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s"{}\[\]:,]++')


@dataclass(slots=True)
class Piece:
    """One string: where its characters stand, what they mean, and where it stands in the document."""

    start: int
    end: int
    text: str = field(repr=False)
    pointer: str
    key: str = ""
    known: list[Hit] = field(default_factory=list)
    # The name of the object that it is a member of.
    parent: str = ""
    is_key: bool = False
    # A number that is a credential: it has no quotes, and the string that stands for it needs some.
    number: bool = False
    # A part of the document, of one or many strings with their quotes, that is masked unread for want of work.
    unread: bool = False

    def as_unread(self) -> "Piece":
        """Give the part of the document that is this string."""
        return Piece(self.start - 1, self.end + 1, "", self.pointer, unread=True)


@dataclass(slots=True)
class _Frame:
    """One open object or array."""

    pointer: str
    array: bool
    key: str = ""
    parent: str = ""
    index: int = 0
    # Strings about which others in the same object or array may say something.
    waiting: list[Piece] = field(default_factory=list)
    # Members that may say something about each other, by their keys in lower case.
    members: list[tuple[str, Piece]] = field(default_factory=list)
    # An array of strings, which may be a command line.
    plain: bool = True

    def settled(self) -> list[Piece]:
        """Take the strings about which nothing more may be said."""
        settled, self.waiting = self.waiting, []
        return settled


def redact_json(redactor: "Redactor", raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
    """Mask secrets in a JSON text; malformed JSON is masked as text.

    What is written in two or four bytes a character is judged and written so again; what cannot be read so is masked whole.
    """
    encoding = wide_encoding(raw)
    if encoding:
        return _wide(redactor, raw, encoding)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _as_text(redactor, raw)
    changed, findings = redact_json_text(redactor, text)
    return (raw if changed is text else changed.encode("utf-8"), findings)


def _wide(redactor: "Redactor", raw: bytes, encoding: str) -> tuple[bytes, tuple[Finding, ...]]:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        stand_in = json.dumps(redactor.stand_in(UNJUDGED_ID, raw.decode("latin-1")))
        return stand_in.encode(), (Finding(UNJUDGED_ID),)
    body = text.removeprefix(MARK)
    changed, findings = redact_json_text(redactor, body)
    return (f"{text[: len(text) - len(body)]}{changed}".encode(encoding) if findings else raw), findings


def _as_text(redactor: "Redactor", raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
    redacted = redactor.text(raw.decode("utf-8", "surrogateescape"))
    return (redacted.text.encode("utf-8", "surrogateescape") if redacted.findings else raw), redacted.findings


def redact_json_text(
    redactor: "Redactor", text: str, depth: int = 0, work: Work | None = None, look: Look | None = None
) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in a JSON text, at which somebody may have looked; the same object comes back when nothing was found."""
    work = Work(len(text), DOCUMENT_UNITS, DOCUMENT_UNITS_PER_CHAR) if work is None else work
    try:
        look = redactor.glance.look(text, depth, work) if look is None else look
    except (ValueError, RecursionError):
        redacted = redactor.text(text, work=work)
        return redacted.text, redacted.findings
    if look.clean:
        return text, ()
    edits = rewrites(redactor, text, look, depth)
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (text[done : edit.start], edit.written)
        done = edit.end
    parts.append(text[done:])
    findings = tuple(finding for edit in edits for finding in edit.findings)
    return ("".join(parts), findings) if findings else (text, ())


def unjudged_document(redactor: "Redactor", text: str) -> str:
    """Write what stands for a document of which nothing is to be left: a JSON string."""
    return json.dumps(redactor.stand_in(UNJUDGED_ID, text))


def rewrites(
    redactor: "Redactor", text: str, look: Look, depth: int = 0, but: Collection[tuple[int, int]] = ()
) -> list[Rewritten]:
    """Say which strings and numbers of a JSON text change, in order; what was not reached within the work changes whole.

    The strings whose places are in `but` are somebody else's business.
    """
    found: list[Rewritten] = []
    for piece in _judged_together(redactor, strings(text, redactor.finder, look.work), look):
        if piece.unread:
            # What tells of names whether they are quiet costs a pass or two, however many there are.
            quiet = partial(redactor.quiet, work=Work(len(text)))
            part = masked_unread(text[piece.start : piece.end], quiet, redactor.unjudged)
            unjudged = (Finding(UNJUDGED_ID, place=piece.pointer),)
            found.append(Rewritten(piece.start, piece.end, part, unjudged, piece.pointer))
            continue
        if (piece.start, piece.end) in but:
            continue
        new, findings = redact_string(redactor, piece, depth, look)
        if findings:
            written = literal(new, text[piece.start : piece.end])
            written = f'"{written}"' if piece.number else written
            found.append(Rewritten(piece.start, piece.end, written, findings, piece.pointer))
    if depth == 0 and look.work.masked:
        found = with_copies(text, found, look.work.masked, but)
    return sorted(found, key=_place)


def _judged_together(redactor: "Redactor", pieces: Iterator[Piece], look: Look) -> Iterator[Piece]:
    """Give the strings on; of many that the look has not judged, tell at once that no one is loud."""
    for batch in batched(pieces, BATCH_TEXTS):
        texts = [piece.text for piece in batch if not look.quiet(piece.text)]
        if len(texts) > 1 and redactor.quiet("\n".join(texts), look.work):
            look.judged.update(texts)
        yield from batch


def _place(change: Rewritten) -> int:
    return change.start


def redact_string(
    redactor: "Redactor", string: Piece, depth: int, look: Look
) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in one string, in the light of what stands beside it and of what the look has seen."""
    text, work = string.text, look.work
    quiet = look.quiet(text)
    if not quiet and depth < MAX_NESTED_JSON and not string.known and holds_json(text):
        inner, told = redact_json_text(redactor, text, depth + 1, work, look.inner.get(text))
        if told:
            return inner, tuple(Finding(f.rule_id, f.level, string.pointer, f.attack) for f in told)
    known = list(string.known)
    if not string.number and text:
        if redactor.glance.tells(string.key, look):
            work.left -= VALUE
            known.extend(beside(redactor.finder, string.key, text))
        if string.parent:
            known.extend(under(redactor.finder, string.parent, string.key, text))
    if quiet and not known:
        return text, ()
    work.left -= HIT * len(known)
    found = look.found.get(text)
    if found is not None:
        # It was found once, and is masked wherever it stands.
        work.left -= HIT * len(found)
    else:
        found = () if quiet else redactor.found(text, work)
        if not found:
            look.judged.add(text)
    secrets = redactor.masking(found, known)
    if not secrets:
        return text, ()
    redactor.note(text, secrets, work)
    edits = [edit for secret in secrets for edit in secret]
    return redactor.applied(text, edits), redactor.findings(edits, string.pointer)


def literal(text: str, before: str) -> str:
    """Write a string as JSON, in ASCII if it was."""
    ascii_only = before.isascii() or any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def strings(text: str, finder: Finder | None, work: Work | None = None) -> Iterator[Piece]:
    """Yield every string of a valid JSON text, keys included, with what its surroundings tell; numbers that are credentials too.

    A string comes as soon as nothing more may be said about it. When the work is spent, the strings that still wait and the rest
    of the text come as `unread`.
    """
    work = Work(len(text)) if work is None else work
    stack = [_Frame("", array=True, plain=False)]
    for found in _LEAF.finditer(text):
        sign, start = found.group(), found.start()
        frame = stack[-1]
        if finder is not None:
            work.left -= TOKEN_UNITS
            if work.left < 0:
                yield from _unread(text, stack, start)
                return
        first = sign[0]
        if first == '"':
            if sign[-1] == ":":
                # A key: it is judged by itself, and says what follows.
                sign = sign[: sign.rindex('"') + 1]
                frame.key = _meaning(sign)
                yield Piece(
                    start + 1, start + len(sign) - 1, frame.key, _child(frame, len(stack)), is_key=True
                )
                continue
            piece = Piece(
                start + 1, start + len(sign) - 1, _meaning(sign), _child(frame, len(stack)), frame.key
            )
            if frame.array:
                frame.index += 1
                if finder is None or not frame.plain:
                    yield piece
                    continue
                frame.waiting.append(piece)
                if len(frame.waiting) > MAX_ARGUMENTS:
                    frame.plain = False
                    yield from frame.settled()
                continue
            piece.parent = frame.parent
            lower = frame.key.lower()
            if lower in TOLD and len(frame.waiting) == MAX_TOLD and finder is not None:
                work.left = min(work.left, -1)
                yield from _unread(text, stack, start)
                return
            if lower in PAIRED:
                frame.members.append((lower, piece))
            if lower in TOLD and finder is not None:
                frame.waiting.append(piece)
            else:
                yield piece
        elif first in "}]":
            stack.pop()
            if finder is not None and frame.waiting:
                _relate(frame, finder, work)
                if work.spent:
                    yield from _unread(text, [*stack, frame], start)
                    return
                yield from frame.settled()
        else:
            if frame.array and frame.plain:
                frame.plain = False
                yield from frame.settled()
            place = _child(frame, len(stack))
            frame.index += 1
            if first in "{[":
                inner = _Frame(
                    place, first == "[", frame.key if frame.array or first == "[" else "", frame.key
                )
                stack.append(inner)
            elif finder is not None and (told := _told(frame, finder, sign, work)) is not None:
                yield Piece(start, found.end(), sign, place, frame.key, [told], number=True)


def _told(frame: _Frame, finder: Finder, sign: str, work: Work) -> Hit | None:
    if not frame.key or not sign.isdigit():
        return None
    work.left -= NEW_NAME
    return number(finder, frame.key, sign)


def _meaning(sign: str) -> str:
    meaning: str = json.loads(sign) if "\\" in sign else sign[1:-1]
    return meaning


def _unread(text: str, stack: Sequence[_Frame], stop: int) -> Iterator[Piece]:
    """Give what is not known of a text when the work is spent at `stop`: strings that wait for others, and all that follows."""
    for frame in stack:
        for piece in frame.settled():
            yield piece.as_unread()
    yield Piece(stop, len(text), "", "", unread=True)


def spans(text: str) -> dict[str, tuple[int, int]]:
    """Map the JSON Pointer of every string value of a valid JSON text to the place of its characters."""
    return {piece.pointer: (piece.start, piece.end) for piece in strings(text, None) if not piece.is_key}


def _child(frame: _Frame, depth: int) -> str:
    if depth == 1:
        return ""
    step = str(frame.index) if frame.array else frame.key.replace("~", "~0").replace("/", "~1")
    return f"{frame.pointer}/{step}"


def _relate(frame: _Frame, finder: Finder, work: Work) -> None:
    """Let the strings of one object or array say something about each other."""
    if frame.array:
        if len(frame.waiting) > 1:
            _arguments(frame.waiting, finder, work)
        return
    for tell, pairs in ((beside, pairs_of(frame.members)), (labelled, labels_of(frame.members))):
        for name, value in pairs:
            work.left -= VALUE
            if work.spent:
                return
            value.known.extend(tell(finder, name.text, value.text))


def _arguments(strings: Sequence[Piece], finder: Finder, work: Work) -> None:
    """Read an array of strings as a command line."""
    joined = " ".join(string.text for string in strings)
    starts: list[int] = []
    at = 0
    for string in strings:
        starts.append(at)
        at += len(string.text) + 1
    for hit in finder.find(joined, work):
        for string, start in zip(strings, starts, strict=True):
            first, last = max(hit.start - start, 0), min(hit.end - start, len(string.text))
            if first < last:
                string.known.append(Hit(first, last, hit.rule_id, hit.value, hit.certainty))
