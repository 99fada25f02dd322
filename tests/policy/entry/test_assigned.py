"""Claims about `herma.policy.entry.assigned`."""

import pytest

from herma.policy.command.call import Call
from herma.policy.entry.assigned import MAX_ASSIGNED, AssignedError, assigned

CALLS: dict[str, tuple[tuple[str, ...], list[dict[str, str]]]] = {
    "a starter": (("env", "A=1", "B=x y", "node", "C=3"), [{"A": "1", "B": "x y"}]),
    "behind options": (("env", "-i", "-u", "X", "A=1", "node"), [{"A": "1"}]),
    "an option that sets": (("systemd-run", "--setenv=A=1", "node"), [{"A": "1"}]),
    "a property that sets": (("systemd-run", "--property=Environment=A=1", "node"), [{"A": "1"}]),
    "a name that is set again": (("env", "A=1", "A=2"), [{"A": "1"}, {"A": "2"}]),
    "another program": (("make", "A=1"), []),
}


@pytest.mark.parametrize(("argv", "found"), CALLS.values(), ids=CALLS.keys())
def test_a_starter_sets_variables(argv: tuple[str, ...], found: list[dict[str, str]]) -> None:
    """Up to the program that it starts; what stands behind that is its own."""
    assert assigned([Call(argv)], (), ()) == found


LINES = {
    "before a command": ("A=1 B='x y' node s.js", [{"A": "1", "B": "x y"}]),
    "nothing": ("A= node", [{"A": ""}]),
    "an argument": ("node A=1", []),
}


@pytest.mark.parametrize(("line", "found"), LINES.values(), ids=LINES.keys())
def test_a_line_sets_variables_before_its_command(line: str, found: list[dict[str, str]]) -> None:
    """Anything behind the first word is an argument."""
    assert assigned((), [line], ()) == found


TEXTS = {
    "an export": ("export A=1; node", [{"A": "1"}]),
    "several": ('cd x && export A=1 B="x y"', [{"A": "1", "B": "x y"}]),
    "a declaration": ("declare -gx A=1", [{"A": "1"}]),
    "of the C shell": ("setenv A 1; node", [{"A": "1;"}]),
    "of fish": ("set -gx A 1", [{"A": "1"}]),
    "of PowerShell": ("$env:A = '1'; node", [{"A": "1"}]),
    "of Windows": ("set A=1 && node", [{"A": "1"}]),
    "what a shell goes by itself": ("cd /srv; CDPATH=/tmp; cd x", [{"CDPATH": "/tmp"}]),
    "the same as an argument": ("docker run -e HOME=/tmp x", []),
    "none": ("export A; x=1; test a = b", []),
    "nothing at all": ("node", []),
}


@pytest.mark.parametrize(("text", "found"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_sets_variables_in_the_way_of_its_shell(text: str, found: list[dict[str, str]]) -> None:
    """A variable of the script alone is none of these."""
    assert assigned((), (), [text]) == found


def test_more_than_are_judged_are_refused() -> None:
    """What stands behind many others is not left out."""
    words = ("env", *(f"A{number}=1" for number in range(MAX_ASSIGNED)))
    assert len(assigned([Call(words)], (), ())[0]) == MAX_ASSIGNED
    with pytest.raises(AssignedError):
        assigned([Call((*words, "B=1"))], (), ())
