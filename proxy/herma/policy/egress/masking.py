"""Masks secrets in what is sent to people: the query and the body of a request, and the messages of a WebSocket.

The same redactor as on the way in, so that a secret has the same placeholder on every transport. What changes is written again,
all other bytes stay as they came; what has no single meaning is refused by the caller, never sent unread.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from herma.policy.decision import Finding
from herma.policy.egress.blob import returned, taken_out
from herma.policy.egress.divided import form_of, json_spans
from herma.policy.egress.hiding import Hiding, watched_found
from herma.policy.egress.platform import InUse
from herma.policy.egress.watched import Span, Watched
from herma.policy.message.form import MAX_PARTS, FormError, as_text, form_decoded, parts
from herma.policy.redaction.charset import wide_encoding
from herma.policy.redaction.document import literal, rewrites, spans
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import DOCUMENT_UNITS, DOCUMENT_UNITS_PER_CHAR, Work

__all__ = ["Masked", "Masker"]

type Masked = tuple[bytes, tuple[Finding, ...]]
# From where to where, what is written there, and why.
type Edit = tuple[int, int, str, tuple[Finding, ...]]

# A secret of eight characters stands in no shorter run.
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{8,}")
# What the address of a picture is signed with; the platform fetches it, and the signature is for this one picture.
_OF_ADDRESSES: Final = frozenset({"credential", "aws-access-key"})
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Masker:
    """Masks with one redactor, and with what is known of watched files; holds no state."""

    def __init__(self, redactor: Redactor, watched: Watched | None = None) -> None:
        self._redactor = redactor
        self._hiding = Hiding(redactor, watched) if watched is not None and len(watched) else None

    def knowing(self, watched: Watched) -> "Masker":
        """Give one that masks what stands in watched files, too."""
        return Masker(self._redactor, watched)

    def body(self, raw: bytes, content_type: bytes, in_use: InUse) -> Masked:
        """Mask a body as what its type says it is; in what is neither a form nor text, the readable runs.

        Raises:
            FormError: it is a form that can be read in two ways.
        """
        match form_of(content_type):
            case b"multipart/form-data":
                return self._multipart(raw, content_type, in_use)
            case b"application/x-www-form-urlencoded":
                return self.pairs(raw, in_use)
            case _:
                return self.text(raw, in_use)

    def text(self, raw: bytes, in_use: InUse, key: str = "") -> Masked:
        """Mask JSON or plain text, which is also what a message of a WebSocket is.

        `key` names what is no JSON, as in `password=…`.
        """
        if _is_wide(raw):
            wide, findings = self._wide(raw)
            if findings:
                return wide, findings
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            return self._bytes(raw)
        short, taken = taken_out(text)
        masked, findings = self._known(short, in_use, key)
        hidden = self._hidden(masked, in_use)
        if hidden is not masked:
            findings = (*findings, watched_found("body"))
        return (returned(hidden, taken).encode() if findings else raw), findings

    def _known(self, text: str, in_use: InUse, key: str) -> tuple[str, tuple[Finding, ...]]:
        """Mask what the redactor knows."""
        work = Work(len(text), DOCUMENT_UNITS, DOCUMENT_UNITS_PER_CHAR)
        try:
            look = self._redactor.glance.look(text, 0, work)
        except (ValueError, RecursionError):
            masked, findings = self._named(text.encode(), text, key)
            return (masked.decode() if findings else text), findings
        if look.clean:
            return text, ()
        left, edits = set[Span](), list[Edit]()
        for pointer, (start, end) in spans(text).items():
            if self._leaves(in_use, pointer, text[start:end], written=True):
                left.add((start, end))
            elif (within := in_use.within(pointer)) is not None:
                left.add((start, end))
                inner, found = self._known(json.loads(f'"{text[start:end]}"', strict=False), within, "")
                edits += [(start, end, literal(inner, text[start:end]), found)] if found else []
        for change in rewrites(self._redactor, text, look, but=left):
            edits.append((change.start, change.end, change.written, change.findings))
        edits.sort(key=lambda edit: edit[0])
        done, written = 0, list[str]()
        for start, end, new, _ in edits:
            written += (text[done:start], new)
            done = end
        written.append(text[done:])
        findings = tuple(finding for edit in edits for finding in edit[3])
        return ("".join(written) if findings else text), findings

    def _hidden(self, text: str, in_use: InUse) -> str:
        """Mask what stands in watched files, but for the platform's own credentials."""
        if self._hiding is None or (hidden := self._hiding.text(text)) is text:
            return text
        left = {
            (start, end)
            for pointer, (start, end) in json_spans(text).items()
            if in_use.is_credential(pointer) and in_use.leaves(pointer, text[start:end])
        }
        return self._hiding.text(text, left) if left else hidden

    def _wide(self, raw: bytes) -> Masked:
        masked, findings = self._redactor.json(raw)
        encoding = wide_encoding(masked)
        if self._hiding is None or not encoding:
            return masked, findings
        text = masked.decode(encoding)
        hidden = self._hiding.text(text)
        return (
            (masked, findings)
            if hidden is text
            else (hidden.encode(encoding), (*findings, watched_found("body")))
        )

    def _bytes(self, raw: bytes) -> Masked:
        """Mask what is not all text: most readers put a mark where a byte is no character, and show the rest."""
        findings: tuple[Finding, ...] = ()
        written, done = list[bytes](), 0
        for run in _READABLE.finditer(raw):
            masked, found = self._redactor.json(run[0])
            if found:
                findings += found
                written += (raw[done : run.start()], masked)
                done = run.end()
        written.append(raw[done:])
        return (b"".join(written) if findings else raw), findings

    def _named(self, raw: bytes, text: str, key: str) -> Masked:
        """Mask a text in the light of the name that it has, as the member of an object would be."""
        member, findings = self._redactor.json(json.dumps({key: text}).encode())
        if not findings:
            return raw, ()
        masked = json.loads(member)
        if list(masked) != [key] or not isinstance(masked[key], str):
            # The name is a secret of its own, and tells nothing of the value any more.
            raise FormError("a field's name is a secret")
        return masked[key].encode(), findings

    def pairs(self, raw: bytes, in_use: InUse) -> Masked:
        """Mask the values of a query or a form.

        Raises:
            FormError: too many fields.
        """
        pairs = raw.split(b"&")
        if len(pairs) > MAX_PARTS:
            raise FormError("too many fields", too_many=True)
        written: list[bytes] = []
        findings: tuple[Finding, ...] = ()
        for pair in pairs:
            name, equals, value = pair.partition(b"=")
            key, plain = as_text(form_decoded(name)), form_decoded(value)
            if self._leaves(in_use, f"/{key}", as_text(plain)) and not self._is_known(f"/{key}", plain):
                written.append(pair)
                continue
            masked, found = self.text(plain, in_use, key)
            findings += found
            written.append(name + equals + _encoded(masked) if found else pair)
        return (b"&".join(written) if findings else raw), findings

    def _multipart(self, raw: bytes, content_type: bytes, in_use: InUse) -> Masked:
        written: list[bytes] = []
        done = 0
        findings: tuple[Finding, ...] = ()
        for place, masked, found in self._parts(raw, content_type, in_use):
            if found:
                written += (raw[done : place.start], masked)
                done = place.stop
                findings += found
        written.append(raw[done:])
        return (b"".join(written) if findings else raw), findings

    def _parts(
        self, raw: bytes, content_type: bytes, in_use: InUse
    ) -> Iterator[tuple[slice, bytes, tuple[Finding, ...]]]:
        for part in parts(raw, content_type):
            # A file's name is shown to people as its text is.
            yield part.head, *self._named(raw[part.head], as_text(raw[part.head]), "")
            content, pointer = raw[part.content], f"/{part.name}"
            if not self._leaves(in_use, pointer, as_text(content)) or self._is_known(pointer, content):
                yield part.content, *self.text(content, in_use, part.name)

    def _leaves(self, in_use: InUse, pointer: str, value: str, *, written: bool = False) -> bool:
        """Tell whether what stands at a place is left; `written` is a value as JSON writes it.

        A handle is shown to others, and the key of another vendor is none.
        """
        if not in_use.leaves(pointer, value):
            return False
        if in_use.is_credential(pointer):
            return True
        meant = json.loads(f'"{value}"', strict=False) if written else value
        return all(found.rule_id in _OF_ADDRESSES for found in self._redactor.text(meant).findings)

    def _is_known(self, pointer: str, raw: bytes) -> bool:
        """Tell whether what was left as a handle stands in a watched file."""
        if self._hiding is None or InUse.is_credential(pointer):
            return False
        return self._hiding.watched.found(as_text(raw))


def _is_wide(raw: bytes) -> bool:
    """Tell whether bytes can be read as text of two or four bytes a character; a film that begins like one cannot."""
    encoding = wide_encoding(raw)
    try:
        return bool(encoding) and bool(raw.decode(encoding))
    except UnicodeDecodeError:
        return False


def _encoded(value: bytes) -> bytes:
    """Write a value as every reader of a form decodes it (WHATWG URL section 5.2, with %20 for blanks)."""
    return b"".join(bytes([byte]) if byte in _UNRESERVED else b"%%%02X" % byte for byte in value)
