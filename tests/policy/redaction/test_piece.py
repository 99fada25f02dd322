"""Where a piece that is masked unseen begins and ends."""

import pytest

from herma.policy.redaction.piece import MAX_BEFORE, MAX_VALUE_CHARS, piece_end, piece_start

LINE = ("F4keK3yF0rT3st" * 5)[:64]


def test_a_piece_begins_with_its_line() -> None:
    """The credential may stand in front of the word that tells it."""
    text = "one\necho x | docker login"
    assert piece_start(text, text.index("docker"), 0) == 4
    assert piece_start(text, text.index("docker"), 8) == 8
    assert piece_start("x" * 5000, 4000, 0) == 4000 - MAX_BEFORE


@pytest.mark.parametrize(
    ("text", "at", "end"),
    [
        ("token:\n  value: x\nrest", 3, "rest"),
        ('password = """\na\nb\nc\n"""\nrest', 3, '"""\nrest'),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n{LINE}\n{LINE}\n-----END\nrest", 3, "\n-----END\nrest"),
        ("x" * 40_000, 10, "x" * (40_000 - 10 - 2 * MAX_VALUE_CHARS)),
        ("short", 5, ""),
    ],
    ids=["next line", "lines in quotes", "key", "no lines", "end"],
)
def test_a_piece_ends_where_nothing_goes_on(text: str, at: int, end: str) -> None:
    """A value on the next line, a text of many lines and a key go with the piece that began them."""
    assert text[piece_end(text, 0, at) :] == end


def test_quotes_that_never_close_end_at_the_bound() -> None:
    """The longest value is read so far."""
    text = 'a = """\n' + "b\n" * 20_000
    assert piece_end(text, 0, 3) == len('a = """\nb\n') + MAX_VALUE_CHARS
