"""How the texts about tokens, certificates and the headers of a proxy are read; `scalar` lists them with the others."""

import re

from herma.config.values import Audience, ClaimName, HeaderName, JobName, KeySetUrl, San, UserName
from herma.policy.fire.request import is_job_id
from herma.policy.message.headers import TOKEN, names_somebody
from herma.policy.openid.email import parse_email
from herma.policy.openid.endpoint import is_endpoint

__all__ = ["audience", "claim_name", "header_name", "job_name", "key_set_url", "san", "user_name"]

# Names and URLs of services; a blank would make two of one.
_AUDIENCE = re.compile(r"[!-~]{1,255}")
_CLAIM = re.compile(r"[ -~]{1,200}")
# RFC 1035 section 2.3.4, and no wildcard: a name of one caller.
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*")
# RFC 3986: a scheme, and no character that stands in no URI.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!$%&'()+,./0-9:;=?@A-Z_a-z~\[\]-]{1,500}")
_USER = re.compile(r"[!-+\--:<-~]{1,255}")


def audience(text: str) -> Audience:
    """Read whom a token has to be for."""
    if not _AUDIENCE.fullmatch(text):
        raise ValueError("expected the audience (`aud`) as the issuer writes it, without blanks")
    return Audience(text)


def claim_name(text: str) -> ClaimName:
    """Read where a claim is: a member's name, or a JSON Pointer."""
    if not _CLAIM.fullmatch(text) or text == "/" or (text.startswith("/") and "*" in text):
        raise ValueError("expected the name of a claim, or a JSON Pointer such as /realm_access/roles")
    return ClaimName(text)


def job_name(text: str) -> JobName:
    """Read the id of a job, or the name of a profile."""
    if not is_job_id(text):
        raise ValueError("expected up to 64 letters, digits, dashes and underscores")
    return JobName(text)


def key_set_url(text: str) -> KeySetUrl:
    """Read where an issuer publishes its keys."""
    if not is_endpoint(text, local=True):
        raise ValueError("expected https://host/path; http only at a loopback address")
    return KeySetUrl(text)


def san(text: str) -> San:
    """Read one name of a certificate, with its kind before it; it is compared whole."""
    kind, _, name = text.partition(":")
    if kind == "dns" and _HOST.fullmatch(name.lower()):
        return San(f"dns:{name.lower()}")
    if kind == "email" and "*" not in name and (address := parse_email(name)) is not None:
        return San(f"email:{address}")
    if kind == "uri" and _URI.fullmatch(name):
        return San(text)
    raise ValueError(
        "expected dns:host.example.com, email:name@example.com or uri:spiffe://example.com/name, without wildcards"
    )


def header_name(text: str) -> HeaderName:
    """Read the name of a header that says who somebody is; such headers never reach an agent server."""
    lower = text.lower()
    if len(text) > 64 or not TOKEN.fullmatch(text.encode("utf-8", "replace")) or "_" in text:
        raise ValueError("expected the name of a header, such as X-Forwarded-User")
    if not names_somebody(lower.encode("ascii")):
        raise ValueError(
            "expected a header that says who somebody is, such as X-Forwarded-User, Remote-User or one that begins with X-Herma-"
        )
    return HeaderName(lower)


def user_name(text: str) -> UserName:
    """Read a user as the proxy names them."""
    if not _USER.fullmatch(text):
        raise ValueError("expected the user as the proxy writes it, without blanks, commas and semicolons")
    return UserName(text)
