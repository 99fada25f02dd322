"""Which alphabet a key was drawn from, and what each of its characters is worth.

A hex digit is worth 4 bits, not the 6.6 of any printable character: the smallest alphabet that explains the key counts.
"""

import math
import string

__all__ = ["Sheet", "class_bits", "prices"]

_HEX_LOWER = "0123456789abcdef"
_ALPHABETS: tuple[frozenset[str], ...] = tuple(
    map(
        frozenset,
        (
            string.digits,
            _HEX_LOWER,
            _HEX_LOWER.upper(),
            string.ascii_lowercase,
            string.ascii_uppercase,
            string.ascii_uppercase + "234567",  # base32, RFC 4648 section 6
            string.ascii_lowercase + string.digits,
            string.ascii_uppercase + string.digits,
            string.ascii_letters,
            string.ascii_letters + string.digits,
            string.ascii_letters + string.digits + "-_",  # base64url, RFC 4648 section 5
            string.ascii_letters + string.digits + "+/",
        ),
    )
)
_PRINTABLE = 94
# The same stranger once more.
_AGAIN_BITS = 1.0
# To say which alphabet (twelve and one), and how many strangers.
_ANNOUNCE_BITS = 6.0

type Sheet = tuple[float, ...]


def prices(key: str, slack_bits: float) -> tuple[Sheet, ...]:
    """Return the believable ways to price each character, in bits.

    The first is the smallest alphabet that holds the whole key. A second one, a smaller alphabet with a few strangers in it
    (twelve hex digits and `!!!!`), is believed when it explains the key better by `slack_bits`: a random key hardly ever
    looks so.
    """
    plain = _plain(key)
    best = min([_few(key), *(_mixed(key, alphabet) for alphabet in _ALPHABETS)], key=sum)
    return (plain, best) if sum(best) + _ANNOUNCE_BITS + slack_bits <= sum(plain) else (plain,)


def class_bits(character: str) -> float:
    """Return what a character that people choose is worth: they choose a class first."""
    if character in string.digits:
        return math.log2(10)
    if character in string.ascii_letters:
        return math.log2(26)
    return math.log2(_PRINTABLE - 62)


def _plain(key: str) -> Sheet:
    used = frozenset(key)
    size = min((len(alphabet) for alphabet in _ALPHABETS if used <= alphabet), default=_PRINTABLE)
    return (math.log2(size),) * len(key)


def _mixed(key: str, alphabet: frozenset[str]) -> Sheet:
    """Price strangers by which character it is and where it stands; the second time, only by where."""
    inside = math.log2(len(alphabet))
    where = math.log2(len(key))
    sheet: list[float] = []
    for index, character in enumerate(key):
        if character in alphabet:
            sheet.append(inside)
        elif key[:index].endswith(character):
            sheet.append(_AGAIN_BITS)
        elif character in key[:index]:
            sheet.append(where)
        else:
            sheet.append(where + math.log2(_PRINTABLE))
    return tuple(sheet)


def _few(key: str) -> Sheet:
    """Price a key made of a few different characters: which ones, then which of them at each place."""
    different = len(frozenset(key))
    which = math.log2(math.comb(_PRINTABLE, min(different, _PRINTABLE)))
    each = (math.log2(different) * len(key) + which) / len(key)
    return (each,) * len(key)
