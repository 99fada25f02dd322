"""Text that is written in another way inside a text: base64, base32, hex, percent, escapes, number lists, rot13.

Nothing is executed and nothing grows without bound: a few levels, a few views, a few KiB. Only what decodes to readable
text counts; random bytes, images and keys do not.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator

from herma.policy.text.shape import Shape

__all__ = ["MAX_VIEWS", "decoded", "rot13", "unfold", "unleet"]

# Published droppers nest two levels (base64 of base64, escapes around base64); who writes prompts nests for sport.
MAX_DEPTH = 5
# Views of one text in all; each costs a pass of the rules.
MAX_VIEWS = 24
# Longest single run that is decoded: 64 KiB of base64 is 48 KiB of script, ten times the longest published one.
MAX_RUN_CHARS = 64 * 1024
# A text is searched for runs up to here. The upstream cuts prompt texts at 65,536 characters.
MAX_TEXT_CHARS = 256 * 1024

# The shortest runs that are decoded; shorter ones are words.
MIN_RUN_CHARS = 16
MIN_PERCENTS = 4
_LONG_WORD = Shape({"a": "".join(map(chr, range(33, 127)))}, "a" * MIN_RUN_CHARS)

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = re.compile(r"\b[A-Z2-7]{24,}={0,6}")
_HEX = re.compile(r"\b(?:0x)?((?:[0-9a-fA-F]{2}){12,})\b")
_ALL_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_PERCENT = re.compile(r"(?<![^\s%])[^\s%]*+(?:%[0-9a-fA-F]{2}[^\s%]*+){4,}")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\}|0?([0-7]{3}))")
_NUMBERS = re.compile(r"\b\d{2,3}(?:(?:\s{0,2},\s{0,2}|\s)\d{1,3}){5,}\b")
_BITS = re.compile(r"\b[01]{8}(?:\s?[01]{8}){3,}\b")
# Text begins with a byte of ASCII, or with the first of a longer character.
_BYTES = re.compile(r"\b(?:0x)?[2-7c-fC-F][0-9a-fA-F](?:[\s:,-]{1,2}(?:0x)?[0-9a-fA-F]{2}){7,}\b")
_MORSE = re.compile(r"[.\-]{1,6}(?:[ /|]{1,3}[.\-]{1,6}){9,}")
# One of the four above, told by a few characters.
_GROUPED = re.compile(
    r"[0-9.\-](?:[01]{7}\s?[01]{8}|[0-9a-fA-FxX]{0,3}[\s:,]{1,3}[0-9.\-][0-9a-fA-FxX.\-]{0,5}[\s:,/|])"
)
_ENTITY = re.compile(r"&#(?:(\d{1,7})|[xX]([0-9a-fA-F]{1,6}));?")
_CALLS = re.compile(r"\bchr\(\s{0,2}(\d{1,3})\s{0,2}\)(?:\s{0,2}[+.]\s{0,2}(?=chr\())?")
_UNREADABLE = re.compile(r"[^\t\n\r\x20-\x7e\u00a0-\U0010ffff]")
# Text may hold a control character or two; random bytes that happen to be UTF-8 hold one in four.
READABLE_SHARE = 16
# Runs that are cut by blanks or commas are joined where the text says that it is encoded.
# Compared with lower-cased text one by one: a tenth of what one pattern for all of them costs.
_TOLD = ("base64", "base 64", "b64", "decod", "dekod", "codifi", "decrypt", "hex")
_CHUNKS = re.compile(r"(?:[A-Za-z0-9+/=]{2,64}+[\s,]{1,2}+){3,}[A-Za-z0-9+/=]{2,64}+")
# Words of the sentence that may stand before and behind the chunks.
MAX_WORDS_BESIDE = 6
# So many letters of a run are read first.
MAX_HEAD_CHARS = 64
_LEET = str.maketrans("013457@$", "oieastas")


def unfold(text: str) -> tuple[str, ...]:
    """Give every text that is encoded inside `text`, also inside what was decoded, without `text` itself."""
    found: list[str] = []
    level = [text[:MAX_TEXT_CHARS]]
    for _ in range(MAX_DEPTH):
        inner = [view for item in level for view in decoded(item)]
        level = [view for view in dict.fromkeys(inner) if view not in found][: MAX_VIEWS - len(found)]
        if not level:
            break
        found += level
    return tuple(found)


def decoded(text: str) -> Iterator[str]:
    """Give what the encoded runs of one text say, one level down."""
    for (pattern, decode), part in _runs_of(text):
        for run in pattern.finditer(part):
            view = decode(run[run.re.groups])
            if view is not None:
                yield view
    lowered = text.lower()
    if any(word in lowered for word in _TOLD):
        yield from _joined(text)
    for rewritten in (_unescape(text), _uncall(text), _unentity(text)):
        if rewritten is not None:
            yield rewritten


def _runs_of(text: str) -> "Iterator[tuple[_Run, str]]":
    """Give the encodings of which a text shows a sign, with where: prose has no word this long and no lists of numbers."""
    words = (
        [word for word in text.split() if len(word) >= MIN_RUN_CHARS] if _LONG_WORD.may_match(text) else []
    )
    for run in _LONG:
        for word in words:
            yield run, word
    if text.count("%") >= MIN_PERCENTS:
        yield _PERCENTS, text
    if _GROUPED.search(text) is not None:
        for run in _GROUPS:
            yield run, text


def _words(raw: bytes) -> str | None:
    """Read bytes as text if they look like some: UTF-8, or UTF-16 as PowerShell wants it."""
    encoding = "utf-8"
    if len(raw) >= 8:
        if raw[1::2].count(0) * 4 > len(raw):
            encoding = "utf-16-le"
        elif raw[::2].count(0) * 4 > len(raw):
            encoding = "utf-16-be"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    shown = _UNREADABLE.sub("", text)
    return shown if len(shown) >= 4 and (len(text) - len(shown)) * READABLE_SHARE <= len(text) else None


def _base64(run: str) -> str | None:
    run = run[:MAX_RUN_CHARS].rstrip("=").replace("-", "+").replace("_", "/")
    if len(run) % 4 == 1:
        return None
    return _words(binascii.a2b_base64(run + "=" * (-len(run) % 4)))


def _joined(text: str) -> Iterator[str]:
    """Read runs that were cut into chunks, with or without the words beside them."""
    for run in _CHUNKS.finditer(text):
        chunks = re.split(r"[\s,]+", run[0][:MAX_RUN_CHARS])
        for first in range(min(MAX_WORDS_BESIDE, len(chunks) - 2)):
            fewest = max(first + 2, len(chunks) - MAX_WORDS_BESIDE)
            shortest = "".join(chunks[first : fewest + 1])
            # Every other byte of text of two bytes a character is a NUL, and of six such NULs four make an `A`.
            if run[0].count("A") * 16 < len(shortest) and not _may_say(shortest):
                continue
            for last in range(len(chunks), fewest, -1):
                joined = "".join(chunks[first:last])
                if len(joined) < MIN_RUN_CHARS:
                    break
                view = _hex(joined) if _ALL_HEX.fullmatch(joined) else _base64(joined.replace("=", ""))
                if view is not None:
                    yield view
                    return


def _may_say(run: str) -> bool:
    """Tell at little cost whether a run may say something, by how it begins: most words of a sentence stand for no text."""
    head = run.replace("=", "")[:MAX_HEAD_CHARS]
    if _ALL_HEX.fullmatch(head[: len(head) // 2 * 2]) is not None:
        return True
    raw = binascii.a2b_base64(head[: len(head) // 4 * 4])
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        # Its last character may be cut.
        return error.start > len(raw) - 4
    return True


def _base32(run: str) -> str | None:
    run = run[:MAX_RUN_CHARS].rstrip("=")
    try:
        return _words(base64.b32decode(run + "=" * (-len(run) % 8)))
    except binascii.Error:
        return None


def _hex(run: str) -> str | None:
    return _words(bytes.fromhex(run[:MAX_RUN_CHARS]))


def _percent(run: str) -> str | None:
    raw = re.sub(
        rb"%([0-9a-fA-F]{2})",
        lambda match: bytes([int(match[1], 16)]),
        run[:MAX_RUN_CHARS].encode("utf-8", "replace"),
    )
    return _words(raw)


def _numbers(run: str) -> str | None:
    values = [int(number) for number in re.findall(r"\d+", run[:MAX_RUN_CHARS])]
    return _words(bytes(values)) if max(values) < 256 else None


def _bits(run: str) -> str | None:
    digits = "".join(run[:MAX_RUN_CHARS].split())
    return _words(bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) - 7, 8)))


def _bytes(run: str) -> str | None:
    digits = re.sub(r"0x|[^0-9a-fA-F]", "", run[:MAX_RUN_CHARS])
    # A run that is cut may end in half a byte.
    return _words(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _morse(run: str) -> str | None:
    words = re.split(r" ?[/|] ?|  +", run[:MAX_RUN_CHARS].strip())
    return " ".join("".join(_MORSE_LETTERS.get(sign, "") for sign in word.split()) for word in words)


def _character(value: int) -> str:
    return chr(value) if value < 0xD800 or 0xE000 <= value < 0x110000 else "\ufffd"


def _unentity(text: str) -> str | None:
    """Read numeric entities of HTML."""
    if text.count("&#") < 3:
        return None
    return _ENTITY.sub(lambda match: _character(int(match[1]) if match[1] else int(match[2], 16)), text)


def _code_point(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    return _character(int(digits, 16) if digits else int(match[4], 8))


def _unescape(text: str) -> str | None:
    view, count = _ESCAPE.subn(_code_point, text)
    return view if count >= 3 else None


def _uncall(text: str) -> str | None:
    """Join `chr(112)+chr(114)` into what it spells."""
    if text.count("chr(") < 3:
        return None
    spelled = _CALLS.sub(lambda match: chr(int(match[1])), text)
    return spelled if spelled != text else None


def rot13(text: str) -> str:
    """Turn letters by thirteen; what the rules find in this view only was hidden on purpose."""
    return codecs.encode(text[:MAX_TEXT_CHARS], "rot13")


def unleet(text: str) -> str | None:
    """Read digits as the letters they imitate; None where the text has no word that mixes both."""
    if re.search(r"(?i)\b[a-z]{0,20}[013457@$][a-z]{1,20}[013457@$a-z]", text) is None:
        return None
    return text.translate(_LEET)


type _Run = tuple[re.Pattern[str], Callable[[str], str | None]]

_LONG: tuple[_Run, ...] = ((_BASE64, _base64), (_BASE32, _base32), (_HEX, _hex), (_BITS, _bits))
_PERCENTS: _Run = (_PERCENT, _percent)
_GROUPS: tuple[_Run, ...] = ((_NUMBERS, _numbers), (_BITS, _bits), (_BYTES, _bytes), (_MORSE, _morse))

_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
    " ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- -....- -..-. .--.-."
)
_MORSE_LETTERS: dict[str, str] = dict(
    zip(
        _MORSE_CODES.split(),
        "abcdefghijklmnopqrstuvwxyz0123456789.-/@",
        strict=True,
    )
)
