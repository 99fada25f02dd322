"""The fields of a request, divided into what is judged as text and the credentials that the host asks for.

An unknown interface with a key of its own has to work, so a credential to a stranger is no secret that leaks. It has to look like
one: a token, or some with their names, as RFC 9110 section 11.4 has them; a name alone exempts nothing. What is encoded in it is
looked at (`Authorization: $(base64 .env)`), but for the user and password of `Basic` and for signed tokens, which are made so.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Fields", "divided_fields"]

# The last word of a name. `X-Monkey`, `X-Author` and `X-Token-Note` have none of them.
_WORDS: Final = frozenset(
    {"authorization", "auth", "token", "key", "apikey", "secret", "cookie", "signature", "session", "jwt"}
)
# Says how the message is sent; a boundary looks like a token.
_ABOUT_THE_BODY: Final = frozenset(
    {
        b"content-type",
        b"content-length",
        b"content-md5",
        b"content-digest",
        b"digest",
        b"x-amz-content-sha256",
    }
)
_WORD: Final = re.compile(r"[-_]")
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,31} +")
# One token, or names with values and separators between: cookies, digests, signatures.
_CREDENTIAL: Final = re.compile(rb"[!-~]*+(?:[;,]? ++[!#-<>-~]++=(?:\"[ !#-~]*+\"|[!-~]*+))*+")
MAX_CREDENTIAL_BYTES: Final = 16 * 1024
_SIGNED: Final = re.compile(rb"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*|eyJ[\w-]+(?:\.[\w-]*){4}")


@dataclass(frozen=True, slots=True)
class Fields:
    """`text` is judged as a text is, `credentials` are the host's, and `encoded` is what may hold a text in them."""

    text: bytes = field(repr=False)
    credentials: bytes = field(repr=False)
    encoded: bytes = field(repr=False)


def divided_fields(headers: Sequence[tuple[bytes, bytes]]) -> Fields:
    """Divide the fields of a request, one a line."""
    text: list[bytes] = []
    credentials: list[bytes] = []
    encoded: list[bytes] = []
    for name, value in headers:
        lowered = name.lower()
        if lowered in _ABOUT_THE_BODY or _WORD.split(lowered.decode("latin-1"))[-1] in _WORDS:
            scheme = _SCHEME.match(value)
            credential = value[scheme.end() if scheme else 0 :].strip()
            if len(credential) <= MAX_CREDENTIAL_BYTES and _CREDENTIAL.fullmatch(credential):
                basic = _basic(credential) if scheme and scheme[0].strip().lower() == b"basic" else b""
                credentials.append(basic or credential)
                encoded.append(basic or _SIGNED.sub(b" ", credential))
                continue
        text.append(name + b": " + value)
    return Fields(b"\n".join(text), b"\n".join(credentials), b"\n".join(encoded))


def _basic(credential: bytes) -> bytes:
    """Read a user and a password (RFC 7617); nothing where it is something else."""
    try:
        plain = base64.b64decode(credential + b"=" * (-len(credential) % 4), validate=True)
    except binascii.Error:
        return b""
    return plain if b":" in plain and plain.decode("latin-1").isprintable() else b""
