"""Masks secrets in what is sent to people: the query and the body of a request, and the messages of a WebSocket.

The same redactor as on the way in, so that a secret has the same placeholder on every transport. What changes is written again,
all other bytes stay as they came; what has no single meaning is refused by the caller, never sent unread.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from herma.policy.decision import Finding
from herma.policy.egress.platform import InUse
from herma.policy.message.form import MAX_PARTS, FormError, as_text, form_decoded, parts
from herma.policy.redaction.charset import wide_encoding
from herma.policy.redaction.document import rewrites, spans
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import DOCUMENT_UNITS, DOCUMENT_UNITS_PER_CHAR, Work

__all__ = ["Masked", "Masker"]

type Masked = tuple[bytes, tuple[Finding, ...]]

# A secret of eight characters stands in no shorter run.
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{8,}")
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Masker:
    """Masks with one redactor; holds no state."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def body(self, raw: bytes, content_type: bytes, in_use: InUse) -> Masked:
        """Mask a body as what its type says it is; in what is neither a form nor text, the readable runs.

        Raises:
            FormError: it is a form that can be read in two ways.
        """
        kind = content_type.partition(b";")[0].strip().lower()
        if kind == b"multipart/form-data":
            return self._multipart(raw, content_type, in_use)
        if kind == b"application/x-www-form-urlencoded":
            return self.pairs(raw, in_use)
        return self.text(raw, in_use)

    def text(self, raw: bytes, in_use: InUse, key: str = "") -> Masked:
        """Mask JSON or plain text, which is also what a message of a WebSocket is.

        `key` names what is no JSON, as in `password=…`.
        """
        if _is_wide(raw) and (wide := self._redactor.json(raw))[1]:
            return wide
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            return self._bytes(raw)
        work = Work(len(text), DOCUMENT_UNITS, DOCUMENT_UNITS_PER_CHAR)
        try:
            look = self._redactor.glance.look(text, 0, work)
        except (ValueError, RecursionError):
            return self._named(raw, text, key)
        if look.clean:
            return raw, ()
        places = {place for pointer, place in spans(text).items() if in_use.covers(pointer)}
        changes = rewrites(self._redactor, text, look, but=places)
        done, written = 0, list[str]()
        for change in changes:
            written += (text[done : change.start], change.written)
            done = change.end
        written.append(text[done:])
        findings = tuple(finding for change in changes for finding in change.findings)
        return "".join(written).encode() if findings else raw, findings

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
            key = as_text(form_decoded(name))
            if in_use.covers(f"/{key}"):
                written.append(pair)
                continue
            plain = form_decoded(value)
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
            if not in_use.covers(f"/{part.name}"):
                yield part.content, *self.text(raw[part.content], in_use, part.name)


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
