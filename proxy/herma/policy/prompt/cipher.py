"""Texts whose letters were turned: shifted, mirrored, written backwards, upside down or as digits.

A way back is tried where the text shows words of it: long ones that an order holds, or several of those that every text has.
"""

# ruff: noqa: RUF001 - other scripts are the subject

import re
from collections.abc import Iterator
from typing import Final

import ahocorasick_rs

from herma.policy.text.bare import bare
from herma.policy.text.shape import LOWER, UPPER, Shape

__all__ = ["TELLTALES", "deciphered", "unleeted", "upright"]

# Words that an order which hides in a cipher holds; too long to appear by chance.
TELLTALES: Final = (
    "ignore",
    "instruction",
    "password",
    "secret",
    "upload",
    "execute",
    "credential",
    "forward",
    "delete",
    "previous",
    "disregard",
    "reveal",
    "system prompt",
    "authorized",
    ".hermes",
    ".env",
    "/etc/",
    "curl ",
    "wget ",
    ".ssh",
    "rm -rf",
)
# Words of every day, of which a sentence holds some: with four letters, for shorter ones are other words once shifted.
_COMMON: Final = (
    "your that this with from have every each them then they their into after before without when what which never always"
    " send turn make tell keep copy write read list mail post file files keys report nobody anyone everyone account"
    " allen nicht wenn dass eine einen jede jeden ohne nach schick sende schreib konto datei"
    " tous toutes dans pour avec sans chaque envoie quand fichier compte todos todas para cada cuando archivo cuenta envia"
    " tutti tutte ogni quando senza manda invia della delle conta envie arquivo"
    " alle zonder iedere stuur naar voor wszystkie kazdy przed wyslij kayit butun gonder hesap icin"
)
# Between blanks, shorter ones say as much; backwards, so do those of other scripts.
_SHORT: Final = (
    "the all you out off are not can any one new its our"
    " und die der das dem den auf mit von les des une sur est que los las del una por con che gli per nel"
    " все всех это для что или при без если когда каждый после отправь файл ключ пароль"
    " усі всі після якщо кожен надішли كل على الى من جميع את כל של אל על מה और सभी को के से"
)
# A text may say that it is to be read from its end.
_TOLD: Final = (
    *(
        # Not `reverse` alone: proxies and tunnels are called so.
        "reverse this",
        "reverse the text",
        "reverse the following",
        "reverse the letters",
        "reversed",
        "in reverse",
        "backwards",
        "ruckwarts",
        "a l'envers",
        "al reves",
        "al contrario",
        "ao contrario",
        "achterstevoren",
        "wspak",
    ),
    *(
        "наоборот",
        "задом наперед",
        "навпаки",
        "tersten",
        "倒过来",
        "倒着",
        "逆さ",
        "逆から",
        "거꾸로",
        "بالعكس",
        "उल्टा",
    ),
)
MIN_COMMON: Final = 2
# More ways than this in one text are no cipher but a table of them.
MAX_WAYS: Final = 3

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_WORD: Final = re.compile(r"\w+")
# A sentence from its end: the mark before its first word, or a capital behind the letters of its word.
_MARK_FIRST = re.compile(r"\s{0,8}[.!?。।؟][^\W\d_]")
_CAPITAL_LAST = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я](?<=[^\W\d_]{3}.)(?<=[^A-ZÀ-ÞΑ-ΩА-Я]{3}.)(?!\w)")
_CAPITAL_FIRST = re.compile(r"(?<!\w)[A-ZÀ-ÞΑ-ΩА-Я](?=[^\W\d_])")
_MARKS: Final = (".", "!", "?", "。", "।", "؟")
_CAPITAL_SHAPE: Final = Shape({"a": LOWER, "A": UPPER}, "aaaA")


def _shift(by: int) -> dict[int, int]:
    return str.maketrans(_LETTERS, _LETTERS[by:] + _LETTERS[:by])


type _Table = dict[int, int] | None


