"""Runs of base64 and hexadecimal digits, decoded when they hold text: `echo Z2hw… | base64 -d`.

The whole run is masked when its text holds a secret; the fingerprint is that of the secret inside.
"""

import base64
import binascii
import re
import string
from collections.abc import Callable, Iterator
from typing import Final

from herma.policy.redaction.hit import Certainty, Hit
from herma.policy.redaction.run import Alphabet, plain

__all__ = ["encoded"]

# The name of a variable is shorter than a key in base64; what is longer than the bound is judged by its beginning.
MIN_CHARS: Final = 16
MAX_CHARS: Final = 64 * 1024
_BASE64: Final = Alphabet(string.ascii_letters + string.digits + "+/_-", MIN_CHARS)
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){16,32768}+", re.ASCII)


def encoded(text: str, inside: Callable[[str], list[Hit]]) -> Iterator[Hit]:
    """Find runs whose decoded text holds a secret, as told by `inside`."""
    for start, end in _BASE64.runs(plain(text)):
        run = text[start : min(end, start + MAX_CHARS)]
        # Text in base64 has both cases within sixteen characters; identifiers and paths mostly do not.
        if (run.islower() or run.isupper()) and not _HEX.fullmatch(run):
            continue
        for decoded in (_base64(run), _hexadecimal(run)):
            hits = inside(decoded) if decoded else []
            if hits:
                best = max(hits, key=lambda hit: (hit.certainty, len(hit.value)))
                yield Hit(start, _padded(text, start + len(run)), best.rule_id, best.value, Certainty.BLOCK)
                break


def _padded(text: str, end: int) -> int:
    """Take the padding behind a run with it."""
    return end + len(text[end : end + 2]) - len(text[end : end + 2].lstrip("="))


def _base64(run: str) -> str:
    body = run.replace("-", "+").replace("_", "/")
    # A length of 4n+1 cannot be base64: the run was cut, or a character belongs to its surroundings.
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return _text(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (
        binascii.Error,
        ValueError,
    ):  # pragma: no cover - the alphabet and length are right by construction
        return ""


def _hexadecimal(run: str) -> str:
    return _text(bytes.fromhex(run)) if _HEX.fullmatch(run) else ""


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if all(character.isprintable() or character in "\t\r\n" for character in text) else ""
