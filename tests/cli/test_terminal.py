"""What a person sees."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.cli.terminal import Terminal, plain


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_written(text: str) -> None:
    """Control characters, direction marks and other invisible ones show as escapes; line ends stay."""
    written = plain(text)
    assert all(character.isprintable() or character == "\n" for character in written)


@pytest.mark.parametrize("text", ["\x1b[31m", "\x9b31m", "\u202e", "\u200b", "\r", "\x07"])
def test_known_tricks_become_escapes(text: str) -> None:
    """Colours, reversed text, invisible text, overwritten lines and bells."""
    assert text[0] not in plain(text)
    assert plain(text).startswith("\\")


class Person(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "agreed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_only_yes_is_yes(answer: str, agreed: bool) -> None:
    """Enter alone changes nothing."""
    assert Terminal(Person(answer), io.StringIO(), io.StringIO()).agrees("Go on?") is agreed


def test_nobody_to_ask_means_no() -> None:
    """A script says yes by an option only."""
    err = io.StringIO()
    assert not Terminal(io.StringIO("y\n"), io.StringIO(), err).agrees("Go on?")
    assert err.getvalue() == ""


def test_answers_and_notes_go_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """A script reads standard output, a person both."""
    terminal = Terminal()
    terminal.out("answer")
    terminal.json({"a": "\x1b"})
    terminal.note("note")
    captured = capsys.readouterr()
    assert captured.out == 'answer\n{\n  "a": "\\u001b"\n}\n'
    assert captured.err == "note\n"


def test_bytes_pass_as_they_are() -> None:
    """What is a copy of something is no text for a person; a stream without bytes below it takes stand-ins."""
    raw = io.BytesIO()
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\x1b"))
    terminal = Terminal(stdin, io.TextIOWrapper(raw), io.StringIO())
    terminal.write(terminal.input.read())
    terminal.flush()
    assert raw.getvalue() == b"\xff\x1b"
    text = io.StringIO()
    Terminal(io.StringIO(), text, io.StringIO()).write(b"\xff\x1b")
    assert text.getvalue() == "\udcff\x1b"


def test_an_output_without_a_reader_can_be_given_up(tmp_path: Path) -> None:
    """What is still in it goes nowhere; one in memory has nothing to give up."""
    Terminal(stdout=io.StringIO()).abandon()
    with (tmp_path / "out").open("w") as stream:
        terminal = Terminal(stdout=stream)
        terminal.out("said")
        terminal.abandon()
    assert (tmp_path / "out").read_text() == ""
