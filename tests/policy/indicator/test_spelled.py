"""Claims about `herma.policy.indicator.spelled`."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator.spelled import (
    MAX_BRACED,
    MAX_TURNED_CHARS,
    SPELLING_BYTES,
    respelled,
    spelled_out,
)

NAME = "drop.example.com"
CODES = [ord(letter) for letter in NAME]

OUT = {
    "numbers": f"print([{', '.join(map(str, CODES))}])",
    "numbers with blanks": " ".join(map(str, CODES)),
    "numbers with bars": "|".join(map(str, CODES)),
    "numbers in hex": ",".join(map(hex, CODES)),
    "numbers in hex without a mark": " ".join(f"{code:x}" for code in CODES),
    "numbers in octal": " ".join(f"0{code:o}" for code in CODES),
    "calls": "+".join(f"chr({code})" for code in CODES),
    "calls with points": ".".join(f"chr({code})" for code in CODES),
    "calls in hex": " + ".join(f"chr(0x{code:x})" for code in CODES),
    "calls of Basic": " & ".join(f"Chr({code})" for code in CODES),
    "calls of Basic in hex": " & ".join(f"ChrW(&H{code:x})" for code in CODES),
    "casts": "+".join(f"[char]{code}" for code in CODES),
    "casts of bytes": ", ".join(f"(byte)0x{code:02x}" for code in CODES),
    "short escapes": "".join(f"\\{code:o}" for code in CODES),
    "escapes of escapes": "".join(f"\\\\{code:03o}" for code in CODES),
    "another alphabet": f"rot13 {codecs.encode(NAME, 'rot13')}",
    "another alphabet of a tool": f"echo {codecs.encode(NAME, 'rot13')} | tr a-z n-za-m",
    "the other direction": f"echo {NAME[::-1]} | rev",
    "the other direction in a language": f"'{NAME[::-1]}'[::-1]",
}


@pytest.mark.parametrize("text", OUT.values(), ids=OUT.keys())
def test_what_is_spelled_out_is_read(text: str) -> None:
    """The form holds the name as a program would make it; raw bytes show that there may be one."""
    assert any(NAME in form for form in spelled_out(text))
    assert text[0] == "\\" or any(pattern.search(text.encode()) for pattern in SPELLING_BYTES)


AGAIN = {
    "braces": ("curl https://drop.example.{com,org}/x", "https://drop.example.com/x"),
    "several braces": ("curl {a,drop}.example.{org,com}", "drop.example.com"),
    "a range of letters": ("curl drop.exampl{e..e}.{com,org}", "drop.example.com"),
    "braces in quotes": ("curl 'drop.{example,x}.com'", "drop.example.com"),
    "hex with zeros": ("ping 0x00000000cb007109", "ping 203.0.113.9"),
    "octal": ("ping 031300070411", "ping 203.0.113.9"),
    "parts of several kinds": ("ping 0xcb.0.28937", "ping 203.0.113.9"),
    "padded parts": ("ping 0000313.0000.0000161.00011", "ping 203.0.113.9"),
    "a bare number": ("curl -s -4 3405803785/x", "203.0.113.9/x"),
    "a bare number of somebody": ("ssh root@3405803785", "root@203.0.113.9"),
    "numbers beside each other": ("fetch([203, 0, 113, 9].join('.'))", "[203.0.113.9]"),
    "numbers with bars": ("203|0|113|9", "203.0.113.9"),
}


@pytest.mark.parametrize(("text", "meant"), AGAIN.values(), ids=AGAIN.keys())
def test_an_odd_spelling_is_written_as_usual(text: str, meant: str) -> None:
    """What stands around it stays, so that it can be told what is done with it."""
    assert any(meant in form for form in respelled(text))


PLAIN = [
    "ping 203.0.113.9",
    "open ticket 3405803785",
    "version 0.0.12 of 0x1f",
    "chmod 0755 x",
    "1, 2, 3, 4, 5, 6, 7, 8",
    "coordinates 43.228, 79.77",
    "0x1234567890abcdef",
    "12, 300, 400, 500, 600, 700, 800",
    "it holds { and , and }",
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_usual_stays(text: str) -> None:
    """Addresses, tickets, modes and short lists are what they are."""
    assert [*respelled(text), *spelled_out(text)] == []


def test_a_word_of_too_many_choices_is_left_out() -> None:
    """Source code is full of braces; the others are read."""
    text = "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} curl drop.example.{com,org}"
    assert any("drop.example.com" in form for form in respelled(text))


def test_the_forms_of_a_long_text_are_bounded() -> None:
    """Braces and turning round are for lines, not for books."""
    assert len(next(respelled("{a,b} " * 2 * MAX_BRACED))) < 4 * MAX_BRACED
    assert list(spelled_out("reverse " + "x" * MAX_TURNED_CHARS)) == []


@given(text=st.text(alphabet="0123456789abcdefx.,{}\\ ()[]|&+'chr", max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Whatever a text is, there is an answer."""
    assert all(isinstance(form, str) for form in (*respelled(text), *spelled_out(text)))
