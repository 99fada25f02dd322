"""The forms of one text: as it is read, and as it is read once a disguise is undone.

Each disguise is undone only where the text shows a sign of it, so that an ordinary prompt has one form. What a disguise
gives is bare text; nothing is executed, and nothing grows beyond a few copies of the text.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from herma.policy.prompt.cipher import TELLTALES, deciphered, unleeted, upright
from herma.policy.prompt.strewn import parted
from herma.policy.text.bare import bare
from herma.policy.text.shape import LOWER, UPPER, Shape
from herma.policy.text.unfold import unfold
from herma.policy.text.views import strip_invisible, views

__all__ = ["forms"]

# A line that was broken inside a sentence.
_WRAPPED = re.compile(r"\n(?<=[^\s.!?:;]\n)[ \t]{0,8}[^\W\d_A-Z]")
_BROKEN = re.compile(r"(?<![.!?:;,\n])\n(?=[^\W\d_])")
# Letters one by one: `i g n o r e`, `i-g-n-o-r-e`, `i.g.n.o.r.e`.
_SPACED = re.compile(r"(?<![^\W\d_])[^\W\d_](?:([ .\-_*|·,/~+])[^\W\d_](?:\1[^\W\d_]){1,62})(?![^\W\d_])")
_APART = re.compile(r"[ .\-_*|·,/~+\u200b-\u200f](?:[^\W\d_][ .\-_*|·,/~+\u200b-\u200f]){2}")
_APART_SHAPE: Final = Shape({"a": LOWER + UPPER, ".": " .-_*|,/~+"}, ".a.a.")
_WIDE = re.compile(r" {2,8}")
# A word cut by signs: `ig-nore`, `in*struc*tions`.
_CUT = re.compile(r"[-_*~.|·^+'\"`](?<=[^\W\d_].)(?=[^\W\d_]{2})")
_CUT_SHAPE: Final = Shape({"a": LOWER + UPPER, ".": "-_*~.|^+'\"`"}, "a.aa")
_HUMPED_SHAPE: Final = Shape({"a": LOWER, "A": UPPER}, "aA")
_SMALL: Final = "a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f"
_LARGE: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03ab\u0400-\u042f"
_HUMPED = re.compile(rf"[{_LARGE}](?<=[{_SMALL}].)[{_SMALL}]{{1,24}}[{_LARGE}][{_SMALL}]")
_HUMPS = re.compile(rf"(?<=[{_SMALL}])(?=[{_LARGE}])")
_TAGGED = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|<!--[^>]{0,16}-->|\{\}|\[\]|\(\)|``|\*\*|__")
_TAG_SHAPE: Final = Shape({"<": "<", "(": "{[(", ")": "}])", "*": "`*_"}, "<", "()", "**", ascii_only=True)
_QUOTES: Final = ("'", '"', "`")
_QUOTED_JOIN = re.compile(
    r"['\"`] {0,4}(?:\+|\.{1,2}|&|,|and [a-z] {0,2}= {0,2}|; {0,2}[a-z] {0,2}= {0,2}|, {0,2}[a-z] {0,2}= {0,2}"
    r"|\. [^'\"`.]{1,40}: {0,2}| (?:then|and) ) {0,4}['\"`]",
    re.IGNORECASE,
)
# Written so that it begins with letters to look for.
_PIG_END = re.compile(r"ay\b(?<=[a-z]ay)")
_PIG = re.compile(r"\b[a-z.]{2,24}ay\b")
MIN_PIG_WORDS: Final = 4
# At least one word in so many.
MIN_PIG_SHARE: Final = 4
_IMITATION = re.compile(
    "[\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1dbf\ua4d0-\ua4ff\ua720-\ua7ff\u0138\u0180-\u024f\u2c60-\u2cff"
    "\u1400-\u167f\u1950-\u197f\uab70-\uabbf]"
)
_LATIN = re.compile("[a-zA-Z]")


def forms(text: str) -> Iterator[str]:
    """Give the bare forms of a text, the plain one first, each once."""
    seen: set[str] = set()
    for form in _all_forms(text):
        if form not in seen:
            seen.add(form)
            yield form


def _all_forms(text: str) -> Iterator[str]:
    plain = bare(text)
    yield plain
    if _WRAPPED.search(text):
        yield _BROKEN.sub(" ", plain)
    folded = plain
    if not text.isascii() and _IMITATION.search(text) and _LATIN.search(plain):
        folded = bare(views(text).folded)
        yield folded
    yield from _undone(folded, text)
    for decoded in unfold(text):
        inner = bare(decoded)
        yield inner
        yield from _undone(inner, decoded)


def _undone(plain: str, text: str) -> Iterator[str]:
    for undo in _DISGUISES:
        form = undo(plain)
        if form is not None:
            yield form
    if _HUMPED_SHAPE.may_match(text) and _HUMPED.search(text):
        yield bare(_HUMPS.sub(" ", strip_invisible(text)))
    for undone in (_wide(text), None if text.isascii() else upright(text)):
        if undone is not None:
            yield undone
    yield from deciphered(plain, text)
    yield from parted(plain)
    for read, sure in unleeted(plain):
        if sure or _telling(read, plain) is not None:
            yield read


def _wide(text: str) -> str | None:
    """Close up letters that stand apart, where wider gaps part the words."""
    if not _APART_SHAPE.may_match(text) or _APART.search(text) is None:
        return None
    lowered = strip_invisible(text).lower()
    return bare(_closed(_WIDE.sub("  ", lowered)))


def _closed(text: str) -> str:
    return _SPACED.sub(lambda match: match[0].replace(match[1], ""), text).replace("  ", " ")


def _joined(plain: str) -> str | None:
    if not _CUT_SHAPE.may_match(plain) or _CUT.search(plain) is None:
        return None
    return _telling(_CUT.sub("", plain), plain)


def _telling(form: str, plain: str) -> str | None:
    """Give a form if a telltale word came to light in it."""
    return form if any(word in form and word not in plain for word in TELLTALES) else None


def _untagged(plain: str) -> str | None:
    if not _TAG_SHAPE.may_match(plain) or _TAGGED.search(plain) is None:
        return None
    return _telling(_TAGGED.sub("", plain), plain)


def _quoted(plain: str) -> str | None:
    if not any(quote in plain for quote in _QUOTES) or _QUOTED_JOIN.search(plain) is None:
        return None
    return _telling(_QUOTED_JOIN.sub("", plain), plain)


def _unpigged(plain: str) -> str | None:
    """Read Pig Latin: every word in each way that it can have been turned."""
    if plain.count("ay") < MIN_PIG_WORDS:
        return None
    turned = len(_PIG_END.findall(plain))
    if turned < MIN_PIG_WORDS or turned * MIN_PIG_SHARE < plain.count(" "):
        return None
    return _telling(_PIG.sub(lambda match: " ".join(_unpig(match[0])), plain), plain)


def _unpig(word: str) -> Iterator[str]:
    if word.endswith("way"):
        yield word[:-3]
    stem = word[:-2]
    for size in range(1, min(4, len(stem))):
        yield stem[-size:] + stem[:-size]


_DISGUISES: Final[tuple[Callable[[str], str | None], ...]] = (_joined, _untagged, _quoted, _unpigged)
