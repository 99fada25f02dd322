"""What a push of git holds."""

import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.git_pack import git_objects, is_git_pack
from herma.policy.egress.packed import TooLargeError


def pack(*contents: bytes) -> bytes:
    """A push with the contents as objects."""
    head = b"00a50000 refs/heads/main\0 report-status0000PACK" + (2).to_bytes(4) + len(contents).to_bytes(4)
    body = b"".join(b"\xbf\x0a" + zlib.compress(content) for content in contents)
    return head + body + hashlib.sha1(body, usedforsecurity=False).digest()


def test_each_object_comes_out() -> None:
    """One behind the other."""
    contents = [f"object {n} ".encode() * 20 for n in range(50)]
    assert is_git_pack(pack(*contents))
    found = list(git_objects(pack(*contents)))
    assert [each for each in found if each in contents] == contents


def test_what_is_no_pack_has_no_objects() -> None:
    """Whatever is packed in it."""
    assert not is_git_pack(b"PACK your bags")
    assert list(git_objects(zlib.compress(b"hello"))) == []
    assert list(git_objects(b"PACK\0\0\0\x02x\x9cno object")) == []


def test_more_than_is_looked_at_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of objects."""
    monkeypatch.setattr("herma.policy.egress.git_pack.MAX_OBJECTS", 10)
    with pytest.raises(TooLargeError):
        list(git_objects(pack(*(b"object" for _ in range(11)))))


@given(st.binary(max_size=200))
def test_no_bytes_break_it(raw: bytes) -> None:
    """Behind a head of a pack."""
    for _ in git_objects(b"PACK\0\0\0\x02" + raw):
        pass
