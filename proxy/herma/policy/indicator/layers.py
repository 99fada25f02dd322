"""What a text says below its surface: escapes undone, and what stands in base64, base32 or hex, level by level.

Quicker and blunter than `herma.policy.text.unfold`, which looks for readable text: here everything is decoded, all runs of a
level at once, and whoever asks looks for words in it. Nothing grows: a level has a few times the bytes of its runs at most,
and random bytes hold no runs.
"""

import binascii
import re
from collections.abc import Iterator, Sequence

__all__ = ["MAX_LEVELS", "layers", "unescaped"]

# Published droppers nest two levels.
MAX_LEVELS = 4
MAX_ROUNDS = 3
# A longer run is a file: it begins where it begins, and is decoded once.
MAX_SHIFTED_CHARS = 16 * 1024

# A run that is none from its first character on is tried once for each: sooner than looking behind at every byte.
_RUN = re.compile(rb"[A-Za-z0-9+/_-]{16,}+")
# Base64 in lines, as mail and most tools write it.
_LINE_END = re.compile(
    rb"[\r\n](?<=[A-Za-z0-9+/_ \t-]{4}.)[\r\n]?[ \t]{0,8}(?=[A-Za-z0-9+/_-]{2})", re.DOTALL
)
_LINE_CHARS = 16
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
# The same alphabet as one letter: whether there is a run at all is told at the speed of a copy.
_SHAPE = bytes(ord("a") if byte in _ALPHABET else ord(" ") for byte in range(256))
_SHORTEST = b"a" * 16
_HEX = re.compile(rb"^[0-9a-fA-F]{16,}+$", re.MULTILINE)
_BASE32 = re.compile(rb"^[A-Z2-7]{16,}+$", re.MULTILINE)
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
# The digits of base 32 as Python reads them; as one number, a megabyte takes a millisecond.
_BASE32_DIGITS = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghijklmnopqrstuv")
_WIDE = re.compile(rb"\0(?<=[ -~]\0)[ -~]\0[ -~]\0")
_FILL = (b"", b"AAA", b"AA", b"A")

# One group: every second part of a split is a match.
_ESCAPES = re.compile(
    r"((?:%[0-9a-fA-F]{2})++|(?:\\x[0-9a-fA-F]{2})++|(?:\\u[0-9a-fA-F]{4})++|\\u\{[0-9a-fA-F]{1,5}\}"
    r"|\\U000[0-9a-fA-F]{5}|&#x[0-9a-fA-F]{1,5};?|&#[0-9]{1,6};?"
    r"|(?:\\0?[0-3][0-7]{2})++|&(?:period|colon|sol|commat|lowbar|hyphen|dash|num|percnt);)"
)
_OCTAL = re.compile(r"[0-3][0-7]{2}(?![0-7])")
_NAMED = {
    "period": ".",
    "colon": ":",
    "sol": "/",
    "commat": "@",
    "lowbar": "_",
    "hyphen": "-",
    "dash": "-",
    "num": "#",
    "percnt": "%",
}


def unescaped(text: str) -> str:
    r"""Undo percent escapes, `\x41`, `\101`, `\u0041`, `&#65;`, `&#x41;` and `&period;`, also escaped escapes."""
    for _ in range(MAX_ROUNDS):
        if ("%" not in text and "\\" not in text and "&" not in text) or _ESCAPES.search(text) is None:
            break
        # Escaped percent signs first, at the speed of a copy: they are the usual way to nest.
        parts = _ESCAPES.split(text.replace("%2525", "%25").replace("%25", "%"))
        # Escapes repeat: each is read once.
        written = {sign: _characters(sign) for sign in set(parts[1::2])}
        parts[1::2] = map(written.__getitem__, parts[1::2])
        text = "".join(parts)
    return text


def _characters(sign: str) -> str:
    if sign[0] == "%":
        return bytes.fromhex(sign.replace("%", "")).decode("utf-8", "replace")
    if sign[0] == "&":
        name = sign[1:].rstrip(";")
        return _NAMED[name] if name[0] != "#" else _character(name[1:].replace("x", "0x", 1))
    if sign[1] == "x":
        return bytes.fromhex(sign.replace("\\x", "")).decode("utf-8", "replace")
    if sign[1] == "U" or sign[2] == "{":
        return _character("0x" + sign[2:].strip("{}"))
    if sign[1] == "u":
        return bytes.fromhex(sign.replace("\\u", "")).decode("utf-16-be", "replace")
    return bytes(int(digits, 8) for digits in _OCTAL.findall(sign)).decode("utf-8", "replace")


def _character(number: str) -> str:
    value = int(number, 16) if number.startswith("0x") else int(number)
    return chr(value) if value < 0xD800 or 0xE000 <= value < 0x110000 else "\ufffd"


def layers(raw: bytes) -> Iterator[bytes]:
    """Give, for each level, everything that the encoded runs of the level above say, one behind the other."""
    level, shifts = raw, 4
    for _ in range(MAX_LEVELS):
        level = _unwrapped(level)
        if _SHORTEST not in level.translate(_SHAPE):
            return
        level = b"\n\n".join(_decoded(_RUN.findall(level), shifts))
        if _WIDE.search(level):
            # Text of two bytes a character, as PowerShell takes it. Plain text holds none of these to lose.
            level += b"\n\n" + level.replace(b"\0", b"")
        yield level
        # What is glued before a run, a letter of an escape or a part of a path, shifts it; inside, runs are whole.
        shifts = 1


def _unwrapped(raw: bytes) -> bytes:
    """Join lines of base64."""
    if b"\n" not in raw and b"\r" not in raw:
        return raw
    parts, start = [], 0
    for match in _LINE_END.finditer(raw):
        before = raw[max(0, match.start() - 24) : match.start()].rstrip(b" \t")[-_LINE_CHARS:]
        if len(before) == _LINE_CHARS and not before.translate(None, _ALPHABET):
            parts.append(raw[start : match.start()].rstrip(b" \t"))
            start = match.end()
    return b"".join([*parts, raw[start:]]) if parts else raw


def _decoded(runs: Sequence[bytes], shifts: int) -> Iterator[bytes]:
    lines = b"\n".join(runs)
    if digits := b"".join(run[: len(run) & ~1] for run in _HEX.findall(lines)):
        yield bytes.fromhex(digits.decode("ascii"))
    if quanta := b"".join(run[: len(run) & ~7] for run in _BASE32.findall(lines)):
        yield int(quanta.translate(_BASE32_DIGITS), 32).to_bytes(len(quanta) * 5 // 8)
    # Four characters of filling between two runs: three bytes that no word holds. All runs have the same alignment, so that
    # filling at the front shifts them all.
    whole = b"AAAA".join([run + _FILL[len(run) & 3] for run in runs]).translate(_URL_SAFE)
    yield binascii.a2b_base64(whole)
    if shifts > 1:
        short = [run for run in runs if len(run) <= MAX_SHIFTED_CHARS]
        if len(short) < len(runs):
            whole = b"AAAA".join([run + _FILL[len(run) & 3] for run in short]).translate(_URL_SAFE)
        yield from (
            binascii.a2b_base64(b"A" * (4 - shift) + whole + b"A" * shift) for shift in range(1, shifts)
        )
