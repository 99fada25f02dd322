"""Secrets in JSON: strings are rewritten in place, everything else keeps its bytes.

A string is judged with what stands beside it: its key (`"password": "x"`), the name of a name-value pair (`{"name": "TOKEN",
"value": "x"}`), the arguments before it (`["--token", "x"]`). A string that holds JSON is taken apart in turn.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herma.policy.decision import Finding
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.glance import MAX_NESTED_JSON, holds_json
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.relation import MAX_ARGUMENTS, beside, pair_of

if TYPE_CHECKING:
    from herma.policy.redaction.redactor import Redactor

__all__ = [
    "TOKEN",
    "Piece",
    "literal",
    "redact_json",
    "redact_json_text",
    "redact_string",
    "spans",
    "strings",
]

TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s"{}\[\]:,]++')


@dataclass(slots=True)
class Piece:
    """One string: where its characters stand, what they mean, and where it stands in the document."""

    start: int
    end: int
    text: str
    pointer: str
    key: str = ""
    known: list[Hit] = field(default_factory=list)
    is_key: bool = False


@dataclass(slots=True)
class _Frame:
    """One open object or array."""

    pointer: str
    array: bool
    key: str = ""
    index: int = 0
    strings: list[Piece] = field(default_factory=list)
    plain: bool = True


def redact_json(redactor: "Redactor", raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
    """Mask secrets in a JSON text; malformed JSON is masked as text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _as_text(redactor, raw)
    changed, findings = redact_json_text(redactor, text)
    return (raw if changed is text else changed.encode("utf-8"), findings)


def _as_text(redactor: "Redactor", raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
    redacted = redactor.text(raw.decode("utf-8", "surrogateescape"))
    return (redacted.text.encode("utf-8", "surrogateescape") if redacted.findings else raw), redacted.findings


def redact_json_text(redactor: "Redactor", text: str, depth: int = 0) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in a JSON text; the same object comes back when nothing was found."""
    try:
        if redactor.glance.clean(text, depth):
            return text, ()
    except (ValueError, RecursionError):
        redacted = redactor.text(text)
        return redacted.text, redacted.findings
    parts: list[str] = []
    findings: list[Finding] = []
    done = 0
    for string in sorted(strings(text, redactor.finder), key=lambda string: string.start):
        new, found = redact_string(redactor, string, depth)
        if found:
            parts += (text[done : string.start], literal(new, text[string.start : string.end]))
            done = string.end
            findings.extend(found)
    if not findings:
        return text, ()
    parts.append(text[done:])
    return "".join(parts), tuple(findings)


def redact_string(redactor: "Redactor", string: Piece, depth: int) -> tuple[str, tuple[Finding, ...]]:
    """Mask secrets in one string, in the light of what stands beside it."""
    text = string.text
    if depth < MAX_NESTED_JSON and not string.known and holds_json(text):
        inner, found = redact_json_text(redactor, text, depth + 1)
        return inner, tuple(Finding(f.rule_id, f.level, string.pointer, f.attack) for f in found)
    edits = redactor.edits(text, [*beside(redactor.finder, string.key, text), *string.known])
    if not edits:
        return text, ()
    return redactor.applied(text, edits), redactor.findings(edits, string.pointer)


def literal(text: str, before: str) -> str:
    """Write a string as JSON, in ASCII if it was."""
    ascii_only = before.isascii() or any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def strings(text: str, finder: Finder | None) -> Iterator[Piece]:
    """Yield every string of a valid JSON text, keys included, with what its surroundings tell."""
    stack = [_Frame("", array=True, plain=False)]
    pending = Piece(0, 0, "", "")
    for found in TOKEN.finditer(text):
        sign = found.group()
        frame = stack[-1]
        match sign[0]:
            case "{" | "[":
                frame.plain = False
                stack.append(_Frame(_child(frame, len(stack)), sign == "[", frame.key if frame.array else ""))
                if sign == "[":
                    stack[-1].key = frame.key
            case "}" | "]":
                if finder is not None:
                    _relate(frame, finder)
                yield from frame.strings
                stack.pop()
            case ":":
                # The string before a colon is a key: it is judged by itself, and says what follows.
                pending.key, pending.is_key = "", True
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
                frame.strings.append(pending)
            case _:
                frame.plain = False
    yield from stack[0].strings


def spans(text: str) -> dict[str, tuple[int, int]]:
    """Map the JSON Pointer of every string value of a valid JSON text to the place of its characters."""
    return {piece.pointer: (piece.start, piece.end) for piece in strings(text, None) if not piece.is_key}


def _child(frame: _Frame, depth: int) -> str:
    if depth == 1:
        return ""
    step = str(frame.index) if frame.array else frame.key.replace("~", "~0").replace("/", "~1")
    return f"{frame.pointer}/{step}"


def _relate(frame: _Frame, finder: Finder) -> None:
    """Let the strings of one object or array say something about each other."""
    if frame.array:
        if frame.plain and 2 <= len(frame.strings) <= MAX_ARGUMENTS:
            _arguments(frame.strings, finder)
        return
    members = {string.key.lower(): string for string in frame.strings if string.key}
    pair = pair_of(members)
    if pair is not None:
        name, value = pair
        value.known.extend(beside(finder, name.text, value.text))


def _arguments(strings: Sequence[Piece], finder: Finder) -> None:
    """Read an array of strings as a command line."""
    joined = " ".join(string.text for string in strings)
    starts: list[int] = []
    at = 0
    for string in strings:
        starts.append(at)
        at += len(string.text) + 1
    for hit in finder.find(joined):
        for string, start in zip(strings, starts, strict=True):
            first, last = max(hit.start - start, 0), min(hit.end - start, len(string.text))
            if first < last:
                string.known.append(Hit(first, last, hit.rule_id, hit.value, hit.certainty))
