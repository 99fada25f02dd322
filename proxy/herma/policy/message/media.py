"""What an answer's body is, as far as the gate has to know it to choose how to judge it."""

from enum import StrEnum

__all__ = ["Media", "is_asset", "media_of"]


class Media(StrEnum):
    """How a body is judged.

    `events`: event by event. `text`: whole. `opaque`: not at all, it holds no text that a person reads. `unreadable`: it
    cannot be, its label tells a client to read other characters than the bytes that the gate would look at.
    """

    EVENTS = "events"
    TEXT = "text"
    OPAQUE = "opaque"
    UNREADABLE = "unreadable"


# Only what is known to hold no readable text is copied unread: an unknown or missing type is judged as text.
_OPAQUE_FAMILIES = (b"image/", b"audio/", b"video/", b"font/")
_OPAQUE_TYPES = frozenset(
    {
        b"application/pdf",
        b"application/zip",
        b"application/gzip",
        b"application/wasm",
    }
)
# Charsets whose ASCII part is ASCII, so that a secret in them is the same bytes; the empty one is none named.
_READABLE = frozenset(
    {b"", b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1", b"latin-1", b"windows-1252"}
)


# What a page loads: code and styles, beside what holds no text at all.
_ASSETS = frozenset({b"text/css", b"text/javascript", b"application/javascript", b"image/svg+xml"})


def is_asset(content_type: bytes | None) -> bool:
    """Tell whether an answer is of a kind that a page loads, and none that could be a page or data."""
    essence = (content_type or b"").partition(b";")[0].strip().lower()
    return essence in _ASSETS or essence.startswith(_OPAQUE_FAMILIES)


def media_of(content_type: bytes | None) -> Media:
    """Judge by the value of Content-Type (RFC 9110 section 8.3)."""
    essence, *parameters = (part.strip().lower() for part in (content_type or b"").split(b";"))
    if (essence.startswith(_OPAQUE_FAMILIES) and essence != b"image/svg+xml") or essence in _OPAQUE_TYPES:
        return Media.OPAQUE
    if any(_charset(parameter) not in _READABLE for parameter in parameters):
        return Media.UNREADABLE
    return Media.EVENTS if essence == b"text/event-stream" else Media.TEXT


def _charset(parameter: bytes) -> bytes:
    name, _, value = parameter.partition(b"=")
    # RFC 2231: `charset*=` and `charset*0=` name one too; what is in them is never one of the readable ones.
    plain, star, _ = name.strip().partition(b"*")
    if plain.rstrip() != b"charset":
        return b""
    return name if star else value.strip().strip(b'"')
