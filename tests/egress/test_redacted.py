"""Flows as they may be kept; more in `test_recording`."""

from pathlib import Path

import pytest
from mitmproxy.http import Headers
from mitmproxy.test import tflow, tutils

from egress.test_judges import judges
from herma.egress.redacted import MAX_BODY_BYTES, redacted
from support.redactor import GITHUB


def test_what_tells_nothing_is_kept(tmp_path: Path) -> None:
    """The rest is left out by name; the flow that was given stays what it is."""
    fields = Headers([(b"Host", b"a.example.com"), (b"X-Note", b"words"), (b"Content-Type", b"text/plain")])
    given = tflow.tflow(
        req=tutils.treq(path=b"/v1/Chat/send?a=b&Ab=c", headers=fields, content=b"plain words")
    )
    kept = redacted(given, judges(tmp_path).masker)
    assert kept.request.path == "/v1/-/send?a=-&-=-"
    assert kept.request.headers.fields == (
        (b"Host", b"a.example.com"),
        (b"X-Note", b"[left out]"),
        (b"Content-Type", b"text/plain"),
    )
    assert kept.request.content == b"plain words"
    assert given.request.path == "/v1/Chat/send?a=b&Ab=c"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (b"application/octet-stream", b"plain"),
        (b"text/plain", b"a" * (MAX_BODY_BYTES + 1)),
        (b"multipart/form-data; boundary=a", b"--a--"),
    ],
)
def test_other_bodies_are_counted(tmp_path: Path, kind: bytes, body: bytes) -> None:
    """Nobody reads them here."""
    request = tutils.treq(headers=Headers([(b"Content-Type", kind)]), content=body)
    kept = redacted(tflow.tflow(req=request), judges(tmp_path).masker)
    assert kept.request.content == b"[%d bytes left out]" % len(body)


def test_a_place_that_holds_a_secret_is_not_written_down(tmp_path: Path) -> None:
    """Nor is what is no method."""
    masker = judges(tmp_path).masker
    for request in (tutils.treq(host=f"{GITHUB}.example.com"), tutils.treq(method=GITHUB.encode())):
        with pytest.raises(ValueError, match="none that can be written down"):
            redacted(tflow.tflow(req=request), masker)


def test_a_field_by_the_name_of_a_secret_has_no_name(tmp_path: Path) -> None:
    """Whatever its value is."""
    fields = Headers([(f"{GITHUB}-token".encode(), b"x"), (b"X-Api-Key", b"x")])
    kept = redacted(tflow.tflow(req=tutils.treq(headers=fields)), judges(tmp_path).masker)
    assert [name for name, _ in kept.request.headers.fields] == [b"x-left-out", b"X-Api-Key"]


def test_a_body_that_was_not_taken_along_is_told(tmp_path: Path) -> None:
    """The recording keeps no large one while it waits."""
    given = tflow.tflow(req=tutils.treq())
    given.request.raw_content = None
    assert redacted(given, judges(tmp_path).masker).request.content == b"[a body that was too large left out]"
