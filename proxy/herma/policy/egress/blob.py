"""Long runs of base64 that hold bytes and no text: pictures, sounds, archives, in one run or in lines.

Read as text they are nothing but work, and here and there they look like a key by chance; masked, the picture is broken. They are
taken out before a text is judged and put back behind it. What they hold is looked at by who looks inside.
"""

import binascii
import re
from typing import Final

__all__ = ["MIN_CHARS", "returned", "taken_out"]

# No credential is longer: a key of 4,096 bits in a PEM file has 3,272 characters.
MIN_CHARS: Final = 4096
_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9_-]{4096,}+|(?:[A-Za-z0-9+/]{48,}+(?:(?:\\r)?\\n|\r?\n)?)++[A-Za-z0-9+/]*+)={0,2}"
)
_NO_BASE64: Final = re.compile(r"\\[rn]|[^A-Za-z0-9+/]+")
_STANDARD: Final = str.maketrans("-_", "+/")
_TEXT: Final = bytes((*b"\t\n\r", *range(0x20, 0x7F)))
# Of random bytes, 38 in a hundred are characters; of a text nearly all.
_TEXT_PERCENT: Final = 60
_SAMPLE_CHARS: Final = 64 * 1024


def taken_out(text: str) -> tuple[str, dict[str, str]]:
    """Give a text with short words in the place of the runs, and what each word stands for."""
    runs = [run for run in _RUN.finditer(text) if len(run[0]) >= MIN_CHARS and _is_noise(run[0])]
    if not runs:
        return text, {}
    word = "blob"
    while word in text:
        word += "b"
    parts: list[str] = []
    taken: dict[str, str] = {}
    done = 0
    for number, run in enumerate(runs):
        # The ends are letters, so that no word is part of another one.
        name = f"{word}{number}x"
        taken[name] = run[0]
        parts += (text[done : run.start()], name)
        done = run.end()
    return "".join((*parts, text[done:])), taken


def returned(text: str, taken: dict[str, str]) -> str:
    """Put the runs back; one whose word was masked stays away."""
    if not taken:
        return text
    return re.sub("|".join(taken), lambda word: taken[word[0]], text)


def _is_noise(run: str) -> bool:
    letters = _NO_BASE64.sub("", run[:_SAMPLE_CHARS].translate(_STANDARD))
    raw = binascii.a2b_base64(letters[: len(letters) // 4 * 4])
    return (len(raw) - len(raw.translate(None, _TEXT))) * 100 < len(raw) * _TEXT_PERCENT
