"""What an answer's body is: only what is known to hold no text is copied unread."""

import pytest

from herma.policy.message.media import Media, is_asset, media_of

KINDS: dict[bytes | None, Media] = {
    b"text/event-stream": Media.EVENTS,
    b"Text/Event-Stream; charset=utf-8": Media.EVENTS,
    b"  text/event-stream  ": Media.EVENTS,
    b"image/png": Media.OPAQUE,
    b"IMAGE/PNG": Media.OPAQUE,
    b"audio/mpeg": Media.OPAQUE,
    b"video/mp4": Media.OPAQUE,
    b"font/woff2": Media.OPAQUE,
    b"application/octet-stream": Media.TEXT,
    b"application/pdf;x=y": Media.OPAQUE,
    b"application/zip": Media.OPAQUE,
    b"application/gzip": Media.OPAQUE,
    b"application/wasm": Media.OPAQUE,
    b"application/json": Media.TEXT,
    b"text/plain": Media.TEXT,
    b"text/html": Media.TEXT,
}
# Looks opaque or eventful at a glance.
JUDGED = [
    None,
    b"",
    b";",
    b"image",
    b"image/svg+xml",
    b"image/SVG+XML; charset=utf-8",
    b"ximage/png",
    b"text/event-stream-not",
    b"application/json, text/event-stream",
    b"application/octet-stream+json",
    b"application/x-unheard-of",
    b"text/plain; a=image/png",
]

# A client that believes the label reads other characters than the gate.
UNREADABLE = [
    b"application/json; charset=utf-16",
    b'text/plain;charset="UTF-16LE"',
    b"text/event-stream; charset=utf-7",
    b"text/html; charset=utf-8; charset=utf-16",
    b"application/x-unheard-of; CharSet = ebcdic-cp-us",
    b"application/json; charset*=utf-8''utf-16",
    b"text/plain; charset*0=utf-; charset*1=16",
    b"text/event-stream; CHARSET *=x",
]


@pytest.mark.parametrize("content_type", UNREADABLE)
def test_a_charset_that_is_not_like_ascii_cannot_be_judged(content_type: bytes) -> None:
    """Whatever the type, its bytes do not say what the client will read."""
    assert media_of(content_type) is Media.UNREADABLE


@pytest.mark.parametrize("content_type", KINDS)
def test_the_kind_decides(content_type: bytes) -> None:
    """Case, blanks around it and parameters do not count."""
    assert media_of(content_type) is KINDS[content_type]


@pytest.mark.parametrize("content_type", JUDGED)
def test_what_is_not_surely_opaque_is_judged(content_type: bytes | None) -> None:
    """A missing, unknown or misleading type is read as text."""
    assert media_of(content_type) is Media.TEXT


@pytest.mark.parametrize(
    ("kind", "asset"),
    [
        (b"text/javascript; charset=utf-8", True),
        (b"Text/CSS", True),
        (b"font/woff2", True),
        (b"image/svg+xml", True),
        (b"text/html", False),
        (b"application/json", False),
        (b"text/plain", False),
        (b"", False),
        (None, False),
    ],
)
def test_what_a_page_loads(kind: bytes | None, *, asset: bool) -> None:
    """Neither a page nor data."""
    assert is_asset(kind) is asset
