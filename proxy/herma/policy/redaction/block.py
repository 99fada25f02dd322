r"""Private key blocks: PEM, OpenSSH, SSH2, PGP, OpenVPN; whole, cut off, indented, quoted, or with `\n` written out.

The header line stays; everything between it and the footer is the secret. Without a footer the key ends where lines stop
looking like base64.
"""

import re
from typing import Final

from herma.policy.redaction.hit import Certainty, Hit

__all__ = ["BLOCK_ID", "MAX_BLOCK_CHARS", "key_ends", "private_key"]

BLOCK_ID: Final = "private-key"
# An RSA key of 16,384 bits is 12 KiB of text, a PGP key with photo 60 KiB. Beyond the bound the rest is masked as well.
MAX_BLOCK_CHARS: Final = 64 * 1024
_HEADER: Final = re.compile(
    r"-{4,5}[ ]?BEGIN[ ](?:[A-Z0-9 ]{0,24}PRIVATE[ ]KEY(?:[ ]BLOCK)?|OpenVPN[ ]Static[ ]key[ ]V1|[A-Z ]{0,16}SECRET[ ]KEY)[ ]?-{4,5}",
    re.ASCII,
)
_PUTTY: Final = re.compile(r"Private-Lines:[ ]\d{1,4}", re.ASCII)
# What stands between two pieces of a key: line ends (also written out), indentation, quotes, plus signs, diff and quote marks.
_GAP: Final = re.compile(r"(?:\\{1,8}[nrt]|[\s\"'+>|,#*/]|-(?!-)|\\(?=\n)){0,80}+")
_PIECE: Final = re.compile(
    r"Comment:[ ]?\"[^\n\\\"]{0,200}+\"|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\\"]{0,200}+|[A-Za-z0-9+/=]{1,4096}+",
    re.ASCII,
)
_FOOTER: Final = re.compile(r"-{4,5}[ ]?END[ ]", re.ASCII)
_WORDS: Final = re.compile(r"[A-Za-z]{1,15}[ ][A-Za-z]")
# A line of a key is 64 to 76 characters; a shorter run is its last line, or no key any more.
_MIN_PIECE: Final = 16


def private_key(text: str, start: int) -> tuple[Hit, ...]:
    """Find the body of the private key whose header begins at `start`."""
    header = _HEADER.match(text, start) or _PUTTY.match(text, start)
    if header is None:
        return ()
    first, end, length = -1, header.end(), 0
    at = _GAP.match(text, end).end()  # type: ignore[union-attr]  # the pattern matches the empty string
    while at < len(text) and at - start <= MAX_BLOCK_CHARS:
        piece = _PIECE.match(text, at)
        if piece is None or _FOOTER.match(text, at):
            break
        written = piece.group()
        # The last line may be short; a short word after it is prose again.
        if (
            len(written) < _MIN_PIECE
            and ":" not in written
            and piece.end() < len(text)
            and not _ends_key(text, piece.end(), length)
        ):
            break
        first = at if first < 0 else first
        end, length = piece.end(), len(written)
        at = _GAP.match(text, end).end()  # type: ignore[union-attr]  # as above
    if first < 0:
        return ()
    if at - start > MAX_BLOCK_CHARS:
        # Nothing of a key is a dash: what ends it is its footer, or whatever else begins.
        dash = text.find("--", end)
        end = dash if dash >= 0 else len(text)
    return (Hit(first, end, BLOCK_ID, _essence(text[first:end]), Certainty.BLOCK),)


def _ends_key(text: str, at: int, previous: int) -> bool:
    gap = _GAP.match(text, at)
    if gap is not None and _FOOTER.match(text, gap.end()):
        return True
    return previous >= _MIN_PIECE and text[at : at + 1] in {"", "\n", "\r", "\\", '"', "'"}


def _essence(body: str) -> str:
    """Drop what depends on the transport, so that one key has one fingerprint."""
    return re.sub(r"\\+[nrt]|[^A-Za-z0-9/=:]", "", body)


def key_ends(text: str, at: int) -> int:
    """Find where a key that is open at `at` ends; -1 when it is still open."""
    while at < len(text):
        at = _GAP.match(text, at).end()  # type: ignore[union-attr]  # as above
        if at == len(text):
            return -1
        piece = _PIECE.match(text, at)
        # A short piece is the last line of the key, or prose: the next one tells, unless it is a blank and a word.
        if piece is None or _WORDS.match(text, at):
            return at
        at = piece.end()
    return -1
