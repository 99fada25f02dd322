"""Credentials in the head of an answer: under any name, in interim answers and in the reason phrase."""

import pytest

from support.gate import Gate
from support.upstream import RecordingUpstream, answer

SECRET = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"
JSON = [("Content-Type", "application/json")]


@pytest.mark.bypass(47)
@pytest.mark.parametrize("status", [200, 201, 302, 401, 404, 500, 503])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Location", "https://files.invalid/a?access_token={}"),
        ("Link", "<https://x.invalid/{}>; rel=next"),
        ("Content-Disposition", "attachment; filename={}"),
        ("WWW-Authenticate", 'Bearer realm="{}"'),
        ("Set-Cookie", "last={}"),
        ("Server-Timing", 'x;desc="{}"'),
        ("Anything", "{}"),
    ],
)
def test_no_header_of_an_answer_shows_a_secret(
    gate: Gate, upstream: RecordingUpstream, name: str, value: str, status: int
) -> None:
    """Whatever a header is called, its value is judged like the body."""
    upstream.on("GET", "/v1/models", [answer(status, b"{}", [*JSON, (name, value.format(SECRET))])])
    talk = gate.ask("GET", "/v1/models", key="admin")
    assert talk.status == status
    assert SECRET.encode() not in talk.received


@pytest.mark.bypass(47)
def test_neither_an_interim_answer_nor_a_reason_phrase_passes(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """What stands before the head, and behind the status, stays behind the gate."""
    early = f"HTTP/1.1 103 {SECRET}\r\nLink: <{SECRET}>\r\n\r\n".encode()
    upstream.on("GET", "/v1/models", [early + answer(200, b"{}", JSON, reason=SECRET)])
    talk = gate.ask("GET", "/v1/models", key="admin")
    assert talk.status == 200
    assert talk.interim == []
    assert SECRET.encode() not in talk.received
