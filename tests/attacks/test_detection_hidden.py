"""Tokens with something between their letters, or written in letters of another dress.

Every value is made up. A secret is gone when neither it nor half of what it was written as is left.
"""

from collections.abc import Callable, Sequence

import pytest

from herma.policy.redaction.stream import StreamRedactor
from support.redactor import GITHUB, masked, redactor

VALUE = "Zk7pQ2vW9sXe"
RUN = 12

HIDDEN: dict[str, Callable[[str], str]] = {
    "a control character": lambda secret: f"{secret[:10]}\x01{secret[10:]}",
    "control characters": "\x07".join,
    "zero bytes": "\0".join,
    "steps back": "\b".join,
    "bold": lambda secret: "".join(f"{sign}\b{sign}" for sign in secret),
    "underlined": lambda secret: "".join(f"_\b{sign}" for sign in secret),
    "a mistype that was taken back": lambda secret: f"{secret[:10]}xy\b\b{secret[10:]}",
    "a mistype that was deleted": lambda secret: f"{secret[:10]}xy\x7f\x7f{secret[10:]}",
    "colours": lambda secret: "".join(f"\x1b[3{at % 8}m{sign}" for at, sign in enumerate(secret)),
    "soft hyphens": "\u00ad".join,
    "marks of direction": "\u200f".join,
    "isolates": "\u2066".join,
    "combining characters": "\u0332".join,
    "selectors": "\ufe0f".join,
    "selectors of the supplement": "\U000e0100".join,
    "tags between the letters": "\U000e0041".join,
    "bytes that are no text": "\udcff".join,
    "tags": lambda secret: "".join(chr(0xE0000 + ord(sign)) for sign in secret),
    "selectors that carry it": lambda secret: "".join(chr(0xE00F0 + ord(sign)) for sign in secret),
    "circles": lambda secret: "".join(_circled(sign) for sign in secret),
    "raised digits": lambda secret: secret.translate(str.maketrans("34", "\u00b3\u2074")),
    "digits of Arabic": lambda secret: secret.translate({48 + at: 0x660 + at for at in range(10)}),
    "a tie for a low line": lambda secret: secret.replace("_", "\u203f"),
    "a form feed": lambda secret: f"{secret[:10]}\f{secret[10:]}",
    "a thin blank": lambda secret: f"{secret[:10]}\u2009{secret[10:]}",
    "blanks between the letters": " ".join,
    "line ends between the letters": "\n".join,
    "bars between the letters": "|".join,
    "a list of letters": lambda secret: str(list(secret)),
    "escapes of control characters": "\\x01".join,
    "percent signs of control characters": "%01".join,
}


def _circled(sign: str) -> str:
    return chr(ord(sign) - 97 + 0x24D0) if sign.islower() else sign


def _left(written: str, text: str) -> bool:
    size = max(RUN, len(written) // 2)
    return any(written[at : at + size] in text for at in range(len(written) - size + 1))


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN.keys())
def test_what_stands_between_the_letters_carries_no_token_out(hide: Callable[[str], str]) -> None:
    """Nor what the letters are dressed in."""
    text = masked(f"see {hide(GITHUB)} end")
    assert not _left(hide(GITHUB), text)
    assert not _left(GITHUB, text)
    assert "[github_pat:" in text
    assert text.startswith("see ")
    assert text.endswith(" end")


# A list beside a name is code.
BESIDE_NAME = {name: hide for name, hide in HIDDEN.items() if not hide("a").startswith("[")}


@pytest.mark.parametrize("hide", BESIDE_NAME.values(), ids=BESIDE_NAME.keys())
def test_nor_a_value_behind_its_name(hide: Callable[[str], str]) -> None:
    """The name is written in clear."""
    text = masked(f"export TOKEN={hide(VALUE)}\n")
    assert text.startswith("export TOKEN=")
    assert hide(VALUE) not in text
    assert hide(VALUE[3:]) not in text


def _streamed(pieces: Sequence[str]) -> str:
    channel = StreamRedactor(redactor())
    return "".join(channel.feed(piece, 0.0) for piece in pieces) + channel.finish()


BETWEEN = ["\0", "\b", "\x07", "\x1b[1m", "\u00ad", "\u202e", "\u0332", "\ufe0f", " ", "\n", "|", "', '"]


@pytest.mark.parametrize("between", BETWEEN, ids=ascii)
def test_a_stream_gives_none_of_the_letters(between: str) -> None:
    """But the first ones, which may be the beginning of anything; letter by letter, in two pieces, or at once."""
    text = f"see {between.join(GITHUB)} end"
    for pieces in (list(text), [text[:30], text[30:]], [text]):
        shown = _streamed(pieces)
        assert not set("F4keK3y") - {"e"} & set(shown.split("[github", 1)[0])
        assert shown.startswith("see ")
        assert shown.endswith(" end")


@pytest.mark.parametrize("cut", ["\x01", "\u00ad", "\u0332", "\0", "\r", "\f", "\u2009"], ids=ascii)
def test_a_stream_joins_what_something_cuts(cut: str) -> None:
    """Wherever the stream is cut besides."""
    text = f"see {GITHUB[:12]}{cut}{GITHUB[12:]} end"
    for at in range(1, len(text)):
        shown = _streamed([text[:at], text[at:]])
        assert "F4k" not in shown
        assert "keK3y" not in shown
        assert shown.endswith(" end")


INNOCENT = (
    "m² and x⁴ 🇩🇪 ℹ️ flag 👩‍💻",
    "flag 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f of England",
    "pa\u0308ssw\u0308ort: nichts",
    "\x07bell and \b\b back",
    "T H E   S E C R E T   G A R D E N   B O O K",
    "1 0 1 1 0 1 0 0 1 1 1 0 0 1 0 1 1 1",
    "| A | B | C | D | E | F | G | H | I | J | K | L |",
    "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z",
    "N\bNA\bAM\bME\bE\n  passwd - change a password",
    "a.py\0b.py\0secrets/token.txt\0c/password.py\0README\0",
    "10%\r20%\r30%\rtoken count: 12\r\n",
    "Größe 你好 – “x” पासवर्ड ٣٤",
)


@pytest.mark.parametrize("text", INNOCENT, ids=ascii)
def test_what_is_only_written_so_stays(text: str) -> None:
    """Emoji, flags, manual pages, headings, lists of files."""
    assert masked(text) == text
