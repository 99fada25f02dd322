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
from herma.policy.redaction.work import DECODED_RUN, PIECE_CHARS, RUN, Work, passing

__all__ = ["encoded", "may_hold"]

# The name of a variable is shorter than a key in base64; what is longer than the bound is judged by its beginning.
MIN_CHARS: Final = 16
MAX_CHARS: Final = 64 * 1024
_BASE64: Final = Alphabet(string.ascii_letters + string.digits + "+/_-", MIN_CHARS)
_CONTROL: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\r\n")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){16,32768}+", re.ASCII)


def encoded(text: str, inside: Callable[[str], list[Hit]], work: Work | None = None) -> Iterator[Hit]:
    """Find runs whose decoded text holds a secret, as told by `inside`; what is not decoded for want of work is masked."""
    work = Work(len(text)) if work is None else work
    runs = _BASE64.runs(plain(text))
    for number, (start, end) in enumerate(runs):
        run = text[start : min(end, start + MAX_CHARS)]
        work.left -= RUN
        if work.left < 0:
            yield from _unseen(text, runs[number:])
            return
        # Text in base64 has both cases within sixteen characters; identifiers and paths mostly do not.
        if (run.islower() or run.isupper()) and not _HEX.fullmatch(run):
            continue
        work.left -= DECODED_RUN + passing(len(run))
        for decoded in (_base64(run), _hexadecimal(run)):
            hits = inside(decoded) if decoded else []
            if hits:
                best = max(hits, key=lambda hit: (hit.certainty, len(hit.value)))
                certainty = max(Certainty.BLOCK, best.certainty)
                yield Hit(start, _padded(text, start + len(run)), best.rule_id, best.value, certainty)
                break


def may_hold(text: str) -> bool:
    """Tell whether a text has a run that is worth a look."""
    return len(text) >= MIN_CHARS and bool(_BASE64.runs(plain(text)))


def _unseen(text: str, runs: list[tuple[int, int]]) -> list[Hit]:
    """Mask the runs that are left, with what stands between two near ones."""
    pieces: list[tuple[int, int]] = []
    for start, end in runs:
        if pieces and start - pieces[-1][1] < PIECE_CHARS:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return [Hit.unseen(text, start, end) for start, end in pieces]


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
    # What PowerShell takes as an encoded command.
    encoding = (
        "utf-16-le" if len(raw) >= 16 and len(raw) % 2 == 0 and raw[1::2].count(0) * 4 > len(raw) else "utf-8"
    )
    if encoding != "utf-8":
        return _readable(raw.decode(encoding, "replace"))
    # Most runs are no text, and their first bytes tell.
    if raw[:12].translate(None, _CONTROL) != raw[:12]:
        return ""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return _readable(text)


def _readable(text: str) -> str:
    return text if all(character.isprintable() or character in "\t\r\n" for character in text) else ""
