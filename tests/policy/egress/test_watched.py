"""What stands in watched files is known again, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.watched import MAX_LINES, Watched
from herma.policy.secret import Secret

KEY = Secret(b"a key for tests only, 32 bytes long")
FILE = """
# the settings of an agent
export API_KEY="k3y-0f-th3-t3st-0001"
PASSWORD = 'corr3ct horse b4ttery' # a comment
URL=https://agent.example.com/v1/models
DATABASE=postgres://agent:s3cr3t-0f-1t@db.example.com/agent
SHORT=abc123
WORD=production-environment
RECIPE=three spoons of plain flour
a-line-that-is-n0-assignment
"""


def of(*texts: str) -> Watched:
    """What is known of some files."""
    return Watched.of(KEY, texts)


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        'API_KEY="k3y-0f-th3-t3st-0001"',
        "look: k3y-0f-th3-t3st-0001, and go on",
        "https://example.com/?q=k3y-0f-th3-t3st-0001",
        "user:k3y-0f-th3-t3st-0001@example.com",
        "corr3ct horse b4ttery",
        "PASSWORD = 'corr3ct horse b4ttery'",
        "a-line-that-is-n0-assignment",
        "three spoons of plain flour",
        "RECIPE=three spoons of plain flour",
    ],
)
def test_a_line_or_its_value_is_known_again(text: str) -> None:
    """Alone, with its name, and in the middle of a sentence or a URL."""
    assert of(FILE).found(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc123",
        "production-environment",
        "https://agent.example.com/v1/models",
        "# the settings of an agent",
        "API_KEY is not set",
        "k3y-0f-th3-t3st-0002",
        "three spoons of plain sugar",
    ],
)
def test_what_many_files_hold_is_no_secret(text: str) -> None:
    """Short values, words, addresses, comments and names."""
    assert not of(FILE).found(text)


def test_without_files_nothing_is_known() -> None:
    """Nor is anything looked for."""
    assert not of().found(FILE)
    assert len(of()) == 0
    assert len(of(FILE)) > 0


def test_a_file_of_too_many_lines_is_told() -> None:
    """It is no file of keys."""
    with pytest.raises(ValueError, match="lines"):
        of("\n" * (MAX_LINES + 1))


def test_two_are_joined() -> None:
    """A key that was changed is still a key for a while."""
    both = of("A=0lder-value-of-it").joined(of("A=n3wer-value-of-it"))
    assert both.found("0lder-value-of-it")
    assert both.found("n3wer-value-of-it")


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_value_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    """As long as a blank or a quote stands between."""
    assert of(FILE).found(f"{before} k3y-0f-th3-t3st-0001 {after}")
