"""Runs of base64 and hexadecimal digits, decoded when they hold text: `echo Z2hw… | base64 -d`.

The whole run is masked when its text holds a secret; the fingerprint is that of the secret inside.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

from herma.policy.redaction_hit import Certainty, Hit

__all__ = ["encoded"]

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,65536}+={0,2}", re.ASCII)
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){16,32768}+", re.ASCII)


def encoded(text: str, inside: Callable[[str], list[Hit]]) -> Iterator[Hit]:
    """Find runs whose decoded text holds a secret, as told by `inside`."""
    for found in _BASE64.finditer(text):
        run = found.group()
        # Text in base64 has both cases within sixteen characters; identifiers and paths mostly do not.
        if (run.islower() or run.isupper()) and not _HEX.fullmatch(run):
            continue
        for decoded in (_base64(run), _hexadecimal(run)):
            hits = inside(decoded) if decoded else []
            if hits:
                best = max(hits, key=lambda hit: (hit.certainty, len(hit.value)))
                yield Hit(found.start(), found.end(), best.rule_id, best.value, Certainty.BLOCK)
                break


def _base64(run: str) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
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
