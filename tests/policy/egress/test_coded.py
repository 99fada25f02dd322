"""What is written in text in another way."""

import base64
import binascii
import hashlib
import quopri
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.coded import decoded_in, narrowed, rewritten

TEXT = b"API_KEY=k3y-0f-th3-t3st-0001\nNEXT=an0ther-0ne-of-them?\n" * 4
B64 = base64.b64encode(TEXT)
B32 = base64.b32encode(TEXT)


def cut(run: bytes, size: int, between: bytes) -> bytes:
    """A run in pieces."""
    return between.join(run[at : at + size] for at in range(0, len(run), size))


@pytest.mark.parametrize(
    "raw",
    [
        B64,
        B64.rstrip(b"="),
        base64.urlsafe_b64encode(b"\xff\xfe\xfd" + TEXT),
        base64.encodebytes(TEXT),
        cut(B64, 64, b"\r\n"),
        cut(B64, 60, b"."),
        cut(B64, 20, b" "),
        cut(B64, 30, b'", "'),
        b"/path/to/" + B64,
        b"aaaaaaaaaaaaaaaaaaaaa\n" + base64.encodebytes(TEXT),
        TEXT.hex().encode(),
        TEXT.hex().upper().encode(),
        TEXT.hex(" ").encode(),
        TEXT.hex(":", 2).encode(),
        cut(TEXT.hex().encode(), 60, b"\n"),
        b"f" + TEXT.hex().encode(),
        ", ".join(f"0x{byte:02x}" for byte in TEXT).encode(),
        "".join(f"\\x{byte:02x}" for byte in TEXT).encode(),
        B32,
        B32.lower(),
        B32.rstrip(b"="),
    ],
)
def test_a_run_is_read_however_it_is_cut(raw: bytes) -> None:
    """Into lines, labels and words, and behind letters that do not belong to it."""
    for around in (raw, b'{"a": "' + raw + b'"}', b"see " + raw + b" and so on"):
        assert any(b"k3y-0f-th3-t3st-0001\nNEXT" in found for found in decoded_in(around))


@pytest.mark.parametrize("rest", range(8))
def test_base32_is_read_whatever_its_end(rest: int) -> None:
    """A letter too many hides nothing."""
    run = base64.b32encode(TEXT[:40])[:56]
    assert any(TEXT[:30] in found for found in decoded_in(run + b"A" * rest))


def test_noise_is_nothing() -> None:
    """Digests and keys are letters that stand for bytes."""
    digest = hashlib.sha512(b"noise").digest()
    for raw in (
        digest.hex().encode(),
        base64.b64encode(digest),
        base64.b32encode(digest),
        b"plain words of a text",
    ):
        assert list(decoded_in(raw)) == []


def test_much_noise_is_nothing_for_a_word_in_it() -> None:
    """In a picture stands one by chance; a longer text is none of chance."""
    noise = random.Random(3).randbytes(90_000)
    assert list(decoded_in(base64.b64encode(noise + b"by chance" + noise))) == []
    assert list(decoded_in(base64.b64encode(noise + b"twenty-four of them in a row" + noise)))


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08", b"PK\x03\x04", b"\x78\x9c", b"BZh9", b"\xfd7zXZ\0"])
def test_what_begins_like_something_packed_is_given(head: bytes) -> None:
    """Though it is no text."""
    assert head + bytes(20) in list(decoded_in(base64.b64encode(head + bytes(20))))


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        (rb"a\nb\/c\"d\\e\u0041\x42", b'a\nb/c"d\\eAB'),
        (b"a%3Db%0a", b"a=b\n"),
        (quopri.encodestring(b"A=B\n"), b"A=B\n"),
        (b"abc=\r\ndef", b"abcdef"),
    ],
)
def test_signs_that_stand_for_others_are_read(raw: bytes, meant: bytes) -> None:
    """Those of strings, of addresses and of mail."""
    assert meant in list(rewritten(raw))


@pytest.mark.parametrize("raw", [b"plain", b"100 % \\d", b"a=b"])
def test_without_such_signs_there_is_nothing(raw: bytes) -> None:
    """A percent sign or a backslash alone stands for itself."""
    assert list(rewritten(raw)) == []


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_is_read_in_the_middle_of_bytes(coding: str) -> None:
    """Whichever half comes first."""
    assert any(
        b"k3y-0f-th3-t3st-0001" in found
        for found in narrowed(b"\xff \x01" + TEXT.decode().encode(coding) + b"\xff")
    )
    assert list(narrowed(TEXT)) == []


@given(st.binary(max_size=300))
def test_no_bytes_break_it(raw: bytes) -> None:
    """Nor do runs of any length and any end."""
    for each in (
        raw,
        binascii.hexlify(raw),
        base64.b64encode(raw)[:-1],
        base64.b32encode(raw)[1:],
        base64.a85encode(raw),
    ):
        for _ in (*decoded_in(each), *rewritten(each), *narrowed(each)):
            pass
