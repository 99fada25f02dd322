"""Everything that some bytes hold."""

import base64
import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress import inside as module
from herma.policy.egress.inside import View, inside
from herma.policy.egress.packed import TooLargeError

TEXT = b"# the file\nAPI_KEY=k3y-0f-th3-t3st-0001\nNAME=\"v4lue with a 'quote'\"\n"


def as_zip(raw: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", raw)
    return file.getvalue()


def as_tar(raw: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("a")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    return file.getvalue()


def as_part(raw: bytes) -> bytes:
    return b'--xx\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + raw + b"\r\n--xx--\r\n"


def as_string(raw: bytes) -> bytes:
    return json.dumps({"n": 1, "note": raw.decode("latin-1")}).encode()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": as_zip,
    "tar": as_tar,
    "part": as_part,
}
WRITINGS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64 in lines": base64.encodebytes,
    "base64 of addresses": base64.urlsafe_b64encode,
    "hex": lambda raw: raw.hex().encode(),
    "base32": base64.b32encode,
    "percent": lambda raw: quote_from_bytes(raw).encode(),
}
ANY = {**PACKINGS, **WRITINGS}


def holds(raw: bytes) -> bool:
    """Tell whether the key is seen in one of the views."""
    return any("k3y-0f-th3-t3st-0001" in view.text() for view in inside(raw))


@given(st.lists(st.sampled_from(sorted(ANY)), max_size=4), st.booleans())
def test_packings_and_writings_are_taken_off_in_any_order(wrappings: list[str], string: bool) -> None:
    """Four of them, and a string of JSON around."""
    raw = TEXT
    for wrapping in wrappings:
        raw = ANY[wrapping](raw)
    assert holds(raw), wrappings
    if string and not set(raw) - set(range(128)):
        assert holds(as_string(raw)), wrappings
        assert holds(as_string(as_string(raw))), wrappings


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("packing", PACKINGS)
def test_a_packed_file_is_found_in_what_it_is_written_in(packing: str, writing: str) -> None:
    """In JSON, in a part of a form, and packed once more."""
    raw = WRITINGS[writing](PACKINGS[packing](TEXT))
    for around in (raw, as_string(raw), as_part(as_string(raw)), gzip.compress(as_string(raw))):
        assert holds(around)


def test_the_first_view_is_what_was_given() -> None:
    """And nothing was taken off it."""
    assert next(inside(b"hello")) == View(b"hello")
    assert [view.raw for view in inside(b"hello")] == [b"hello"]


def test_bytes_are_read_as_the_runs_of_text_in_them() -> None:
    """What is all text is read whole."""
    assert View(b"\xff some text here \x00\x01 short \xff").text() == " some text here "
    assert View("n\u00e4h".encode()).text() == "n\u00e4h"


def test_each_thing_is_given_once() -> None:
    """However often it stands there."""
    raw = base64.b64encode(TEXT)
    views = [view.raw for view in inside(raw + b" " + raw)]
    assert len(views) == len(set(views))


def test_what_is_wrapped_more_often_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not passed as if nothing were in it; nor is what comes to too much."""
    raw = TEXT
    for _ in range(module.MAX_LAYERS):
        raw = gzip.compress(raw)
    assert holds(raw)
    with pytest.raises(TooLargeError):
        list(inside(gzip.compress(raw)))
    monkeypatch.setattr("herma.policy.egress.packed.MAX_BYTES", 0)
    with pytest.raises(TooLargeError):
        list(inside(gzip.compress(TEXT * 1000)))


@given(st.binary(max_size=300))
def test_no_bytes_break_it(raw: bytes) -> None:
    """The first view is always given."""
    assert next(iter([view.raw for view in inside(raw)])) == raw
