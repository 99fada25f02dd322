"""Lines of JSON that carry one text."""

import json

import pytest

from herma.policy.sse.json_lines import MAX_LINE_BYTES, spreads
from support.redactor import GITHUB, redactor


def _lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_a_secret_over_two_lines_is_seen() -> None:
    """Each half is harmless alone."""
    assert spreads(redactor(), _lines({"response": GITHUB[:20]}, {"response": GITHUB[20:]}))
    assert spreads(redactor(), _lines("a", GITHUB[:9]) + b"no json\n" + _lines(GITHUB[9:]))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"{}\n",
        b'{\n "a": 1\n}\n',
        b"plain\ntext\n",
        b"[" * 100_000 + b"\n{}",
        _lines({"response": "one "}, {"response": "two"}, {"response": "two"}),
        _lines({"a": GITHUB[:20]}, {"b": GITHUB[20:]}),
        b'"' + b"x" * MAX_LINE_BYTES + b'"\n"y"\n',
    ],
    ids=["empty", "one", "one line", "pretty", "text", "deep", "words", "other places", "long"],
)
def test_other_bodies_are_left_to_the_redactor(raw: bytes) -> None:
    """A document, a text, or lines that hold nothing together."""
    assert not spreads(redactor(), raw)
