"""Claims about `herma.policy.entry.script`."""

import pytest

from herma.policy.entry.script import mixes_scripts

WORDS = {
    "Latin": ("mcp-server", False),
    "a Cyrillic letter among Latin ones": ("mcp-s\u0435rver", True),
    "a Greek one": ("m\u03bfcp", True),
    "another script alone": ("\u0441\u0435\u0440\u0432\u0435\u0440", False),
    "two labels": ("mcp.\u0441\u0435\u0440\u0432\u0435\u0440", False),
    "accents": ("caf\u00e9", False),
}


@pytest.mark.parametrize(("word", "mixes"), WORDS.values(), ids=WORDS.keys())
def test_a_word_of_two_scripts_is_told(word: str, mixes: bool) -> None:
    """Letters of another script count where they imitate Latin ones, within one label."""
    assert mixes_scripts(word) is mixes
