"""mitmproxy with the gate's hooks."""

import logging

import pytest

from herma.egress.proxy import quiet_log
from support.egress_process import Child, Neighbour, through


def test_the_log_tells_no_texts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They may repeat what was sent."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    quiet_log()
    try:
        raise ValueError("the text")
    except ValueError:
        logging.getLogger("made.up").exception("a %s", "secret")
    logging.captureWarnings(capture=False)
    said = capsys.readouterr().err
    assert said.startswith("ERROR made.up:")
    assert said.rstrip().endswith("ValueError")
    assert "secret" not in said
    assert "text" not in said


def test_what_cannot_be_reached_is_said_in_the_gates_words(serving: Child, stranger: Neighbour) -> None:
    """Nothing of the error's text is repeated."""
    assert stranger.port
    status, said = through(serving, "http://no-such-name.invalid/", b"")
    assert status in {502, 503}
    assert said["code"].startswith("herma.egress.")
