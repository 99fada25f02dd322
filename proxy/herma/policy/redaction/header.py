"""Credentials in headers whose value has a grammar of its own: Authorization and Cookie.

Other headers (`X-Api-Key: …`, `X-Vault-Token: …`) are assignments like any other.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final

from herma.policy.redaction.assignment import untrailed
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.name import Names
from herma.policy.redaction.value import (
    MAX_JUDGED_CHARS,
    is_code,
    is_dull,
    is_placeholder,
    is_reference,
    looks_like_password,
    looks_random,
)
from herma.policy.redaction.work import HIT, Work, judging

__all__ = ["authorization", "bare_scheme", "cookie"]

AUTHORIZATION_ID: Final = "authorization-header"
COOKIE_ID: Final = "cookie-header"

_OPERATOR: Final = re.compile(
    r"""["'`]?\]?\*{0,2}[ \t]{0,4}(?:=>|:=|[:=,])[ \t]{0,4}(?:[fbru]{0,2}["'`])?[ \t]{0,4}""", re.ASCII
)
_SCHEME: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9_-]{1,31})[ \t]{1,4}(?=\S)", re.ASCII)
# The credential runs to a blank, a quote or an escape, behind which a decoded view sees more.
_CREDENTIAL: Final = re.compile(r"[^\s\"'`\\<>\uff0c\u3002]{1,16384}+", re.ASCII)
# Digest, AWS and others write parameters, some of them in quotes; one alone is told by its quotes.
_PARAMETERS: Final = re.compile(
    r"[A-Za-z][\w-]{1,31}=(?:\"[^\"\n\\]{0,2048}\"|[^\s\"'`,\\]{1,4096})"
    r"(?:,[ \t]{0,4}[A-Za-z][\w-]{1,31}=(?:\"[^\"\n\\]{0,2048}\"|[^\s\"'`,\\]{1,4096})){1,16}"
    r"|[A-Za-z][\w-]{1,31}=\"[^\"\n\\]{0,2048}\"",
    re.ASCII,
)
_PARAMETER: Final = re.compile(
    r"(?P<name>[A-Za-z][\w-]{1,31})=(?:\"(?P<quoted>[^\"\n\\]{1,2048})\"|(?P<bare>[^\s\"'`,\\]{1,4096}))",
    re.ASCII,
)
# Parameters that tell who asks, for what and how: whoever reads a masked header needs them.
_TOLD: Final = frozenset(
    [
        "algorithm",
        "app",
        "charset",
        "headers",
        "keyid",
        "nc",
        "oauth_callback",
        "oauth_signature_method",
        "oauth_timestamp",
        "oauth_version",
        "qop",
        "realm",
        "signedheaders",
        "ts",
        "uri",
        "username",
    ]
)
_SCHEMES: Final = frozenset(
    [
        "bearer",
        "basic",
        "token",
        "bot",
        "digest",
        "negotiate",
        "apikey",
        "api-key",
        "key",
        "oauth",
        "hmac",
        "hawk",
        "splunk",
        "geniekey",
        "ssws",
        "dpop",
        "sso-key",
        "jwt",
        "ntlm",
        "aws4-hmac-sha256",
        "client-key",
        "discogs",
        "mac",
        "signature",
        "user",
        "snowflake",
        "zoho-oauthtoken",
        "klaviyo-api-key",
    ]
)
_MORE_WORDS: Final = re.compile(r"[ ][A-Za-z]", re.ASCII)
_PAIR: Final = re.compile(r"(?P<name>[A-Za-z0-9_.$%*-]{1,96}+)=(?P<value>[^\s;,\"'`\\]{1,8192}+)", re.ASCII)
_NEXT_PAIR: Final = re.compile(
    r";[ \t]{0,4}(?:(?:Secure|HttpOnly|Partitioned);[ \t]{0,4}){0,3}", re.IGNORECASE
)
# Cookies that hold a choice, not a session.
_HARMLESS: Final = frozenset(
    [
        "lang",
        "locale",
        "theme",
        "path",
        "domain",
        "max-age",
        "expires",
        "samesite",
        "version",
        "tz",
        "timezone",
        "currency",
        "country",
    ]
)
_SESSION: Final = re.compile(
    r"sess|sid\b|token|auth|jwt|csrf|xsrf|secure|login|remember|identity|user|key|secret|ticket|cf_clearance",
    re.IGNORECASE | re.ASCII,
)


