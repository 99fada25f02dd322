"""Words and letters with signs strewn between them, or with nothing between them at all.

`delete-all-the-logs` and `d.e.l.e.t.e` are read as they are meant. What cannot be read again, since nothing tells one word from
the next, is told as a disguise: no prompt that somebody wrote to be understood is a row of single letters.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from herma.policy.text.shape import LOWER, UPPER, Shape

__all__ = ["parted", "spells"]

# Signs that stand between words or letters.
_BETWEEN: Final = "-_.+|/*~·,:;=^"
_BYTES_BETWEEN: Final = bytes(sorted(set(_BETWEEN.encode())))
# Every second character, or nearly, where a sign stands between letters; in hyphenated prose one in forty.
STREWN_SHARE: Final = 0.4
# Below this a text is a name.
MIN_STREWN_CHARS: Final = 24
# Words that hang together by signs: names of branches, pages and files have fewer, but in links.
_HANGING = re.compile(r"(?<![^\W_])[^\W_]{1,24}(?:[-_.+|/*~·,:;=^]{1,2}[^\W_]{1,24}){8,}")
# Words that hang together make one that is longer than a word.
LONGEST_WORD: Final = 24
_LONG_WORD: Final = Shape({"a": "".join(map(chr, range(33, 127)))}, "a" * LONGEST_WORD)
_GAP = re.compile(r"(?<=[^\W_])[-_.+|/*~·,:;=^]|[-_.+|*~·,:;=^](?=[-_+|*~·,:;=^])")
# A link's path hangs together; where its words begin, the scheme is not far.
_LINK = re.compile(r"\w://\S*$")
MAX_HOST_CHARS: Final = 64
# Ideographs and kana stand side by side; with signs between them they are strewn.
_APART_IDEOGRAPHS = re.compile("(?<=[\u3040-\u30ff\u3400-\u9fff])[- _.*|·~](?=[\u3040-\u30ff\u3400-\u9fff])")
MIN_APART: Final = 6

# Signs one by one: letters, and what stands in a sentence beside them.
_SINGLE = re.compile(r"(?<![^\W_])\S(?P<gap>[ \-_.*|·,/~+])(?:\S(?P=gap)){22,2048}\S(?![^\W_])")
_SINGLE_SHAPE: Final = Shape({"a": LOWER + UPPER, ".": " -_.*|,/~+"}, "a.a.a.")
_LETTER = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
# An alphabet, or a scale of notes, has each letter once, or few of them; a sentence of 20 letters has more than eight, some
# of them again.
MIN_SPELLED: Final = 18
LETTER_SHARE: Final = 0.35
MIN_LETTERS: Final = 9
MIN_REPEATED: Final = 6
# A word of German may have 40 letters; a text of nothing else has sentences without blanks.
_RUN_ON = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f]{16,}")
MIN_RUN_ON_CHARS: Final = 40


def parted(plain: str) -> Iterator[str]:
    """Give a bare text with what is strewn between its words or letters taken out; nothing for ordinary text."""
    if len(plain) < MIN_STREWN_CHARS:
        return
    written = len(plain) - plain.count(" ")
    raw = plain.encode("utf-8", "replace")
    signs = _BETWEEN if len(raw) - len(raw.translate(None, _BYTES_BETWEEN)) >= STREWN_SHARE * written else ""
    for sign in signs:
        if plain.count(sign) >= STREWN_SHARE * written:
            yield plain.replace(sign, "")
    if _has_long_word(plain) and any(
        not _in_link(plain, hanging.start()) for hanging in _HANGING.finditer(plain)
    ):
        yield _GAP.sub(" ", plain)
    if not plain.isascii():
        closed, count = _APART_IDEOGRAPHS.subn("", plain)
        if count >= MIN_APART:
            yield closed


def _has_long_word(plain: str) -> bool:
    if plain.isascii():
        return _LONG_WORD.may_match(plain)
    return max(map(len, plain.split()), default=0) >= LONGEST_WORD


def _in_link(plain: str, at: int) -> bool:
    return _LINK.search(plain, max(0, at - MAX_HOST_CHARS), at) is not None


def spells(text: str) -> bool:
    """Tell whether a text spells sentences letter by letter, or writes them without any gap."""
    if not _SINGLE_SHAPE.may_match(text):
        return _runs_on(text)
    return any(_is_sentence(match[0]) for match in _SINGLE.finditer(text)) or _runs_on(text)


def _is_sentence(spelled: str) -> bool:
    letters = _LETTER.findall(spelled.lower())
    kinds = len(set(letters))
    return (
        len(letters) >= max(MIN_SPELLED, len(spelled) * LETTER_SHARE)
        and kinds >= MIN_LETTERS
        and len(letters) - kinds >= MIN_REPEATED
        # Each after the one before: an alphabet, over and over.
        and sum(second > first for first, second in pairwise(letters)) * 4 < len(letters) * 3
    )


def _runs_on(text: str) -> bool:
    """Tell whether most of a text stands in words that are longer than words are."""
    if len(text) < MIN_RUN_ON_CHARS or text.count(" ") * LONGEST_WORD > len(text):
        return False
    # Capitals tell words apart, but where there is nothing else.
    runs = _RUN_ON.findall(text.lower() if text.isupper() else text)
    return len(runs) > 0 and max(map(len, runs)) > LONGEST_WORD and sum(map(len, runs)) * 2 > len(text)
