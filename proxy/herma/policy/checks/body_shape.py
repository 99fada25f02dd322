"""What a body is, before anything judges it: one document with one meaning, or a refusal.

The upstream reads JSON whatever Content-Type says, honours any charset it names, and takes the last of two equal names.
So JSON is tried first on every route, in UTF-8 only and strictly; a form is read as a form; a body nobody can read is
refused rather than passed unread.
"""

import re
from typing import Any, Protocol

from herma.policy.decision import Deny
from herma.policy.jsondoc import Document, JsonError, parse
from herma.policy.message.archive import ArchiveError, restored
from herma.policy.message.canonical import Head
from herma.policy.message.form import FormError, multipart, parts, urlencoded
from herma.policy.routing.profile import Match

__all__ = ["BodyLimits", "read_document", "read_message"]

_CHARSET = re.compile(rb"charset\s*=\s*\"?([^\s\";]*)", re.IGNORECASE)
# RFC 8259 section 8.1 for JSON; ASCII is a part of UTF-8.
_UTF_8 = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_JSON_START = re.compile(rb"[\s\xef\xbb\xbf]*[\[{\"]")
_TOO_LARGE = frozenset({"herma.body.depth", "herma.body.keys"})
# Readable enough to be judged as text: almost no control characters.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))


class BodyLimits(Protocol):
    """The part of the settings that bounds a parsed body."""

    @property
    def max_json_depth(self) -> int:
        """Levels of lists and objects."""
        ...

    @property
    def max_json_keys(self) -> int:
        """Members of all objects together."""
        ...


def read_document(head: Head, match: Match, raw: bytes, limits: BodyLimits) -> Document | Deny | None:
    """Read a body that was already unpacked; None when it is empty."""
    if not raw:
        return None
    content_type = head.get(b"content-type") or b""
    if content_type and not _is_utf_8(content_type):
        return Deny(415, "herma.body.charset", "The body must be UTF-8.")
    try:
        document = parse(raw, max_depth=limits.max_json_depth, max_keys=limits.max_json_keys)
    except JsonError as error:
        return _not_json(content_type, match, raw, error)
    nothing = match.route.null_body and document.value is None
    if match.known and not isinstance(document.value, dict) and not nothing:
        # The upstream answers 500 to a body of another kind.
        return Deny(400, "herma.body.object", "The body must be a JSON object.")
    return document


def read_message(raw: bytes, limits: BodyLimits) -> Document | Deny:
    """Read one text message of a WebSocket: JSON, or text that is none."""
    try:
        return parse(raw, max_depth=limits.max_json_depth, max_keys=limits.max_json_keys)
    except JsonError as error:
        if _JSON_START.match(raw):
            return Deny(413 if error.code in _TOO_LARGE else 400, error.code, str(error))
        return Document(raw, {"": [raw.decode("utf-8", "replace")]}, form=True)


def _is_utf_8(content_type: bytes) -> bool:
    """Tell whether every reader of this header decodes the body as UTF-8.

    RFC 2231 has other spellings of a parameter, `charset*=` and `charset*0=`, which the upstream's reader honours. So a
    charset is named once, plainly, or not at all.
    """
    mentions = content_type.lower().count(b"charset")
    if not mentions:
        return True
    named = _CHARSET.findall(content_type)
    return mentions == 1 and len(named) == 1 and named[0].lower() in _UTF_8


def _not_json(content_type: bytes, match: Match, raw: bytes, error: JsonError) -> Document | Deny:
    kind = content_type.split(b";", 1)[0].strip().lower()
    if not _JSON_START.match(raw):
        if kind == b"multipart/form-data":
            return _form(raw, content_type, match.route.archives)
        if not match.known:
            return (
                _form(raw, b"") if kind == b"application/x-www-form-urlencoded" else _plain(kind, raw, error)
            )
    status = 413 if error.code in _TOO_LARGE else 400
    return Deny(status, error.code, str(error))


def _form(raw: bytes, content_type: bytes, archives: tuple[str, ...] = ()) -> Document | Deny:
    try:
        fields: dict[str, Any] = multipart(raw, content_type) if content_type else urlencoded(raw)
        for name in archives:
            fields[name] = _unpacked(raw, content_type, name)
    except FormError as error:
        if error.too_many:
            return Deny(413, "herma.body.parts", "The form has too many parts.")
        return Deny(400, "herma.body.form", "The form cannot be read in one way.")
    except ArchiveError as error:
        if error.too_large:
            return Deny(413, "herma.body.archive", "The archive holds more than can be judged.")
        return Deny(400, "herma.body.archive", "The archive cannot be read in one way.")
    return Document(raw, fields, form=True)


def _unpacked(raw: bytes, content_type: bytes, name: str) -> list[Any]:
    """Give what the archives in a field would be unpacked to, in the place of their bytes."""
    found: list[Any] = []
    for part in parts(raw, content_type):
        if part.name == name:
            found += [part.filename, *restored(raw[part.content])]
    return found


def _plain(kind: bytes, raw: bytes, error: JsonError) -> Document | Deny:
    """Take a body of an unknown route as text if it is some; what a JSON type announces has to be JSON."""
    if kind.endswith((b"/json", b"+json")):
        return Deny(400, error.code, str(error))
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or raw.translate(None, _CONTROL) != raw:
        return Deny(415, "herma.body.opaque", "A body of this kind cannot be inspected on this route.")
    return Document(raw, {"": [text]}, form=True)
