"""Requests through the running gate."""

import gzip

import pytest

from support.egress_process import Child, Neighbour, through
from support.redactor import GITHUB


def test_what_is_innocent_arrives_byte_for_byte(serving: Child, stranger: Neighbour) -> None:
    """And is answered."""
    assert through(serving, f"http://127.0.0.1:{stranger.port}/a?b=%63", b'{"a":  1}') == (200, {})
    assert stranger.seen[-1] == ("/a?b=%63", b'{"a":  1}')


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("/secret", GITHUB.encode(), {}),
        (f"/secret?q={GITHUB}", b"", {}),
        ("/secret", gzip.compress(GITHUB.encode()), {"Content_Encoding": "gzip"}),
        ("/secret", gzip.compress(GITHUB.encode()), {}),
        ("/secret", b"", {"X_Note": GITHUB}),
    ],
)
def test_a_secret_never_reaches_a_stranger(
    serving: Child, stranger: Neighbour, path: str, body: bytes, fields: dict[str, str]
) -> None:
    """The refusal says why, and repeats nothing."""
    status, said = through(serving, f"http://127.0.0.1:{stranger.port}{path}", body, **fields)
    assert (status, said["code"]) == (403, "herma.egress.secret")
    assert GITHUB not in str(said)
    assert not [seen for seen, _ in stranger.seen if seen.startswith("/secret")]


def test_a_platform_gets_it_masked(serving: Child, chat: Neighbour) -> None:
    """The text around it stays."""
    status, _ = through(
        serving,
        f"http://127.0.0.1:{chat.port}/_matrix/client/v3/rooms/a/send/m.room.message/1",
        f'{{"body": "run it with {GITHUB} now"}}'.encode(),
        Content_Type="application/json",
    )
    assert status == 200
    body = chat.seen[-1][1]
    assert body.startswith(b'{"body": "run it with [')
    assert body.endswith(b' now"}')
    assert GITHUB.encode() not in body


def test_a_coding_that_nobody_looks_into_is_refused(serving: Child, stranger: Neighbour) -> None:
    """It could hold anything."""
    status, said = through(
        serving, f"http://127.0.0.1:{stranger.port}/br", b"\x0b\x02\x80hello\x03", Content_Encoding="br"
    )
    assert (status, said["code"]) == (415, "herma.egress.encoding")
    status, said = through(
        serving, f"http://127.0.0.1:{stranger.port}/br", b"no gzip", Content_Encoding="gzip"
    )
    assert status == 400
    assert "/br" not in [path for path, _ in stranger.seen]


def test_another_host_than_the_destination_is_refused(serving: Child, stranger: Neighbour) -> None:
    """The field would choose another site behind the same address."""
    status, said = through(
        serving, f"http://127.0.0.1:{stranger.port}/fronted", b"", Host="other.example.com"
    )
    assert (status, said["code"]) == (403, "herma.egress.fronting")
    assert "/fronted" not in [path for path, _ in stranger.seen]
