"""Forms as text: `multipart/form-data` (RFC 7578) and `application/x-www-form-urlencoded` (WHATWG URL, section 5).

Read strictly enough that two readers agree on what a part is. A part knows where its bytes stand, so that one can be changed
and all others stay as they came.
"""

import re
from dataclasses import dataclass

__all__ = ["MAX_PARTS", "FormError", "Part", "as_text", "form_decoded", "multipart", "parts", "urlencoded"]

# Python's own form readers stop at 1,000 fields.
MAX_PARTS = 1000
MAX_PART_HEAD_BYTES = 4096

# RFC 2046 section 5.1.1; a shorter set than allowed: quotes and blanks in a boundary are read differently.
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,./:=?-]{1,70}")
_PARAMETER = re.compile(rb";\s{0,8}boundary=(\"?)([^\";]{1,80})\1\s{0,8}(?:;|$)", re.IGNORECASE)
_NAME = re.compile(rb";\s{0,8}(name|filename)=\"([^\"\r\n]{0,512})\"", re.IGNORECASE)
# `name=x` without quotes and `name*=utf-8''x` (RFC 5987) are names to some readers and nothing to others.
_ANY_NAME = re.compile(rb"[;\s]name[*0-9]{0,8}\s{0,8}=", re.IGNORECASE)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")


class FormError(ValueError):
    """A form that has no single meaning; `too_many` tells that it only has too many parts."""

    def __init__(self, message: str, *, too_many: bool = False) -> None:
        super().__init__(message)
        self.too_many = too_many


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its names, empty where it has none, and where its head and its content stand in the form."""

    name: str
    filename: str
    head: slice
    content: slice


def multipart(raw: bytes, content_type: bytes) -> dict[str, list[str]]:
    """Give the texts of every part by its name; file names are texts too.

    Raises:
        FormError: no usable boundary, parts that are not closed, transfer encodings, or too many parts.
    """
    fields: dict[str, list[str]] = {}
    for part in parts(raw, content_type):
        texts = fields.setdefault(part.name, [])
        texts += [part.filename] if part.filename else []
        texts.append(as_text(raw[part.content]))
    return fields


def parts(raw: bytes, content_type: bytes) -> list[Part]:
    """Give the parts in order.

    Raises:
        FormError: no usable boundary, parts that are not closed, transfer encodings, or too many parts.
    """
    boundary = _PARAMETER.search(content_type)
    if boundary is None or not _BOUNDARY.fullmatch(boundary[2]):
        raise FormError("no usable boundary")
    mark = b"--" + boundary[2]
    if not raw.startswith(mark):
        raise FormError("the form does not begin with its boundary")
    pieces = (b"\r\n" + raw).split(b"\r\n" + mark)[1:]
    if len(pieces) - 1 > MAX_PARTS:
        raise FormError("too many parts", too_many=True)
    if len(pieces) < 2 or pieces[-1].strip(b" \t\r\n") != b"--":
        raise FormError("the form is not closed")
    found: list[Part] = []
    at = 0
    for piece in pieces[:-1]:
        at += len(mark)
        head, gap, body = piece.partition(b"\r\n\r\n")
        if not gap or not head.startswith(b"\r\n") or len(head) > MAX_PART_HEAD_BYTES:
            raise FormError("a part has no proper head")
        if b"content-transfer-encoding" in head.lower():
            # RFC 7578 section 4.7 deprecates it; a reader that honours it sees another text than one that does not.
            raise FormError("a part has a transfer encoding")
        written = [(match[1].lower(), as_text(match[2])) for match in _NAME.finditer(head)]
        names = dict(written)
        if len(names) != len(written) or len(_ANY_NAME.findall(head)) != (b"name" in names):
            raise FormError("a part has a name that can be read in two ways")
        start = at + len(head) + len(gap)
        content = slice(start, start + len(body))
        found.append(
            Part(names.get(b"name", ""), names.get(b"filename", ""), slice(at, at + len(head)), content)
        )
        at = content.stop + 2
    return found


def urlencoded(raw: bytes) -> dict[str, list[str]]:
    """Give the values of every field by its name.

    Raises:
        FormError: too many fields.
    """
    pairs = raw.split(b"&")
    if len(pairs) > MAX_PARTS:
        raise FormError("too many fields", too_many=True)
    fields: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        fields.setdefault(as_text(form_decoded(name)), []).append(as_text(form_decoded(value)))
    return fields


def form_decoded(text: bytes) -> bytes:
    """Undo plus signs and escapes, once."""
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text.replace(b"+", b" "))


def as_text(raw: bytes) -> str:
    """Read bytes for inspection: UTF-8 where they are, else every byte as a character, so that ASCII stays visible."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
