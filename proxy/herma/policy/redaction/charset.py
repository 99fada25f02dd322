"""Texts of two or four bytes a character: which encoding bytes are in that are no UTF-8, or only pass for it."""

import codecs
from typing import Final

__all__ = ["wide_encoding"]

# So many bytes tell; a text of fewer than four bytes holds no secret.
MAX_TOLD_BYTES: Final = 256
MIN_TOLD_BYTES: Final = 4
_PRINTABLE: Final = bytes(range(0x20, 0x7F)) + b"\t\r\n"
# Four bytes a character before two: one mark begins with the other.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def wide_encoding(raw: bytes) -> str:
    """Tell the encoding by its mark, or by the zero bytes that letters of ASCII have in it; empty for every other."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return name
    head = raw[: min(MAX_TOLD_BYTES, len(raw) // MIN_TOLD_BYTES * MIN_TOLD_BYTES)]
    zeros = head.count(0)
    # A zero byte separates variables of an environment; in these encodings every second byte is one, or three of four.
    if zeros * 3 < len(head) or not _is_ascii(head.replace(b"\0", b"")):
        return ""
    first_zero, last_zero = _mostly_zero(head[::MIN_TOLD_BYTES]), _mostly_zero(head[3::MIN_TOLD_BYTES])
    if zeros * 8 > len(head) * 5 and first_zero != last_zero:
        return "utf-32-be" if first_zero else "utf-32-le"
    return "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"


def _is_ascii(raw: bytes) -> bool:
    return len(raw.translate(None, _PRINTABLE)) * 4 < len(raw)


def _mostly_zero(raw: bytes) -> bool:
    return raw.count(0) * 2 > len(raw)
