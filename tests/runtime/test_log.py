"""What the operator is told."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from herma.runtime.log import Log


def test_plain_line_names_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    """A person sees who speaks; nothing goes to standard output."""
    Log()("serving", "serving on 127.0.0.1:8643")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "herma: serving on 127.0.0.1:8643\n")


def test_json_line_has_time_event_and_message(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads one JSON document a line."""
    Log(as_json=True)("serving", "héllo\n\x1b[2J")
    err = capsys.readouterr().err
    found = json.loads(err)
    assert err.isascii()
    assert err.count("\n") == 1
    assert found.pop("time") > 0
    assert found == {"event": "serving", "message": "héllo\n\x1b[2J"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(message=st.text(max_size=100))
@pytest.mark.parametrize("as_json", [False, True])
def test_no_message_can_move_a_terminal(
    capsys: pytest.CaptureFixture[str], as_json: bool, message: str
) -> None:
    """Whatever a file name or an error holds, it is one line of printable characters."""
    Log(as_json=as_json)("event", message)
    err = capsys.readouterr().err
    assert err.endswith("\n")
    assert err[:-1].isprintable()


def test_control_characters_are_shown_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader sees that something was there."""
    Log()("event", "a\x1b[31mb\nc")
    assert capsys.readouterr().err == "herma: a\\x1b[31mb\\x0ac\n"
