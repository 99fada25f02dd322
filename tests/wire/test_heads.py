"""Heads are parsed strictly, whole and alone."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.wire.failures import FramingError, Refusal
from herma.wire.heads import (
    MAX_RESPONSE_HEADERS,
    parse_request_head,
    parse_response_head,
    premature_refusal,
)
from herma.wire.limits import ServerLimits
from herma.wire.messages import RequestHead

LIMITS = ServerLimits(max_headers=5, max_header_bytes=500, max_target_bytes=100)
GOOD = b"POST /v1/runs?a=b HTTP/1.1\r\nHost: h\r\nX-Two:  b \t\r\nEmpty:\r\n\r\n"

REFUSED = {
    "bare LF everywhere": (400, b"GET / HTTP/1.1\nHost: h\n\n"),
    "bare LF in the first line": (400, b"GET / HTTP/1.1\nHost: h\r\n\r\n"),
    "bare LF after a header": (400, b"GET / HTTP/1.1\r\nA: b\nHost: h\r\n\r\n"),
    "bare CR in a value": (400, b"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n"),
    "NUL in a value": (400, b"GET / HTTP/1.1\r\nA: b\0c\r\n\r\n"),
    "control byte in a value": (400, b"GET / HTTP/1.1\r\nA: b\x01c\r\n\r\n"),
    "DEL in a value": (400, b"GET / HTTP/1.1\r\nA: b\x7fc\r\n\r\n"),
    "line folding": (400, b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n"),
    "folding with a tab": (400, b"GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n"),
    "white space before the first header": (400, b"GET / HTTP/1.1\r\n A: b\r\n\r\n"),
    "space before the colon": (400, b"GET / HTTP/1.1\r\nA : b\r\n\r\n"),
    "tab before the colon": (400, b"GET / HTTP/1.1\r\nA\t: b\r\n\r\n"),
    "space in a name": (400, b"GET / HTTP/1.1\r\nA B: c\r\n\r\n"),
    "8-bit in a name": (400, b"GET / HTTP/1.1\r\nA\xe9: c\r\n\r\n"),
    "no colon": (400, b"GET / HTTP/1.1\r\nAB\r\n\r\n"),
    "empty name": (400, b"GET / HTTP/1.1\r\n: b\r\n\r\n"),
    "8-bit in the target": (400, b"GET /\xe9 HTTP/1.1\r\n\r\n"),
    "tab in the target": (400, b"GET /a\tb HTTP/1.1\r\n\r\n"),
    "two spaces": (400, b"GET  / HTTP/1.1\r\n\r\n"),
    "trailing space": (400, b"GET / HTTP/1.1 \r\n\r\n"),
    "target without a slash": (400, b"GET foo HTTP/1.1\r\n\r\n"),
    "no version": (400, b"GET /\r\n\r\n"),
    "empty line": (400, b"\r\n\r\n"),
    "HTTP/2 preface": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "HTTP/2.0": (505, b"GET / HTTP/2.0\r\n\r\n"),
    "HTTP/1.2": (505, b"GET / HTTP/1.2\r\n\r\n"),
    "HTTP/9.9": (505, b"GET / HTTP/9.9\r\n\r\n"),
    "HTTP/0.9": (505, b"GET / HTTP/0.9\r\n\r\n"),
    "HTTP/3": (505, b"GET / HTTP/3\r\n\r\n"),
    "lower-case method": (405, b"get / HTTP/1.1\r\n\r\n"),
    "unknown method": (405, b"FOO-BAR / HTTP/1.1\r\n\r\n"),
    "method of another protocol": (400, b"DESCRIBE / HTTP/1.1\r\n\r\n"),
    "target too long": (414, b"GET /" + b"a" * 100 + b" HTTP/1.1\r\n\r\n"),
    "headers too large": (431, b"GET / HTTP/1.1\r\nA: " + b"a" * 500 + b"\r\n\r\n"),
    "too many headers": (431, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 6 + b"\r\n"),
}


def test_a_head_keeps_its_bytes() -> None:
    """Names, order and case stay; the white space around values is no part of them."""
    head = parse_request_head(GOOD, LIMITS)
    assert head == RequestHead(
        b"POST", b"/v1/runs?a=b", "1.1", ((b"Host", b"h"), (b"X-Two", b"b"), (b"Empty", b""))
    )


def test_eight_bit_values_pass_unchanged() -> None:
    """What is no control byte is the policy's to judge."""
    head = parse_request_head(b"GET / HTTP/1.0\r\nA: \xff\xe9\r\n\r\n", LIMITS)
    assert isinstance(head, RequestHead)
    assert (head.version, head.headers) == ("1.0", ((b"A", b"\xff\xe9"),))


