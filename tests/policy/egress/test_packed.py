"""What packed bytes hold."""

import gzip
import lzma

import pytest

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
