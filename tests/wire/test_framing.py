"""The end of a message has one answer or the message is refused."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.wire.chunked import ChunkDecoder
from herma.wire.failures import FramingError, Refusal
from herma.wire.framing import (
    FixedDecoder,
    RequestFrame,
    UntilCloseDecoder,
    frame_request,
    frame_response,
)
from herma.wire.messages import RequestHead, ResponseHead

CL, TE = b"Content-Length", b"Transfer-Encoding"

SMUGGLING: dict[str, list[tuple[bytes, bytes]]] = {
    "CL.TE": [(CL, b"3"), (TE, b"chunked")],
    "TE.CL": [(TE, b"chunked"), (CL, b"3")],
    "TE.TE": [(TE, b"chunked"), (TE, b"identity")],
    "TE twice": [(TE, b"chunked"), (TE, b"chunked")],
    "TE list": [(TE, b"chunked, identity")],
    "TE gzip, chunked": [(TE, b"gzip, chunked")],
    "TE xchunked": [(TE, b"xchunked")],
    "TE identity": [(TE, b"identity")],
    "TE empty": [(TE, b"")],
    "TE with a vertical tab": [(TE, b"\x0bchunked")],
    "TE quoted": [(TE, b'"chunked"')],
    "TE with parameters": [(TE, b"chunked;a=b")],
    "CL twice": [(CL, b"3"), (CL, b"4")],
    "CL twice and equal": [(CL, b"3"), (CL, b"3")],
    "CL twice, other case": [(CL, b"3"), (b"content-LENGTH", b"3")],
    "CL list": [(CL, b"3, 3")],
    "CL plus": [(CL, b"+3")],
    "CL minus": [(CL, b"-3")],
    "CL underscore": [(CL, b"1_0")],
    "CL hexadecimal": [(CL, b"0x3")],
    "CL empty": [(CL, b"")],
    "CL fraction": [(CL, b"3.0")],
    "CL other digits": [(CL, "\u0663".encode())],
    "CL of 2^64": [(CL, b"18446744073709551618")],
}


def request(
    *headers: tuple[bytes, bytes], method: bytes = b"POST", version: str = "1.1"
) -> RequestFrame | Refusal:
    return frame_request(RequestHead(method, b"/", version, headers))


def framed(*headers: tuple[bytes, bytes], method: bytes = b"POST", version: str = "1.1") -> RequestFrame:
    frame = request(*headers, method=method, version=version)
    assert isinstance(frame, RequestFrame)
    return frame


@pytest.mark.parametrize("headers", SMUGGLING.values(), ids=SMUGGLING.keys())
def test_a_request_of_doubtful_length_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    """Where two servers could disagree about the end of a request, nobody gets to."""
    refusal = request(*headers)
    assert isinstance(refusal, Refusal)
    assert refusal.status == 400


@pytest.mark.parametrize("headers", SMUGGLING.values(), ids=SMUGGLING.keys())
def test_an_answer_of_doubtful_length_is_an_error(headers: list[tuple[bytes, bytes]]) -> None:
    """The upstream is held to the same rule."""
    with pytest.raises(FramingError):
        frame_response(ResponseHead(200, b"", tuple(headers)), version="1.1", head_only=False)


def test_chunks_do_not_exist_in_1_0() -> None:
    """A 1.0 server would read them as body."""
    assert isinstance(request((TE, b"chunked"), version="1.0"), Refusal)


@given(st.permutations([(CL, b"3"), (TE, b"chunked"), (b"A", b"b"), (b"Host", b"h")]))
def test_order_and_company_do_not_excuse_two_lengths(headers: list[tuple[bytes, bytes]]) -> None:
    """Both framings in one head are refused wherever they stand."""
    assert isinstance(request(*headers), Refusal)


def test_a_request_without_a_length_has_no_body() -> None:
    """RFC 9112 section 6.3."""
    frame = framed()
    assert frame.length == 0
    assert frame.decoder().done


def test_any_method_can_have_a_body() -> None:
    """GET and DELETE with a body are framed like POST."""
    assert framed((CL, b"3"), method=b"GET").length == 3
    assert framed((TE, b"Chunked"), method=b"DELETE").length is None
    assert isinstance(framed((TE, b"chunked")).decoder(), ChunkDecoder)


@pytest.mark.parametrize(
    ("version", "value", "kept"),
    [
        ("1.1", None, True),
        ("1.1", b"close", False),
        ("1.1", b"foo,  Close", False),
        ("1.1", b"closed", True),
        ("1.0", None, False),
        ("1.0", b"Keep-Alive", True),
        ("1.0", b"keep-alive, close", False),
    ],
)
def test_persistence_follows_version_and_token(version: str, value: bytes | None, kept: bool) -> None:
    """Tokens are whole words, in any case; `close` wins."""
    headers = [] if value is None else [(b"Connection", value)]
    assert framed(*headers, version=version).keep_alive is kept


def test_connect_is_the_last_request_of_a_connection() -> None:
    """What follows a CONNECT would be a tunnel elsewhere."""
    assert not framed(method=b"CONNECT").keep_alive


@pytest.mark.parametrize(
    ("method", "connection", "upgrade", "asked"),
    [
        (b"GET", b"Upgrade", b"websocket", True),
        (b"GET", b"keep-alive, upgrade", b"WebSocket", True),
        (b"GET", b"notupgrade", b"websocket", False),
        (b"GET", b"upgrade", b"h2c", False),
        (b"GET", b"upgrade", b"websocket, h2c", False),
        (b"GET", b"close", b"websocket", False),
        (b"POST", b"upgrade", b"websocket", False),
    ],
)
def test_only_a_websocket_is_an_upgrade(
    method: bytes, connection: bytes, upgrade: bytes, asked: bool
) -> None:
    """A substring of a token is no token, and h2c is a request like any other."""
    frame = framed((b"Connection", connection), (b"Upgrade", upgrade), method=method)
    assert frame.upgrade is asked


def test_an_upgrade_has_no_body_and_is_1_1() -> None:
    """A body behind an upgrade would be read as frames by one side and as a request by the other."""
    wanted = ((b"Connection", b"upgrade"), (b"Upgrade", b"websocket"))
    assert not framed(*wanted, (CL, b"0"), method=b"GET").upgrade
    assert not framed(*wanted, method=b"GET", version="1.0").upgrade
    assert not framed(*wanted, (b"Upgrade", b"websocket"), method=b"GET").upgrade


def test_h2c_keeps_its_body() -> None:
    """The body of an h2c upgrade is read, not left behind as the next request."""
    frame = framed((b"Connection", b"Upgrade, HTTP2-Settings"), (b"Upgrade", b"h2c"), (CL, b"5"))
    assert (frame.upgrade, frame.length) == (False, 5)


def test_only_100_continue_can_be_expected() -> None:
    """Anything else is 417; to 1.0 the field means nothing."""
    assert framed((b"Expect", b"100-Continue")).expects_continue
    assert not framed().expects_continue
    assert not framed((b"Expect", b"anything"), version="1.0").expects_continue
    for value in (b"101-switch", b"100-continue, x", b""):
        refusal = request((b"Expect", value))
        assert isinstance(refusal, Refusal)
        assert refusal.status == 417
    assert isinstance(request((b"Expect", b"100-continue"), (b"Expect", b"100-continue")), Refusal)


@pytest.mark.parametrize(("status", "head_only"), [(204, False), (304, False), (200, True)])
def test_some_answers_have_no_body_whatever_they_say(status: int, head_only: bool) -> None:
    """HEAD, 204 and 304 end with their head."""
    frame = frame_response(ResponseHead(status, b"", ((CL, b"50"),)), version="1.1", head_only=head_only)
    assert frame.decoder.done
    assert frame.keep_alive


def test_the_three_bodies_of_an_answer() -> None:
    """So many bytes, chunks, or until the close; the last is never reused."""
    fixed = frame_response(ResponseHead(200, b"", ((CL, b"50"),)), version="1.1", head_only=False)
    chunks = frame_response(ResponseHead(200, b"", ((TE, b"chunked"),)), version="1.1", head_only=False)
    close = frame_response(ResponseHead(200, b"", ()), version="1.1", head_only=False)
    assert isinstance(fixed.decoder, FixedDecoder)
    assert isinstance(chunks.decoder, ChunkDecoder)
    assert isinstance(close.decoder, UntilCloseDecoder)
    assert (fixed.keep_alive, chunks.keep_alive, close.keep_alive) == (True, True, False)
    assert close.decoder.feed(b"abc", []) == 3


def test_an_old_upstream_keeps_alive_only_if_it_says_so() -> None:
    """HTTP/1.0 closes by default."""
    plain = ResponseHead(200, b"", ((CL, b"0"),))
    kept = ResponseHead(200, b"", ((CL, b"0"), (b"Connection", b"keep-alive")))
    assert not frame_response(plain, version="1.0", head_only=False).keep_alive
    assert frame_response(kept, version="1.0", head_only=False).keep_alive


@given(st.binary(max_size=30), st.lists(st.integers(min_value=0, max_value=30)))
def test_a_fixed_body_ends_at_its_byte(data: bytes, places: list[int]) -> None:
    """However the network cuts, body and rest are the same."""
    decoder = FixedDecoder(10)
    out: list[bytes] = []
    edges = [0, *sorted(place for place in places if place < len(data)), len(data)]
    rest = b""
    for start, end in itertools.pairwise(edges):
        if decoder.done:
            rest += data[start:end]
        else:
            decoder.feed(data[start:end], out)
            rest = decoder.rest
    assert b"".join(out) == data[:10]
    assert rest == data[10:]
    assert decoder.done == (len(data) >= 10)
