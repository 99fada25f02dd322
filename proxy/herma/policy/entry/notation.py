"""Other ways to write a configuration: TOML, INI, JSON with comments; and ways to wrap one: base64, hexadecimal, percent signs."""

import base64
import binascii
import json
import re
import tomllib
from collections.abc import Iterable
from typing import Any

__all__ = ["MAX_CHARS", "relaxed_json", "sections", "tables", "unwrapped"]

# Text of this kind that is read in one string; reading takes half a second for each MiB.
MAX_CHARS = 64 * 1024
# Values of one text that begin and never end; with one, it is no TOML.
MAX_OPENED = 4
# What is unwrapped of one string: far more than a body may have.
MAX_WRAPPED_CHARS = 64 * 1024 * 1024

_SECTION = re.compile(r"(?m)^[ \t]{0,8}(?:\[{1,2}[^\[\]\n]{1,200}\]|[\w.\"'-]{1,200}[ \t]{0,8}=)")
_HEADER = re.compile(r"[ \t]{0,8}\[{1,2}[^\[\]\n]{1,200}\]{1,2}[ \t]{0,8}(?:#|$)")
_ASSIGNMENT = re.compile(r"[ \t]{0,40}[\w.\"' \t-]{1,200}=|[ \t]{0,40}(?:#|$)")
_QUOTED = re.compile(r"\"[^\"\n]*+\"|'[^'\n]*+'")
_LINE = re.compile(
    r"(?m)^[ \t]{0,8}(?:\[{1,2}([^\[\]\n]{1,200})\]|([\w.\"'-]{1,200})[ \t]{0,8}=[ \t]{0,8}([^\n]{0,4000}))"
)
_PIECE = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"|'((?:[^'\\]|\\.)*+)'|//[^\n]*+|/\*.*?\*/|([A-Za-z_$][\w$-]*+)|[,\[\]{}:]|[^\s\"'/,\[\]{}:A-Za-z_$]++|/|\s++|.",
    re.DOTALL,
)
_DATA = re.compile(r"data:[\w.+/=;-]{0,120}?;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{2}){8,}")
_PERCENT = re.compile(r"(?:%([0-9a-fA-F]{2}))")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


def sections(text: str) -> dict[str, Any] | None:
    """Read TOML, and INI where it is none; None for a text without sections and assignments."""
    if len(text) > MAX_CHARS or _SECTION.search(text) is None:
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return _ini(text)


def tables(text: str, starts: Iterable[int]) -> str | None:
    """Give the tables and assignments of a long text of TOML that begin in these lines; None where they are too long to be read."""
    lines = text.split("\n")
    heads: list[str] = []
    roots: list[str] = []
    done = opened = 0
    for start in starts:
        if opened >= MAX_OPENED:
            break
        header = _HEADER.match(lines[start]) is not None
        if start >= done and (header or _ASSIGNMENT.match(lines[start]) is not None):
            done = _end(lines, start, table=header)
            (heads if header else roots).extend(lines[start:done])
            opened += done == start
    found = "\n".join(roots + heads)
    return found if len(found) <= MAX_CHARS else None


def _end(lines: list[str], start: int, *, table: bool) -> int:
    """Give the line behind a table, or behind the value of one assignment; the first line itself where that never ends."""
    at = start + table
    while at < len(lines) and (not table or (_ASSIGNMENT.match(lines[at]) and not _HEADER.match(lines[at]))):
        end = _value_end(lines, at)
        if end is None or not table:
            return start if end is None else end
        at = end
    return at


def _value_end(lines: list[str], start: int) -> int | None:
    """Give the line behind a value, which may be a list or a text of three quotes over several lines; None where it is open."""
    depth = quotes = 0
    for at in range(start, len(lines)):
        line = lines[at]
        quotes += line.count("'''") + line.count('"""')
        bare = _QUOTED.sub("", line)
        depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
        if depth <= 0 and quotes % 2 == 0:
            return at + 1
    return None


def _ini(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    node = found
    for match in _LINE.finditer(text):
        if match[1] is not None:
            node = found.setdefault(match[1].strip(), {})
        elif isinstance(node, dict):
            node[match[2].strip("\"'")] = match[3].strip().strip("\"'")
    return found


def relaxed_json(text: str) -> Any:
    """Read JSON with comments, trailing commas, bare keys and single quotes from the first brace on; None if it is none."""
    start = text.find("{")
    if start < 0 or len(text) > MAX_CHARS:
        return None
    parts: list[str] = []
    for match in _PIECE.finditer(text, start):
        piece = match[0]
        if piece.startswith(("//", "/*")) or piece.isspace():
            continue
        if match[1] is not None:
            piece = json.dumps(match[1].replace("\\'", "'"))
        elif match[2] is not None and piece not in {"true", "false", "null"}:
            piece = json.dumps(piece)
        if piece in "]}" and parts and parts[-1] == ",":
            parts.pop()
        parts.append(piece)
    try:
        return json.JSONDecoder(strict=False).raw_decode("".join(parts))[0]
    except (ValueError, RecursionError):
        return None


def unwrapped(text: str) -> str | None:
    """Give the text that a string wraps as a whole; None if it wraps none."""
    text = text.strip()
    if len(text) > MAX_WRAPPED_CHARS:
        return None
    if (data := _DATA.match(text)) is not None:
        return _decoded(text[data.end() :])
    if _HEX.fullmatch(text) is not None:
        return _readable(bytes.fromhex(text.removeprefix("0x")))
    if _BASE64.fullmatch(joined := "".join(text.split())) is not None:
        return _decoded(joined)
    if "%" in text and " " not in text and "\n" not in text:
        raw = _PERCENT.sub(lambda match: chr(int(match[1], 16)), text.replace("+", " "))
        return raw if raw != text else None
    return None


def _decoded(text: str) -> str | None:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(plain + "=" * (-len(plain) % 4)))
    except (binascii.Error, ValueError):
        return None


def _readable(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if _CONTROL.search(text) is None else None
