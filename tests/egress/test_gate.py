"""Requests through the running gate."""

import gzip
import random
from pathlib import Path

import pytest

from support.egress_process import Child, Neighbour, child, neighbour, ready, through
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


def test_a_packed_body_arrives_as_it_is_and_masked_where_it_must(
    serving: Child, stranger: Neighbour, chat: Neighbour
) -> None:
    """Only what changes is written anew, and then it is not packed."""
    packed = gzip.compress(b'{"a":  1}')
    assert through(serving, f"http://127.0.0.1:{stranger.port}/gz", packed, Content_Encoding="gzip")[0] == 200
    assert stranger.seen[-1] == ("/gz", packed)
    body = gzip.compress(f'{{"body": "run {GITHUB} now"}}'.encode())
    assert through(serving, f"http://127.0.0.1:{chat.port}/gz", body, Content_Encoding="gzip")[0] == 200
    assert chat.seen[-1][1].startswith(b'{"body": "run [')
    assert chat.seen[-1][1].endswith(b' now"}')


def test_what_a_body_unpacks_to_has_room_or_is_refused(tmp_path: Path) -> None:
    """Few bytes on the way in are many while they are judged."""
    with neighbour() as server:
        section = {
            "near": [f"127.0.0.1:{server.port}"],
            "max_body_bytes": 4 * 1024 * 1024,
            "max_buffered_bytes": 1024 * 1024,
        }
        with child(tmp_path, section) as started:
            ready(started)
            url = f"http://127.0.0.1:{server.port}/"
            packed = gzip.compress(random.Random(1).randbytes(768 * 1024).hex().encode())
            status, said = through(started, url, packed, Content_Encoding="gzip")
            assert (status, said["code"]) == (503, "herma.egress.busy")
            assert through(started, url, gzip.compress(b"a" * 1000), Content_Encoding="gzip")[0] == 200
        assert len(server.seen) == 1


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
