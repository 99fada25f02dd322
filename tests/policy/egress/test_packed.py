"""What packed bytes hold."""

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress import packed
from herma.policy.egress.packed import TooLargeError, unpacked


def test_members_behind_an_empty_one_are_read() -> None:
    """A file of gzip that holds nothing hides none that follows."""
    assert b"hello" in list(unpacked(gzip.compress(b"") + gzip.compress(b"hello")))


def test_what_needs_more_memory_than_there_is_room_for_is_too_large() -> None:
    """It is not passed as if nothing were in it."""
    packed = lzma.compress(
        b"hello",
        filters=[
            {"id": lzma.FILTER_LZMA2, "dict_size": 256 << 20, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}
        ],
    )
    with pytest.raises(TooLargeError):
        list(unpacked(packed))


def test_what_is_not_packed_is_given_as_it_is() -> None:
    """Bytes that only begin like a packed file are bytes."""
    for raw in (b"hello", b"BZh9 no", b"\xfd7zXZ\0 no such thing", b"\x1f\x8bno"):
        assert list(unpacked(raw)) == [raw]


SECRET = b"what is packed " * 20


def zipped(method: int, *, lie: int | None = None) -> bytes:
    """An archive with one member; `lie` is the size that its head claims."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.txt", SECRET)
    raw = bytearray(file.getvalue())
    if lie is not None:
        raw[18:22] = lie.to_bytes(4, "little")
    return bytes(raw)


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(SECRET),
        zlib.compress(SECRET),
        bz2.compress(SECRET),
        lzma.compress(SECRET),
        zipped(zipfile.ZIP_DEFLATED),
        zipped(zipfile.ZIP_DEFLATED, lie=0),
        zipped(zipfile.ZIP_DEFLATED, lie=3),
        gzip.compress(bz2.compress(lzma.compress(SECRET))),
        gzip.compress(zipped(zipfile.ZIP_STORED)),
    ],
)
def test_what_is_packed_comes_out(raw: bytes) -> None:
    """In each of the formats, in each other, and whatever a head says of its size."""
    assert SECRET not in raw or raw.startswith(b"PK")
    assert any(SECRET in part for part in list(unpacked(raw))[1:])


def test_a_stored_member_goes_on_to_the_next_head() -> None:
    """What is packed in it is unpacked."""
    inner = gzip.compress(SECRET)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.gz", inner)
        archive.writestr("b.gz", inner)
    assert list(unpacked(file.getvalue())).count(SECRET) == 2


def test_what_came_out_before_an_error_is_given() -> None:
    """A wrong end or a wrong sum takes nothing away from who reads the rest."""
    long = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(5000))
    raw = bytearray(gzip.compress(long))
    raw[-8:] = b"\0" * 8
    (_, part) = unpacked(bytes(raw))
    assert len(part) >= len(long) - 64 * 1024
    (_, cut) = unpacked(gzip.compress(SECRET)[:-9])
    assert SECRET.startswith(cut)


def test_more_than_is_looked_at_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bytes, by members, and by how often it is packed."""
    packed_five = SECRET
    for _ in range(6):
        packed_five = gzip.compress(packed_five)
    with pytest.raises(TooLargeError):
        list(unpacked(packed_five))
    with pytest.raises(TooLargeError):
        list(unpacked(gzip.compress(bytes(packed.MAX_BYTES + 1))))
    monkeypatch.setattr(packed, "MAX_MEMBERS", 10)
    for many in (b"PK\x03\x04" * 100, gzip.compress(b"") * 11):
        with pytest.raises(TooLargeError):
            list(unpacked(many))


@given(st.binary(max_size=300))
def test_any_bytes_are_given_first_as_they_are(raw: bytes) -> None:
    """Whatever they begin with."""
    for head in (b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"x\x9c"):
        parts = unpacked(head + raw)
        assert next(parts) == head + raw
        with contextlib.suppress(TooLargeError):
            list(parts)