def authorization(text: str, end: int) -> Iterator[Hit]:
    """Find the credential behind the word `Authorization`, which ends at `end`; the scheme stays."""
    operator = _OPERATOR.match(text, end)
    if operator is None:
        return
    at = operator.end()
    scheme = _SCHEME.match(text, at)
    known = scheme is not None and scheme["scheme"].lower() in _SCHEMES
    if scheme is not None and known:
        at = scheme.end()
    parameters = _PARAMETERS.match(text, at) if known or scheme is None else None
    if parameters is not None:
        yield from _parameters(text, at, parameters.end())
        return
    credential = _CREDENTIAL.match(text, at)
    if credential is None:
        return
    written = untrailed(credential.group())
    if _left_alone(written) or is_dull(written) or is_placeholder(credential.group()):
        return
    if is_code(written) if not known else _begins_words(text, at, written):
        return
    # A word nobody knows as a scheme begins a sentence ("Authorization: see below") unless a key follows.
    if (
        known
        or len(written) >= MAX_JUDGED_CHARS
        or looks_random(written)
        or (looks_like_password(written) and scheme is None)
    ):
        yield Hit(at, at + len(written), AUTHORIZATION_ID, written)
    elif scheme is not None:
        second = _CREDENTIAL.match(text, scheme.end())
        if second is not None and looks_random(second.group(), at_least=12):
            yield Hit(scheme.end(), second.end(), AUTHORIZATION_ID, second.group())


def _parameters(text: str, start: int, end: int) -> Iterator[Hit]:
    """Find the values of the parameters that are no names, places or methods."""
    for found in _PARAMETER.finditer(text, start, end):
        group = found.lastgroup or "bare"
        written = found[group]
        if found["name"].lower() not in _TOLD and not _left_alone(written):
            yield Hit(found.start(group), found.end(group), AUTHORIZATION_ID, written)


def bare_scheme(text: str, end: int) -> Iterator[Hit]:
    """Find a credential behind `Bearer` or `Basic` that stands without its header's name."""
    while text[end : end + 1] in {" ", "\t"}:
        end += 1
    credential = _CREDENTIAL.match(text, end)
    if credential is None or credential.group().startswith("-"):
        return
    written = re.split(r"[,;)\]}]", credential.group(), maxsplit=1)[0].rstrip(".")
    if (looks_random(written, at_least=16) or _pair(written)) and not _left_alone(written):
        yield Hit(credential.start(), credential.start() + len(written), AUTHORIZATION_ID, written)


def cookie(text: str, end: int, names: Names, work: Work | None = None) -> Iterator[Hit]:
    """Find the values of session cookies behind `Cookie` or `Set-Cookie`; names, attributes and harmless cookies stay."""
    operator = _OPERATOR.match(text, end)
    at = operator.end() if operator else -1
    while at >= 0:
        pair = _PAIR.match(text, at)
        if pair is None:
            return
        name, written = pair["name"], pair["value"]
        if work is not None:
            work.left -= judging(len(written))
            if work.spent:
                line_end = text.find("\n", pair.end())
                yield Hit.unseen(text, pair.start("value"), line_end if line_end >= 0 else len(text))
                return
        sensitive = _SESSION.search(name) is not None or names.classify(name) is not None
        if (
            name.lower() not in _HARMLESS
            and not _left_alone(written)
            and ((sensitive and len(written) >= 6) or looks_random(written, at_least=12))
        ):
            if work is not None:
                work.left -= HIT
            yield Hit(pair.start("value"), pair.end("value"), COOKIE_ID, written)
        gap = _NEXT_PAIR.match(text, pair.end())
        at = gap.end() if gap else -1


def _begins_words(text: str, at: int, written: str) -> bool:
    """Tell whether a scheme is only mentioned: "Authorization: Bearer instead of …"."""
    return written.isalpha() and written.islower() and _MORE_WORDS.match(text, at + len(written)) is not None


def _pair(written: str) -> bool:
    """Tell whether a word is the base64 of `name:password`."""
    try:
        decoded = base64.b64decode(written, validate=True)
    except ValueError:
        return False
    return b":" in decoded[1:-1] and decoded.isascii() and decoded.decode().isprintable()


def _left_alone(written: str) -> bool:
    return not written or is_reference(written) or is_placeholder(written)
