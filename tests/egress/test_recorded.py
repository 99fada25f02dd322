"""A URL is taken apart as programs that send to it do."""

import pytest

from herma.egress.recorded import Recorded, at_url


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://api.example.com", ("api.example.com", 443, b"/")),
        ("http://api.example.com:8080/a?b=c#d", ("api.example.com:8080", 80, b"/a?b=c")),
        ("WSS://gateway.example.com?v=10", ("gateway.example.com", 443, b"/?v=10")),
        ("ws://[2001:db8::1]:81/", ("[2001:db8::1]:81", 80, b"/")),
        ("https://example.com/ä", ("example.com", 443, "/ä".encode())),
    ],
)
def test_a_url_is_taken_apart(url: str, parts: tuple[str, int, bytes]) -> None:
    """Authority, port of the scheme, target; a fragment is sent by nobody."""
    assert at_url(url) == parts


@pytest.mark.parametrize(
    "url", ["ftp://example.com/", "/a", "https://", "https://example.com/a b", "https://me:F4ke@example.com/"]
)
def test_what_is_no_url_of_a_request_is_refused(url: str) -> None:
    """And nothing of it is repeated."""
    with pytest.raises(ValueError) as said:
        at_url(url)
    assert "F4ke" not in str(said.value)


def test_a_field_is_found_in_any_case_and_whole() -> None:
    """Of several, all; and nothing of what was recorded is in a log."""
    request = Recorded(
        "example.com", 443, "GET", b"/F4ke", ((b"X-A", b"1"), (b"x-a", b"2"), (b"host", b"F4ke"))
    )
    assert request.header(b"x-a") == b"1, 2"
    assert request.header(b"x-b") == b""
    assert "F4ke" not in repr(request)
