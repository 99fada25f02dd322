"""Claims about `herma.policy.entry.runner`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.runner import MAX_RUNNERS, RUNNER_WORDS, PackagesError, fetching, operands


def _fetched(line: str) -> list[tuple[str, str, list[str]]]:
    return [
        (fetch.runner, fetch.order, list(operands(fetch.words, every=fetch.every)))
        for fetch in fetching(line)
    ]


LINES = {
    "no order": ("npx -y a b", [("npx", "", ["a"])]),
    "an order": ("npm --yes exec a b", [("npm", "exec", ["a"])]),
    "an option with a value before the order": ("npm --loglevel silent exec a", [("npm", "exec", ["a"])]),
    "a package before the order": ("pnpm --package a exec b", [("pnpm", "exec", ["a", "b"])]),
    "a package before the order, joined": ("pnpm --package=a exec b", [("pnpm", "exec", ["a", "b"])]),
    "an option that nobody knows": ("npx --loglevel error a b", [("npx", "", ["error", "a"])]),
    "an option that is known": ("npx --registry r a b", [("npx", "", ["a"])]),
    "two options": ("uvx --python --with a b", [("uvx", "", ["a", "b"])]),
    "all of them": ("pip3.12 install --quiet a b", [("pip", "install", ["a", "b"])]),
    "another order": ("npm ls a", []),
    "no order at all": ("npm --version", []),
    "nothing behind it": ("npx", []),
    "a tabulator": ("npx\ta", [("npx", "", ["a"])]),
    "an option and nothing": ("npx --registry", [("npx", "", [])]),
}


@pytest.mark.parametrize(("line", "found"), LINES.values(), ids=LINES.keys())
def test_what_a_runner_fetches_is_told_from_its_options(
    line: str, found: list[tuple[str, str, list[str]]]
) -> None:
    """Values of options are passed over where they are known as such, and picked with the operand where not."""
    assert _fetched(line) == found


def test_more_runners_than_are_read_are_no_text() -> None:
    """A text that is made of runners is told from one that names some."""
    assert len(_fetched("npx a; " * MAX_RUNNERS)) == MAX_RUNNERS
    with pytest.raises(PackagesError):
        _fetched("npx a; " * (MAX_RUNNERS + 1))


@given(st.text(alphabet="npxuvigo e-=;.", max_size=30))
def test_every_runner_has_a_word_of_the_first_look(line: str) -> None:
    """Whoever looks for the words first misses none."""
    assert not _fetched(line) or any(word in line.lower() for word in RUNNER_WORDS)
