"""What packed bytes hold."""

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress import packed
from herma.policy.egress.packed import Room, TooLargeError, packed_in


def unpacked(raw: bytes) -> list[bytes]:
    """What is packed in some bytes, in what is packed in them, and so on."""
    room, found, level = Room(len(raw)), list[bytes](), [raw]
    while level:
        level = [part for each in level for part in packed_in(each, room)]
        found += level
    return found


def test_members_behind_an_empty_one_are_read() -> None:
    """A file of gzip that holds nothing hides none that follows."""
    assert b"hello" in unpacked(gzip.compress(b"") + gzip.compress(b"hello"))


def test_what_needs_more_memory_than_there_is_room_for_is_too_large() -> None:
    """It is not passed as if nothing were in it."""
    packed = lzma.compress(
        b"hello",
        filters=[
            {"id": lzma.FILTER_LZMA2, "dict_size": 256 << 20, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}
        ],
    )
    with pytest.raises(TooLargeError):
        unpacked(packed)


def test_what_only_begins_like_a_packed_file_holds_nothing() -> None:
    """It is looked at as it is."""
    for raw in (
        b"hello",
        b"BZh9 no",
        b"\xfd7zXZ\0 no such thing",
        b"\x1f\x8b\x08no",
        b"x\x9cno",
        b"PK\3\4no",
    ):
        assert unpacked(raw) == []


@pytest.mark.parametrize(
    "before", [b"\0", b"--xx\r\nContent-Type: a/b\r\n\r\n", b"PK\3\4" * 9, b"\x1f\x8b\x08" * 9]
)
def test_it_is_found_wherever_it_begins(before: bytes) -> None:
    """In a part of a form, in an archive that packs nothing, behind heads of nothing."""
    for packed_so in (gzip.compress, bz2.compress, lzma.compress):
        assert SECRET in unpacked(before + packed_so(SECRET) + b"\r\n--xx--" + packed_so(b"more"))
        assert b"more" in unpacked(before + packed_so(SECRET) + b"\r\n--xx--" + packed_so(b"more"))
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("a.gz", "b.gz"):
            member = tarfile.TarInfo(name)
            content = gzip.compress(name.encode())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert {b"a.gz", b"b.gz"} <= set(unpacked(before + file.getvalue()))


def test_heads_that_each_read_on_to_the_end_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little comes out of them."""
    monkeypatch.setattr(packed, "MAX_READ_BYTES", 1000)
    # Blocks of no bytes, stored (RFC 1951 section 3.2.4).
    empty = gzip.compress(b"")[:10] + b"\0\0\0\xff\xff" * 100
    assert unpacked(empty) == []
    with pytest.raises(TooLargeError):
        unpacked(empty * 9)


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
    assert any(SECRET in part for part in unpacked(raw))


def test_a_stored_member_goes_on_to_the_next_head() -> None:
    """What is packed in it is unpacked."""
    inner = gzip.compress(SECRET)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.gz", inner)
        archive.writestr("b.gz", inner)
    assert unpacked(file.getvalue()).count(SECRET) >= 2


def test_what_came_out_before_an_error_is_given() -> None:
    """A wrong end or a wrong sum takes nothing away from who reads the rest."""
    long = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(5000))
    raw = bytearray(gzip.compress(long))
    raw[-8:] = b"\0" * 8
    (part,) = unpacked(bytes(raw))
    assert len(part) >= len(long) - 64 * 1024
    (cut,) = unpacked(gzip.compress(SECRET)[:-9])
    assert SECRET.startswith(cut)


def test_more_than_is_looked_at_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bytes and by members."""
    with pytest.raises(TooLargeError):
        unpacked(gzip.compress(bytes(packed.MAX_BYTES * 2)))
    monkeypatch.setattr(packed, "MAX_MEMBERS", 10)
    for many in (b"PK\x03\x04".ljust(40) * 100, gzip.compress(b"") * 11):
        with pytest.raises(TooLargeError):
            unpacked(many)


@given(st.binary(max_size=300))
def test_no_bytes_break_it(raw: bytes) -> None:
    """Whatever they begin with."""
    for head in (b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\xfd7zXZ\0", b"x\x9c"):
        with contextlib.suppress(TooLargeError):
            unpacked(head + raw)
