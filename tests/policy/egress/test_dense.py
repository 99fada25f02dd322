"""What is written with more letters than base64 has."""

import base64
import binascii
import zlib

import pytest

from herma.policy.egress.dense import MAX_BASE58_CHARS, dense_in

TEXT = b"API_KEY=k3y-0f-th3-t3st-0001\nNEXT=an0ther-0ne-of-them?\n"
B85 = base64.b85encode(TEXT)
_RFC1924 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
Z85 = B85.translate(bytes.maketrans(_RFC1924, _Z85))


def base58(raw: bytes) -> bytes:
    """Write one long number."""
    letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number, written = int.from_bytes(raw), ""
    while number:
        number, rest = divmod(number, 58)
        written = letters[rest] + written
    return written.encode()


def uu(raw: bytes) -> bytes:
    """Write lines of 45 bytes."""
    lines = (binascii.b2a_uu(raw[at : at + 45]) for at in range(0, len(raw), 45))
    return b"begin 644 name\n" + b"".join(lines) + b"`\nend\n"


@pytest.mark.parametrize(
    "raw",
    [
        B85,
        b'{"x": "' + B85 + b'"}',
        b"".join(B85[at : at + 20] + b"\r\n" for at in range(0, len(B85), 20)),
        Z85,
        base64.a85encode(TEXT),
        base64.a85encode(TEXT, adobe=True, wrapcol=40),
        base58(TEXT),
        b'{"x":"' + base58(TEXT) + b'"}',
        uu(TEXT),
        uu(TEXT).replace(b"\n", b"\r\n"),
    ],
)
def test_what_it_says_is_found(raw: bytes) -> None:
    """Alone, in other things, and in lines."""
    assert any(TEXT.rstrip() in found for found in dense_in(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"a sentence of some words, and then one more",
        base64.b64encode(bytes(range(256)) * 8),
        b"begin 644 x\n" + b"~" * 60 + b"\n",
        b"2" * (MAX_BASE58_CHARS + 1),
        b"f(a,b);g=>{h(i)};j[k]=l*m%n;" * 4,
    ],
)
def test_what_is_none_says_nothing(raw: bytes) -> None:
    """Words, noise and programs."""
    assert not any(b"API" in found for found in dense_in(raw))


def test_what_is_packed_in_it_is_given() -> None:
    """As a patch of git has it."""
    packed = zlib.compress(TEXT)
    assert packed in list(dense_in(base64.b85encode(packed)))


def test_a_line_that_is_cut_says_nothing() -> None:
    """The others do."""
    found = b"".join(dense_in(uu(TEXT).replace(b"begin 644 name\n", b"begin 644 name\n!!!!!!!!!!\n")))
    assert TEXT in found
