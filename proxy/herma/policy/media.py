"""What an answer's body is, as far as the gate has to know it to choose how to judge it."""

from enum import StrEnum

__all__ = ["Media", "media_of"]


class Media(StrEnum):
    """`events`: judged event by event. `text`: judged whole. `opaque`: no text that a person reads; copied."""

    EVENTS = "events"
    TEXT = "text"
    OPAQUE = "opaque"


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


def media_of(content_type: bytes | None) -> Media:
    """Judge by the value of Content-Type (RFC 9110 section 8.3); parameters do not count."""
    essence = (content_type or b"").split(b";", 1)[0].strip().lower()
    if essence == b"text/event-stream":
        return Media.EVENTS
    if essence == b"image/svg+xml":
        return Media.TEXT
    if essence.startswith(_OPAQUE_FAMILIES) or essence in _OPAQUE_TYPES:
        return Media.OPAQUE
    return Media.TEXT
