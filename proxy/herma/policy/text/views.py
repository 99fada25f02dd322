"""What a text says to a reader: compatibility forms, look-alikes and invisible characters undone.

Two views, because folding Cyrillic to Latin would destroy Russian: `plain` keeps every script, `folded` reads look-alike
letters and accented letters as the Latin ones they imitate. Rules are tried on both.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Views", "conceals", "reading", "rewritten", "strip_invisible", "views"]

# Letters that imitate Latin ones (Cyrillic, Greek, Armenian, small capitals, turned letters); after NFKC and lower().
_LOOKALIKES = str.maketrans(
    "абвгдеёзіккмнорстухцуѕіїјһԁԛԝӏьъєАВЕКМНОРСТХ"
    "αβγεζηικνορτυχωϲϳςσ"
    "օսոցհյզ"
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
    "ɐɔǝɟƃɥıɾʞɯɹʇʌʍʎ"
    "ᥱᥲɑɛɩɳɖʂƙɠɦɱℓ"
    "ⲁⲃⲉⲛⲣⲟⲥⲧⲩⲭⲓⲕⲙ"
    "ꭲꭱꮃꮪꮇꭼꮯꮓ"
    "ᗪᗩᒪᑭᔕᗯᗴᑎᖇᑌᑕᗷᖴᕼᒍᗰ"
    "łøđħŧßæœþ",
    "abbrdeezikkmhopctyxuysiijhdqwlbbeabekmhopctx"
    "abyeznikvoptuxwcjcs"
    "ounghjq"
    "abcdefghijklmnoprstuvwyz"
    "acefghijkmrtvwy"
    "eaaelndskghml"
    "abenpoctuxikm"
    "trwsmecz"
    "dalpswenrucbfhjm"
    "lodhtsaot",
)
_LETTERS = {chr(letter): chr(latin) for letter, latin in _LOOKALIKES.items()}
# Up to here a pass over the text costs less than a search for each letter.
MAX_SHORT_CHARS = 64

# Where letters stand that imitate Latin ones, or are Latin ones with a mark; not among ideographs, kana, Hangul and emoji.
_FOLDED = re.compile("[\x80-\u2fff\ua000-\uabff\ufb00-\uffef\U00010000-\U0001efff]")

_RGI_SUBDIVISION_FLAGS = ("gbeng", "gbsct", "gbwls")
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in _RGI_SUBDIVISION_FLAGS
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Never innocent in a prompt: tag characters outside a flag, selectors in a row (each carries a hidden byte),
# supplementary selectors after anything but an ideograph, overrides of direction, deprecated and musical format
# characters, and terminal control characters.
_NEVER = re.compile(
    "[\U000e0000-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
    "|(?<![\u3400-\u9fff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
    "|[\u202d\u202e\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
# All that an ASCII text can hold of them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EMBEDDINGS = re.compile("[\u202a-\u202c\u2066-\u2069]")
# Invisible inside a Latin word. The soft hyphen is not here: it is what copying from a hyphenated page leaves.
_INSIDE_A_WORD = re.compile(
    "[a-zA-Z0-9][\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u3164\ufeff\uffa0]+[a-zA-Z0-9]"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)
_MARKS_ON_LATIN = re.compile("(?<=[\x21-\x7e])[\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]+")
_BLANKS = {"\u2800": " ", "\u3000": " ", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"}
# Two signs stand for a sentence of eighteen characters and of eight, and grow to it when a text is normalised. They are written
# as people shorten the sentence, so that a text of nothing else stays about as long as it was.
_BLANKS |= {"\ufdfa": "\u0635\u0644\u0639\u0645", "\ufdfb": "\u062c\u0644"}
_BLANK = re.compile("[\u2800\u3000\x85\u2028\u2029\ufdfa\ufdfb]")


@dataclass(frozen=True, slots=True)
class Views:
    """One text as it was meant (`plain`) and as it looks (`folded`); both lower-case."""

    plain: str
    folded: str

    def each(self) -> tuple[str, ...]:
        """Give the views that differ."""
        return (self.plain,) if self.plain == self.folded else (self.plain, self.folded)


def strip_invisible(text: str) -> str:
    """Take out what cannot be seen; write blanks that are not spaces as spaces, and what stands for a sentence in short."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", rewritten(text, _BLANKS) if _BLANK.search(text) else text)


def rewritten(text: str, signs: Mapping[str, str]) -> str:
    """Put for each sign what is given for it, which holds none of the signs.

    In a long text `str.translate` costs some 200 ns a character that it leaves alone; a search for each sign costs less.
    """
    for sign, written in signs.items():
        text = text.replace(sign, written)
    return text


def _latin(text: str) -> str:
    if len(text) <= MAX_SHORT_CHARS:
        return text.translate(_LOOKALIKES)
    return rewritten(text, _LETTERS)


def views(text: str) -> Views:
    """Normalise: compatibility forms (NFKC), invisible characters, marks, look-alikes, case."""
    if text.isascii():
        lowered = text.lower()
        return Views(lowered, lowered)
    plain = unicodedata.normalize("NFKC", strip_invisible(text)).lower()
    if _FOLDED.search(plain) is None:
        return Views(plain, plain)
    latin = _latin(unicodedata.normalize("NFKD", plain))
    # Marks go last: one on a look-alike is one on a Latin letter.
    return Views(plain, unicodedata.normalize("NFC", _MARKS_ON_LATIN.sub("", latin)))


def reading(text: str) -> str:
    """Give the Latin text that a reader takes this for, letter case kept: what a command spelled so is meant to run."""
    if text.isascii():
        return text
    latin = _latin(unicodedata.normalize("NFKD", strip_invisible(text)))
    return unicodedata.normalize("NFC", _MARKS_ON_LATIN.sub("", latin))


def conceals(text: str) -> bool:
    """Tell whether the text carries characters that hide something from a reader.

    What scripts and emoji need is not concealment: joiners in emoji and in Persian, Hindi or Sinhala words, one variation
    selector, the three flags spelled with tags, direction marks around right-to-left text. Neither is debris of copying:
    a byte-order mark or a break opportunity at the edge of a word.
    """
    if text.isascii():
        return _CONTROL.search(text) is not None
    for flag in _FLAGS:
        text = text.replace(flag, "")
    if _EMBEDDINGS.search(text) and not _RIGHT_TO_LEFT.search(text):
        return True
    if _NEVER.search(text) is not None:
        return True
    inside = _INSIDE_A_WORD.search(text)
    if inside is None:
        return False
    return not _in_link(text, inside.start()) or _INSIDE_A_WORD.search(text, inside.end() - 1) is not None


def _in_link(text: str, at: int) -> bool:
    """Tell whether a place lies in a link: pages break long ones with a character that cannot be seen."""
    begin = max(text.rfind(blank, 0, at) for blank in " \n\t") + 1
    return "://" in text[begin:at]