@pytest.mark.parametrize(
    "raw",
    [b"CONNECT a:80 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"],
)
def test_an_upgrade_does_not_stop_the_parser(raw: bytes) -> None:
    """Whatever llhttp takes for an upgrade is delivered like any other head."""
    assert isinstance(parse_request_head(raw, LIMITS), RequestHead)


@pytest.mark.parametrize(("status", "raw"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_strictly_http_is_refused(status: int, raw: bytes) -> None:
    """Each tolerance of RFC 9112 is a way to make two parsers disagree."""
    found = parse_request_head(raw, LIMITS)
    assert isinstance(found, Refusal)
    assert found.status == status


@pytest.mark.parametrize(
    ("status", "raw"),
    [
        (400, b"\x16\x03\x01"),
        (400, b"\n"),
        (400, b"\r\n\r\n"),
        (400, b"GET /\r\n"),
        (400, b"GET / HTTP/1.1\n"),
        (400, b"GET / HTTP/1.1\r\nA: b\n"),
        (400, b"PRI * HTTP/2.0\r\n"),
        (505, b"GET / HTTP/2.0\r\n"),
        (414, b"GET /" + b"a" * 200),
        (431, b"GET / HTTP/1.1\r\nA: " + b"a" * 600),
    ],
)
def test_a_hopeless_beginning_is_refused_at_once(status: int, raw: bytes) -> None:
    """Nobody waits for the deadline of a head that can no longer become valid."""
    found = premature_refusal(raw, LIMITS)
    assert found is not None
    assert found.status == status


@given(st.integers(min_value=1, max_value=len(GOOD) - 1))
def test_no_beginning_of_a_good_head_is_refused(length: int) -> None:
    """However slowly a good head comes, it is waited for."""
    assert premature_refusal(GOOD[:length], LIMITS) is None
    assert premature_refusal((b"\r\n" + GOOD)[:length], LIMITS) is None


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_else(raw: bytes) -> None:
    """No bytes raise anything."""
    found = parse_request_head(raw + b"\r\n\r\n", LIMITS)
    assert isinstance(found, Refusal | RequestHead)
    premature_refusal(raw, LIMITS)


@given(st.sampled_from([b"\r", b"\n", b"\0", b"\x0b", b"\x7f", b"\r\n ", b"\n\n"]), st.data())
def test_a_control_byte_anywhere_is_refused(byte: bytes, data: st.DataObject) -> None:
    """There is no place in a head where a control byte or a bare line end is harmless."""
    place = data.draw(st.integers(min_value=0, max_value=len(GOOD) - 4))
    found = parse_request_head(GOOD[:place] + byte + GOOD[place:], LIMITS)
    assert isinstance(found, Refusal)


def test_a_response_head_keeps_its_bytes() -> None:
    """Two cookies stay two, in order; the reason is the upstream's."""
    head = parse_response_head(b"HTTP/1.1 299 So \xfc\r\nSet-Cookie: a\r\nset-cookie: b \r\n\r\n")
    assert (head.status, head.reason) == (299, b"So \xfc")
    assert head.headers == ((b"Set-Cookie", b"a"), (b"set-cookie", b"b"))


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        b"HTTP/1.1 200 OK\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (MAX_RESPONSE_HEADERS + 1) + b"\r\n",
    ],
)
def test_a_loose_response_head_is_an_error(raw: bytes) -> None:
    """An upstream is held to the same grammar as a client."""
    with pytest.raises(FramingError):
        parse_response_head(raw)


def test_a_switch_of_protocols_is_parsed_like_any_answer() -> None:
    """Llhttp stops at 101; we do not."""
    raw = b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert parse_response_head(raw).status == 101


@given(st.binary(max_size=200))
def test_a_garbled_response_raises_only_framing_errors(raw: bytes) -> None:
    """Whatever an upstream sends, there is one kind of failure."""
    with contextlib.suppress(FramingError):
        parse_response_head(b"HTTP/1.1 200" + raw + b"\r\n\r\n")
