"""Checksums that vendors put into their tokens, as far as they are documented.

A right checksum makes a find certain: the token is masked even where its letters happen to read like a placeholder. A wrong one
proves nothing (a mistyped token leaks all but a letter), so that a token without a right checksum is judged as if there were none.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["CHECKSUMS", "base62_crc32", "grafana", "pypi"]

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CHECKSUM_CHARS: Final = 6
# A macaroon, version 2, whose first field is the location; in base64, so the host of the index and of its test site begin.
_MACAROONS: Final = ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ")


def base62_crc32(token: str) -> bool:
    """Tell whether the last six characters are the CRC-32 of those behind the prefix, in base 62.

    GitHub, npm and NetBird make tokens so: prefix, underscore, 30 random characters, checksum.
    """
    body = token.split("_", 1)[-1]
    entropy, written = body[:-CHECKSUM_CHARS], body[-CHECKSUM_CHARS:]
    if not entropy or not body.isalnum() or not body.isascii():
        return False
    value = 0
    for character in written:
        value = value * 62 + _BASE62.index(character)
    return value == zlib.crc32(entropy.encode())


def grafana(token: str) -> bool:
    """Tell whether the last field is the CRC-32 of what stands before it, four bytes in hexadecimal, the lowest first."""
    before, _, written = token.rpartition("_")
    return bool(before) and zlib.crc32(before.encode()).to_bytes(4, "little").hex() == written.lower()


def pypi(token: str) -> bool:
    """Tell whether the token holds a macaroon of the package index; its signature cannot be checked without the key."""
    return token.startswith(_MACAROONS)


CHECKSUMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "base62-crc32": base62_crc32,
    "grafana": grafana,
    "pypi": pypi,
}
