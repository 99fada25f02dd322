"""The gate from its start to its end."""

import socket
from pathlib import Path

import pytest

from herma.egress.line import RELOAD, Note, Sent
from support.egress_process import child, neighbour, ready, through


def test_content_is_read_again_and_a_bad_one_is_not_taken(tmp_path: Path) -> None:
    """A value of a watched file is refused as soon as the order is done."""
    watched = tmp_path / ".env"
    watched.write_text("NOTE=f1rst-value-of-the-file\n")
    with neighbour() as stranger:
        section = {"near": [f"127.0.0.1:{stranger.port}"], "watch": [str(watched)]}
        url = f"http://127.0.0.1:{stranger.port}/"
        with child(tmp_path, section) as started:
            ready(started)
            assert (
                through(started, url, b"look: f1rst-value-of-the-file")[1]["code"] == "herma.egress.watched"
            )
            assert through(started, url, b"look: s3cond-value-of-the-file")[0] == 200
            watched.write_text("NOTE=s3cond-value-of-the-file\n")
            started.order(RELOAD)
            assert started.hear(Note, "egress.reloaded")
            for value in (b"f1rst-value-of-the-file", b"s3cond-value-of-the-file"):
                assert through(started, url, value)[1]["code"] == "herma.egress.watched"
            started.order(b"dance\n")
            assert started.hear(Note, "egress.order")
            assert started.end() == 0
    sent = [one for one in started.said if isinstance(one, Sent)]
    assert {(one.outcome, one.status) for one in sent} >= {("denied", 403), ("answered", 200)}
    assert all("value" not in str(one) for one in sent)


def test_an_address_that_is_taken_is_told(tmp_path: Path) -> None:
    """And the process ends."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with child(tmp_path, {"port": taken.getsockname()[1]}) as started:
            note = started.hear(Note, "egress.start")
            assert note is not None
            assert started.process.wait(30) == 78


@pytest.mark.parametrize("mode", [0o644, 0o604])
def test_an_authority_that_others_can_read_is_not_used(tmp_path: Path, mode: int) -> None:
    """Its key would be everybody's."""
    with child(tmp_path, {}) as first:
        ready(first)
        assert first.end() == 0
    (tmp_path / "egress" / "mitmproxy-ca.pem").chmod(mode)
    with child(tmp_path, {}) as second:
        note = second.hear(Note, "egress.start")
        assert note is not None
        assert second.process.wait(30) == 78