def _ciphers() -> tuple[list[str], list[tuple[int, bool]], list[_Table]]:
    """Give each sign, with the number of its way back and whether it tells alone, and the ways; None is backwards."""
    tables = [_shift(by) for by in range(1, 26)] + [str.maketrans(_LETTERS, _LETTERS[::-1])]
    ways: list[_Table] = [None, *(_shift(26 - by) for by in range(1, 26)), tables[-1]]
    signs: dict[str, tuple[int, bool]] = {}
    for words, alone in ((filter(str.isalpha, TELLTALES), True), (_COMMON.split(), False)):
        for word in words:
            for number, table in enumerate(tables, 1):
                signs.setdefault(word.translate(table), (number, alone))
            signs.setdefault(word[::-1], (0, alone))
    for word in _TOLD:
        signs.setdefault(bare(word), (0, True))
    for word in _SHORT.split():
        signs.setdefault(f" {word[::-1]} ", (0, False))
        if word.isascii():
            for number, table in enumerate(tables, 1):
                signs.setdefault(f" {word.translate(table)} ", (number, False))
    for word in (*_COMMON.split(), *_SHORT.split()):
        # What is a word as it stands is no sign.
        signs.pop(word, None)
        signs.pop(f" {word} ", None)
    return list(signs), list(signs.values()), ways


_SIGNS, _TELLS, _WAYS = _ciphers()
_CIPHERED: Final = ahocorasick_rs.AhoCorasick(_SIGNS, implementation=ahocorasick_rs.Implementation.DFA)


def deciphered(plain: str, text: str) -> Iterator[str]:
    """Give what a bare text says in each cipher that it, or the text as it was written, shows a sign of."""
    seen: dict[int, set[int]] = {}
    ways: dict[int, None] = {0: None} if _ends_first(text) else {}
    for sign, _, _ in _CIPHERED.find_matches_as_indexes(plain):
        way, alone = _TELLS[sign]
        signs = seen.setdefault(way, set())
        signs.add(sign)
        if alone or len(signs) >= MIN_COMMON:
            ways[way] = None
            if len(ways) >= MAX_WAYS:
                break
    for way in ways:
        table = _WAYS[way]
        if table is None:
            yield plain[::-1]
            # Or each word by itself, in its place.
            yield _WORD.sub(lambda match: match[0][::-1], plain)
        else:
            yield plain.translate(table)


def _ends_first(text: str) -> bool:
    if _MARK_FIRST.match(text) is not None:
        return not text.rstrip().endswith(_MARKS)
    if not _CAPITAL_SHAPE.may_match(text):
        return False
    # A name may end with a capital; a text with more of them than of words that begin with one is no ordinary text.
    last = len(_CAPITAL_LAST.findall(text))
    return last > 0 and last > len(_CAPITAL_FIRST.findall(text))


# Letters turned upside down; the word is then read from its end.
_TURNED = re.compile("[ɐɔǝɟƃɥıɾʞɯɹʇʌʍʎ]")
MIN_TURNED: Final = 4
_UPRIGHT: Final = str.maketrans("ɐqɔpǝɟƃɥıɾʞɯuɹʇnʌʍʎbd", "abcdefghijkmnrtuvwyqp")


def upright(text: str) -> str | None:
    """Read letters that stand on their heads."""
    if len(_TURNED.findall(text)) < MIN_TURNED:
        return None
    return bare(text.lower().translate(_UPRIGHT)[::-1])


# A sign of exclamation ends words; before a letter it stands for one.
_LEET_SHAPE: Final = Shape({"a": LOWER, "0": "013457@$8", "!": "!"}, "a0", "0a", "!a")
_LEET_SIGN = re.compile(r"[013457@$8](?:(?<=[a-z].)|(?=[a-z]))|!(?=[a-z])")
_LEET_WORD = re.compile(r"(?:[a-z]+[013457@$!8]|[013457@$!8]+)[a-z][a-z013457@$!8]*")
_LEET: Final = (str.maketrans("013457@$!89|", "oieastasibgl"), str.maketrans("013457@$!89|", "oleastaslbgl"))
# Names such as `k8s` and `s3` are a few words of a text; of one in this disguise, a quarter is.
MIN_LEET_WORDS: Final = 4
MIN_LEET_SHARE: Final = 4


def unleeted(plain: str) -> Iterator[tuple[str, bool]]:
    """Read digits as the letters they imitate; with whether so many words mix both that it is no chance."""
    if not _LEET_SHAPE.may_match(plain) or not _LEET_SIGN.search(plain):
        return
    mixed = len(_LEET_WORD.findall(plain))
    sure = mixed >= MIN_LEET_WORDS and mixed * MIN_LEET_SHARE >= plain.count(" ")
    for table in _LEET:
        yield plain.translate(table), sure
