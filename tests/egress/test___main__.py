"""The process itself."""

import signal
from pathlib import Path

from herma.egress.line import Note
from support.egress_process import child, ready


def test_it_ends_with_its_standard_input_and_not_before(tmp_path: Path) -> None:
    """A signal to the whole group is not for it."""
    with child(tmp_path, {}) as started:
        ready(started)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            started.process.send_signal(number)
        started.order(b"still there\n")
        assert started.hear(Note, "egress.order")
        assert started.end() == 0


def test_without_a_key_it_does_not_start(tmp_path: Path) -> None:
    """Fingerprints would be anybody's."""
    with child(tmp_path, {}, b"c2hvcnQ=\n") as started:
        note = started.hear(Note, "egress.start")
        assert note is not None
        assert "c2hvcnQ" not in note.text
        assert started.process.wait(30) == 78


def test_a_configuration_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """With its place."""
    with child(tmp_path, {"mode": "dance"}) as started:
        note = started.hear(Note, "egress.start")
        assert note is not None
        assert "herma.yaml" in note.text
        assert started.process.wait(30) == 78
