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
# A boundary stands behind a name, and looks like the token of it.
_BOUNDARY: Final = re.compile(rb";\s*boundary=", re.IGNORECASE)
_DIGESTS: Final = frozenset(
    {b"content-md5", b"content-digest", b"repr-digest", b"digest", b"x-amz-content-sha256"}
)
# 16, 20, 32, 48 or 64 bytes in hex or base64, of one algorithm or of some (RFC 3230, RFC 9530).
_DIGEST: Final = (
    rb"(?:[a-z0-9-]{1,16}=)?:?"
    rb"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}"
    rb"|[a-z0-9+/]{22}==|[a-z0-9+/]{27}=|[a-z0-9+/]{43}=|[a-z0-9+/]{64}|[a-z0-9+/]{86}==):?"
)
_DIGESTED: Final = re.compile(_DIGEST + rb"(?:, ?" + _DIGEST + rb")*", re.IGNORECASE)
_WORD: Final = re.compile(r"[-_]")
_WORDS_ONLY: Final = re.compile(rb"[A-Za-z]{1,16}(?:[-_][A-Za-z]{1,16}){0,5}")
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
        if lowered == b"content-type":
            text.append(_BOUNDARY.sub(b"\n", value))
            continue
        if lowered in _DIGESTS and _DIGESTED.fullmatch(value.strip()):
            credentials.append(value)
            encoded.append(value)
            continue
        if _WORD.split(lowered.decode("latin-1"))[-1] in _WORDS:
            scheme = _SCHEME.match(value)
            credential = value[scheme.end() if scheme else 0 :].strip()
            if len(credential) <= MAX_CREDENTIAL_BYTES and _CREDENTIAL.fullmatch(credential):
                basic = _basic(credential) if scheme and scheme[0].strip().lower() == b"basic" else b""
                credentials.append(basic or credential)
                encoded.append(basic or _SIGNED.sub(b" ", credential))
                # A name is no credential, whatever it ends with.
                text += [] if _WORDS_ONLY.fullmatch(name) else [name]
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
