"""Requests that can be read in more than one way."""

import pytest

from herma.egress.soundness import is_sound


def test_a_request_as_programs_write_it_is_sound() -> None:
    """Bytes beyond ASCII are values, too."""
    fields = [(b"X-Note", b"a \xe9\xff\t b"), (b"Host", b"a.example.com")]
    assert is_sound(b"GET", [b"/a?b=%0d%0a&c=\xe9", b""], fields)


@pytest.mark.parametrize("method", [b"GET", b"post", b"M-SEARCH", b"VERSION-CONTROL", b"RPC_IN_DATA"])
def test_names_of_methods_are_words(method: bytes) -> None:
    """What else stands in their place is a message to whoever reads it."""
    assert is_sound(method, [b"/"], [])


@pytest.mark.parametrize("value", [b"a\rX-B: b", b"a\nX-B: b", b"a\r\n folded", b"a\0b"])
def test_a_value_that_ends_is_not(value: bytes) -> None:
    """One program reads a field where another one reads two."""
    assert not is_sound(b"GET", [b"/"], [(b"X-A", value)])


@pytest.mark.parametrize(
    "given",
    [
        {"path": b"/a HTTP/1.1\r\nX-A: b"},
        {"path": b"/a b"},
        {"path": b"/a\0"},
        {"authority": b"a.example.com\r\nX-A: b"},
        {"method": b"GET /x HTTP/1.1\r\n"},
        {"method": b""},
        {"method": b"ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"},
        {"method": b"K3Y-0F-TH3-T3ST"},
        {"method": b"A" * 21},
    ],
)
def test_a_line_that_ends_is_not(given: dict[str, bytes]) -> None:
    """Nor is one with a blank more than it has parts."""
    line = {"method": b"GET", "path": b"/", "authority": b""} | given
    assert not is_sound(line["method"], [line["path"], line["authority"]], [])
