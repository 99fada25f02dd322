"""Text that is written in another way inside a text: base64, base32, hex, percent, escapes, number lists, rot13.

Nothing is executed and nothing grows without bound: a few levels, a few views, a few KiB. Only what decodes to readable
text counts; random bytes, images and keys do not.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator

__all__ = ["MAX_VIEWS", "decoded", "rot13", "unfold", "unleet"]

# Published droppers nest two levels (base64 of base64, escapes around base64).
MAX_DEPTH = 3
# Views of one text in all; each costs a pass of the rules.
MAX_VIEWS = 24
# Longest single run that is decoded: 64 KiB of base64 is 48 KiB of script, ten times the longest published one.
MAX_RUN_CHARS = 64 * 1024
# A text is searched for runs up to here. The upstream cuts prompt texts at 65,536 characters.
MAX_TEXT_CHARS = 256 * 1024

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = re.compile(r"\b[A-Z2-7]{24,}={0,6}")
_HEX = re.compile(r"\b(?:0x)?((?:[0-9a-fA-F]{2}){12,})\b")
_PERCENT = re.compile(r"(?:[^\s%]{0,64}%[0-9a-fA-F]{2}){4,}[^\s%]{0,64}")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\}|0?([0-7]{3}))")
_NUMBERS = re.compile(r"\b\d{2,3}(?:\s{0,2},\s{0,2}\d{1,3}){5,}\b")
_CALLS = re.compile(r"\bchr\(\s{0,2}(\d{1,3})\s{0,2}\)(?:\s{0,2}[+.]\s{0,2}(?=chr\())?")
_READABLE = re.compile(r"[\t\n\r\x20-\x7e\u00a0-\uffff]+")
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
    for pattern, decode in _RUNS:
        for run in pattern.finditer(text):
            view = decode(run[run.re.groups])
            if view is not None:
                yield view
    for rewritten in (_unescape(text), _uncall(text)):
        if rewritten is not None:
            yield rewritten


def _words(raw: bytes) -> str | None:
    """Read bytes as text if they look like some: UTF-8, or UTF-16 as PowerShell wants it."""
    encoding = "utf-16-le" if len(raw) >= 8 and raw[1::2].count(0) * 4 > len(raw) else "utf-8"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if len(text) >= 4 and _READABLE.fullmatch(text) else None


def _base64(run: str) -> str | None:
    run = run[:MAX_RUN_CHARS].rstrip("=").replace("-", "+").replace("_", "/")
    if len(run) % 4 == 1:
        return None
    return _words(binascii.a2b_base64(run + "=" * (-len(run) % 4)))


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
    values = [int(number) for number in run[:MAX_RUN_CHARS].split(",")]
    return _words(bytes(values)) if max(values) < 256 else None


def _code_point(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    value = int(digits, 16) if digits else int(match[4], 8)
    return chr(value) if value < 0xD800 or 0xE000 <= value < 0x110000 else "\ufffd"


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


_RUNS: tuple[tuple[re.Pattern[str], Callable[[str], str | None]], ...] = (
    (_BASE64, _base64),
    (_BASE32, _base32),
    (_HEX, _hex),
    (_PERCENT, _percent),
    (_NUMBERS, _numbers),
)
