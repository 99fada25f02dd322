"""Bypass rows 45 to 47: control characters and hostile headers, on the way in, in the logs and on the way out."""

import re

import pytest

from support.gate import Gate
from support.raw import Ended, raw
from support.upstream import CLOSE, RecordingUpstream, answer, json_answer
from support.verdict import assert_refused, code_of

PROTECTED = "/v1/models"


def _header_line(gate: Gate, line: bytes, *, key: str | None = "admin") -> bytes:
    """Write a request with one header line exactly as given."""
    head = gate.message("GET", PROTECTED, key=key)
    return head[:-2] + line + b"\r\n\r\n"


@pytest.mark.bypass(45)
@pytest.mark.parametrize(
    "line",
    [
        b"X-A: b\rc",
        b"X-A: b\nX-Forwarded-User: root",
        b"X-A: b\x00c",
        b"X-A: b\r\n c",
        b"X-A: b\r\n\tX-Forwarded-User: root",
        b"X-A: \x01",
        b"X-A: b\x7f",
        b"X-A: b\x0bc",
        b"X-A: \x1b[31m",
        b"X-A:\r\n b",
        b"X-A: b\r\rX-B: c",
        b"X-A: b\n",
        b"X-Hermes-Session-Id: a\rb",
        b"X-Hermes-Session-Id: a\x00b",
        b"Authorization: Bearer a\x00b",
    ],
)
@pytest.mark.parametrize("key", [None, "admin"])
def test_control_characters_in_a_value_end_the_connection(
    gate: Gate, upstream: RecordingUpstream, line: bytes, key: str | None
) -> None:
    """Line breaks, folds and control bytes in a header are 400, and nothing else is read."""
    assert_refused(upstream, raw(gate.port, _header_line(gate, line, key=key)), 400, closed=True)


@pytest.mark.bypass(45)
@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_bare_line_ends_are_refused(gate: Gate, upstream: RecordingUpstream, end: bytes) -> None:
    """A line ends with CR LF and nothing else."""
    whole = gate.message("GET", PROTECTED, key="admin")
    assert_refused(upstream, raw(gate.port, whole.replace(b"\r\n", end) + b"\r\n\r\n"), 400, closed=True)
    first, rest = whole.split(b"\r\n", 1)
    assert_refused(upstream, raw(gate.port, first + end + rest), 400, closed=True)


@pytest.mark.bypass(46)
def test_nothing_a_client_sends_can_forge_a_line_of_the_log(gate: Gate, upstream: RecordingUpstream) -> None:
    """Escape sequences and line breaks from the wire never stand raw in what an operator reads."""
    cases = [
        gate.message("GET", "/%1b[2J%0a{%22forged%22:1}", key="admin"),
        gate.message("GET", "/x%c2%9b31m", key="admin"),
        gate.message("GET", b"/x\x1b[31m", key="admin"),
        gate.message("GET", "/x", key="admin", headers=[("User-Agent", "\x1b[31m\x9b")]),
        gate.message("GET", "/x", key="admin", headers=[("X-Hermes-Session-Id", "a\x9b31mb")]),
        gate.message("GET", "/x%E2%80%AEfdp", key="admin"),
        gate.message("GET", '/x"},{"forged":"1', key="admin"),
        b"\x1b[31mGET / HTTP/1.1\r\n\r\n",
        gate.message("GET", "/v1/models", headers=[("Authorization", "Bearer \x1b[31m")]),
    ]
    for case in cases:
        raw(gate.port, case)
    written = gate.written()
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", written) is None
    assert all("forged" not in line for line in gate.audit())


@pytest.mark.bypass(46)
@pytest.mark.parametrize("name", ["X-Hermes-Session-Id", "X-Hermes-Session-Key"])
@pytest.mark.parametrize("value", ["x" * 257, "a\x9fb", "a\tb", "\x85"])
def test_a_session_header_is_short_and_printable(
    gate: Gate, upstream: RecordingUpstream, name: str, value: str
) -> None:
    """Control characters and more than 256 characters in a session header are refused."""
    talk = gate.ask(
        "POST", "/v1/chat/completions", key="runner", headers=[(name, value)], body=b'{"messages":[]}'
    )
    assert_refused(upstream, talk, 400)


@pytest.mark.bypass(47)
def test_response_headers_are_cleaned(gate: Gate, upstream: RecordingUpstream) -> None:
    """The upstream's banner, hop-by-hop headers and identity echoes do not leave; what clients need does."""
    upstream.on(
        "GET",
        PROTECTED,
        json_answer(
            {"data": []},
            headers=[
                ("Server", "Python/3.11 aiohttp/3.14.1"),
                ("X-Powered-By", "secret-framework"),
                ("Connection", "X-Hop"),
                ("X-Hop", "hop"),
                ("Keep-Alive", "timeout=5"),
                ("Proxy-Authenticate", "Basic"),
                ("X-Forwarded-User", "root"),
                ("X-Auth-Request-Email", "root@example.com"),
                ("Set-Cookie", "__Host-herma=stolen"),
                ("Set-Cookie", "herma_session=stolen"),
                ("Set-Cookie", "theirs=kept"),
                ("X-Request-Id", "req-1"),
                ("X-Hermes-Session-Id", "sess-1"),
                ("Retry-After", "3"),
                ("Trailer", "X-T"),
            ],
        ),
    )
    response = gate.ask("GET", PROTECTED, key="admin").first
    assert response.status == 200
    for name in (
        "server",
        "x-powered-by",
        "x-hop",
        "keep-alive",
        "proxy-authenticate",
        "x-forwarded-user",
        "x-auth-request-email",
        "trailer",
    ):
        assert response.all(name) == [], name
    assert "stolen" not in repr(response.headers)
    assert response.get("x-request-id") == "req-1"
    assert response.get("x-hermes-session-id") == "sess-1"
    assert response.get("retry-after") == "3"
    assert response.get("x-content-type-options") == "nosniff"


@pytest.mark.bypass(47)
@pytest.mark.parametrize(
    "bad",
    [
        b"HTTP/1.1 200 OK\r\nX-A: b\rc\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        b"HTTP/1.1 200 OK\r\nX A: b\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 1_000_000 + b"\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n"
        + b"".join(b"X-%d: y\r\n" % i for i in range(5000))
        + b"Content-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        b"HTTP/1.1 999999 OK\r\nContent-Length: 2\r\n\r\nok",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello",
    ],
)
def test_a_malformed_answer_becomes_a_502(gate: Gate, upstream: RecordingUpstream, bad: bytes) -> None:
    """An answer that is not HTTP to the letter is not passed on."""
    upstream.on("GET", PROTECTED, [bad, CLOSE])
    response = gate.ask("GET", PROTECTED, key="admin").first
    assert response.status == 502
    assert code_of(response).startswith("herma.")
    assert b"ok" not in response.body[:3]


@pytest.mark.bypass(47, 55)
def test_bytes_after_an_answer_are_never_a_second_answer(gate: Gate, upstream: RecordingUpstream) -> None:
    """What follows a complete answer is thrown away together with its connection."""
    extra = answer(200, b"evil", [("X-Evil", "1")])
    upstream.on("GET", PROTECTED, [answer(200, b"{}", [("Content-Type", "application/json")]) + extra])
    message = gate.message("GET", PROTECTED, key="admin")
    talk = raw(gate.port, message * 2, answers=2)
    assert b"evil" not in talk.received.lower()
    assert talk.ended is Ended.OPEN or talk.statuses[0] == 200
