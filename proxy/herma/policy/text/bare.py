"""Text with its ornaments taken off, so that one spelling of a word stands for all.

Compatibility forms, case, accents, vowel points, invisible characters, kinds of quotes and blanks are undone; scripts are
kept. Vocabularies are written in any spelling and pass through here as well.
"""

# ruff: noqa: RUF001 - the characters are what the module is about

import re
import unicodedata

from herma.policy.text.views import strip_invisible

__all__ = ["bare"]

# Normalising may give something to normalise again (a capital with a mark, a compatibility form of a blank); the third
# pass never changed anything in 100 million random characters.
MAX_PASSES = 4

_BLANKS = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")
# Every blank but the space and the line break.
_PLAIN_BLANKS = frozenset("\t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(point) for point in range(0x2000, 0x200B)
}
# Those of ASCII: deleting them from bytes takes a tenth of the time that asking for each character takes.
_ASCII_BLANKS = bytes(sorted(map(ord, filter(str.isascii, _PLAIN_BLANKS))))
_BREAKS = re.compile(r" ?\n[\n ]*")
# Marks that carry no word of their own: accents of Latin, Greek and Cyrillic, points of Hebrew, vowels of Arabic, the
# nukta of Devanagari. Vowel signs of Indic scripts and tones of Thai are letters.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
_SAME = str.maketrans(
    {
        "ı": "i",
        "ə": "e",
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ħ": "h",
        "ŧ": "t",
        "ς": "σ",
        "ґ": "г",
        "ا": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        "ة": "ه",
        "ە": "ه",
        "ہ": "ه",
        "ھ": "ه",
        **dict.fromkeys("‘’‚‛′`´ʹʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **{chr(0x1F1E6 + index): chr(97 + index) for index in range(26)},
        **{chr(start + index): chr(97 + index) for start in (0x1F150, 0x1F170) for index in range(26)},
    }
)
# `str.translate` looks up every character; what is not in the table is most of a text.
_SIGN = re.compile("[" + "".join(re.escape(chr(point)) for point in _SAME) + "]")


def _plainer(match: re.Match[str]) -> str:
    return _SAME[ord(match[0])]


def bare(text: str) -> str:
    """Give a text in its plainest spelling: lower-case, one blank for many, a line break where there was one."""
    if text.isascii():
        return _spaced(text.lower())
    plainer = _once(text)
    passes = 1
    while plainer != text and passes < MAX_PASSES:
        text, plainer = plainer, _once(plainer)
        passes += 1
    return plainer


def _once(text: str) -> str:
    plain = unicodedata.normalize("NFKC", strip_invisible(text)).lower()
    apart = _SIGN.sub(_plainer, _MARKS.sub("", unicodedata.normalize("NFKD", plain)))
    return _spaced(unicodedata.normalize("NFC", apart))


def _spaced(text: str) -> str:
    if _is_blanked(text) or "  " in text:
        text = _BLANKS.sub(" ", text)
    return _BREAKS.sub("\n", text) if "\n" in text else text


def _is_blanked(text: str) -> bool:
    """Tell whether a text holds a blank that is neither a space nor a line break."""
    if text.isascii():
        return len(text.encode("ascii").translate(None, _ASCII_BLANKS)) < len(text)
    return not _PLAIN_BLANKS.isdisjoint(text)
