"""Escape sequences, and what they are in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.socket import escapes as module
from herma.policy.socket.escapes import Sequence, cut

ESC = "\x1b"


@pytest.mark.parametrize(
    ("written", "gap"),
    [
        ("\x1b[38;2;255;215;0m", ""),
        ("\x1b[?2026h", ""),
        ("\x1b[0'z", "\n"),
        ("\x1b[1C", " "),
        ("\x1b[2J", "\n"),
        ("\x1b[H", "\n"),
        ("\x1b[10;20H", "\n"),
        ("\x1b[>4m", ""),
        ("\x1b]0;Hermes\x07", ""),
        ("\x1b]8;;https://example.com\x1b\\", ""),
        ("\x1bP1$r0m\x1b\\", ""),
        ("\x1b(B", ""),
        ("\x1b7", "\n"),
        ("\x1b=", ""),
    ],
)
def test_a_sequence_is_cut_out(written: str, gap: str) -> None:
    """Colours and modes stand for nothing, a step for a blank, what draws elsewhere for a line end."""
    assert cut(f"a{written}b") == (["a", Sequence(written, gap), "b"], "")


@pytest.mark.parametrize(
    "begun", ["\x1b", "\x1b[", "\x1b[38;5", "\x1b]0;titl", "\x1b]0;t\x1b", "\x1bPx", "\x1b("]
)
def test_what_may_go_on_waits(begun: str) -> None:
    """Until the next bytes say what it is."""
    assert cut(f"a{begun}") == (["a"], begun)


@pytest.mark.parametrize("broken", ["\x1b\x01", "\x1b[\x07x", "\x1b]0;a\x1b[x", "\x1b\x1b[0m"])
def test_what_is_no_sequence_is_text(broken: str) -> None:
    """The sign alone passes, and parts words."""
    parts, begun = cut(broken)
    assert begun == ""
    assert parts[0] == Sequence(ESC, "\n")


def test_a_sequence_without_end_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens one hides nothing behind it."""
    monkeypatch.setattr(module, "MAX_SEQUENCE_CHARS", 8)
    assert cut("\x1b]0;long title") == ([Sequence(ESC, "\n"), "]0;long title"], "")


@given(st.text(alphabet="\x1b[]mHC;0a\\\x07P( "))
def test_nothing_is_lost(text: str) -> None:
    """Put together again it is what it was."""
    parts, begun = cut(text)
    whole = "".join(part.written if isinstance(part, Sequence) else part for part in parts)
    assert whole + begun == text
    assert not any(ESC in part for part in parts if isinstance(part, str))
