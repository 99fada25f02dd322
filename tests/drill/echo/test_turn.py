"""What a message makes the echo agent do."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.drill.echo.turn import MAX_TEXT_CHARS, message_text, turn_of, words


@given(st.text())
def test_words_add_up_to_the_text(text: str) -> None:
    """Streaming word by word loses nothing and adds nothing."""
    assert "".join(words(text)) == text


def test_run_asks_for_the_command() -> None:
    """`RUN:` makes the rest a command, kept raw."""
    turn = turn_of("RUN: export TOKEN=fake-value-1;\n  ls")
    assert turn.command == "export TOKEN=fake-value-1;\n  ls"
    assert turn.preview == "export TOKEN=fake-value-1; ls"
    assert json.loads(turn.arguments) == {"command": turn.command}
    assert json.loads(turn.pending)["command"] == turn.command
    assert turn.command in turn.output("once")
    assert turn.command not in turn.output("deny")


def test_anything_else_is_echoed() -> None:
    """A message without a command is given back."""
    turn = turn_of("hello there")
    assert (turn.command, turn.preview, turn.unanswered) == (None, "", "You said: hello there")
    assert turn.usage(turn.unanswered) == (2, 4)


def test_long_texts_are_cut() -> None:
    """The real server reads no further, so neither does this one."""
    assert len(turn_of("x" * (MAX_TEXT_CHARS + 1)).text) == MAX_TEXT_CHARS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ({"role": "user", "content": "message"}, "message"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ([{"role": "user", "content": "first"}, {"role": "user", "content": "last"}], "last"),
        (["a", "b"], "a\nb"),
        ([], ""),
        (None, ""),
        (7, ""),
        ({"text": 7}, ""),
    ],
)
def test_the_prompt_is_found_wherever_it_sits(value: Any, text: str) -> None:
    """Strings, messages, parts and lists of them all carry text."""
    assert message_text(value) == text
