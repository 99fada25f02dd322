"""Secrets in JSON: strings are rewritten in place, everything else keeps its bytes.

A string is judged with what stands beside it: its key (`"password": "x"`), the name of a name-value pair (`{"name": "TOKEN",
"value": "x"}`), the arguments before it (`["--token", "x"]`). A string that holds JSON is taken apart in turn.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from herma.policy.decision import Finding
from herma.policy.redaction.charset import wide_encoding
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.glance import MAX_NESTED_JSON, Look, holds_json
from herma.policy.redaction.hit import UNJUDGED_ID, Hit
from herma.policy.redaction.relation import (
    MAX_ARGUMENTS,
    beside,
    labelled,
    labels_of,
    number,
    pairs_of,
    under,
)
from herma.policy.redaction.work import DOCUMENT_UNITS, TOKEN_UNITS, VALUE, Work

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

MARK: Final = "\ufeff"
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


class Rewritten(NamedTuple):
    """What stands in place of a string's characters, or of a number."""

    start: int
    end: int
    written: str
    findings: tuple[Finding, ...]
    pointer: str


@dataclass(slots=True)
class _Frame:
    """One open object or array."""

    pointer: str
    array: bool
    key: str = ""
    parent: str = ""
    index: int = 0
    strings: list[Piece] = field(default_factory=list)
    plain: bool = True


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
    redactor: "Redactor", text: str, depth: int = 0, work: Work | None = None
) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in a JSON text; the same object comes back when nothing was found.

    When the work is spent, what is left of the text is not known: a string that says so stands for the whole of it.
    """
    work = Work(len(text), DOCUMENT_UNITS) if work is None else work
    try:
        look = redactor.glance.look(text, depth, work)
    except (ValueError, RecursionError):
        redacted = redactor.text(text, work=work)
        return redacted.text, redacted.findings
    if look.clean:
        return text, ()
    edits = rewrites(redactor, text, look, depth)
    if work.spent:
        return unjudged_document(redactor, text), (Finding(UNJUDGED_ID),)
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (text[done : edit.start], edit.written)
        done = edit.end
    parts.append(text[done:])
    findings = tuple(finding for edit in edits for finding in edit.findings)
    return ("".join(parts), findings) if findings else (text, ())


def unjudged_document(redactor: "Redactor", text: str) -> str:
    """Write what stands for a document that would have taken too long to judge: a JSON string."""
    return json.dumps(redactor.stand_in(UNJUDGED_ID, text))


def rewrites(
    redactor: "Redactor", text: str, look: Look, depth: int = 0, but: Collection[tuple[int, int]] = ()
) -> list[Rewritten]:
    """Say which strings and numbers of a JSON text change, in order; nothing is complete once the work is spent.

    The strings whose places are in `but` are somebody else's business.
    """
    found: list[Rewritten] = []
    for piece in sorted(strings(text, redactor.finder, look.work), key=_place):
        if look.work.spent:
            break
        if (piece.start, piece.end) in but:
            continue
        new, findings = redact_string(redactor, piece, depth, look)
        if findings:
            written = literal(new, text[piece.start : piece.end])
            found.append(
                Rewritten(
                    piece.start,
                    piece.end,
                    f'"{written}"' if piece.number else written,
                    findings,
                    piece.pointer,
                )
            )
    return found


def _place(piece: Piece) -> int:
    return piece.start


def redact_string(
    redactor: "Redactor", string: Piece, depth: int, look: Look
) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in one string, in the light of what stands beside it and of what the look has seen."""
    text, work = string.text, look.work
    quiet = look.sure and text not in look.found
    if not quiet and depth < MAX_NESTED_JSON and not string.known and holds_json(text):
        inner, found = redact_json_text(redactor, text, depth + 1, work)
        if found:
            return inner, tuple(Finding(f.rule_id, f.level, string.pointer, f.attack) for f in found)
    known = (
        [
            *beside(redactor.finder, string.key, text),
            *under(redactor.finder, string.parent, string.key, text),
            *string.known,
        ]
        if not string.number
        else string.known
    )
    if quiet and not known:
        return text, ()
    edits = redactor.edits(text, known, work)
    if not edits:
        return text, ()
    return redactor.applied(text, edits), redactor.findings(edits, string.pointer)


def literal(text: str, before: str) -> str:
    """Write a string as JSON, in ASCII if it was."""
    ascii_only = before.isascii() or any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def strings(text: str, finder: Finder | None, work: Work | None = None) -> Iterator[Piece]:
    """Yield every string of a valid JSON text, keys included, with what its surroundings tell; numbers that are credentials too.

    It ends early when the work is spent.
    """
    work = Work(len(text)) if work is None else work
    stack = [_Frame("", array=True, plain=False)]
    pending = Piece(0, 0, "", "")
    for found in TOKEN.finditer(text):
        sign = found.group()
        frame = stack[-1]
        work.left -= TOKEN_UNITS
        if finder is not None and work.spent:
            return
        match sign[0]:
            case "{" | "[":
                frame.plain = False
                key = frame.key if frame.array else ""
                stack.append(_Frame(_child(frame, len(stack)), sign == "[", key, parent=frame.key))
                if sign == "[":
                    stack[-1].key = frame.key
            case "}" | "]":
                if finder is not None:
                    _relate(frame, finder, work)
                yield from frame.strings
                stack.pop()
            case ":":
                # The string before a colon is a key: it is judged by itself, and says what follows.
                pending.key, pending.parent, pending.is_key = "", "", True
                frame.key = pending.text
                pending.pointer = _child(frame, len(stack))
            case ",":
                frame.index += 1
            case '"':
                literal = text[found.start() + 1 : found.end() - 1]
                value = json.loads(sign) if "\\" in literal else literal
                pending = Piece(
                    found.start() + 1, found.end() - 1, value, _child(frame, len(stack)), frame.key
                )
                pending.parent = frame.parent if not frame.array else ""
                frame.strings.append(pending)
            case _:
                frame.plain = False
                told = number(finder, frame.key, sign) if finder is not None and frame.key else None
                if told is not None:
                    frame.strings.append(
                        Piece(
                            found.start(),
                            found.end(),
                            sign,
                            _child(frame, len(stack)),
                            frame.key,
                            [told],
                            number=True,
                        )
                    )
    yield from stack[0].strings


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
        if frame.plain and 2 <= len(frame.strings) <= MAX_ARGUMENTS:
            _arguments(frame.strings, finder, work)
        return
    members = [(string.key.lower(), string) for string in frame.strings if string.key]
    for tell, pairs in ((beside, pairs_of(members)), (labelled, labels_of(members))):
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
