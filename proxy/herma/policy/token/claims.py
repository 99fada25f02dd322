"""What the claims of a verified token have to say (RFC 7519 section 4.1, RFC 8725 section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from herma.policy.token.form import Flaw

__all__ = ["LEEWAY_S", "Claims", "Expected", "judge_claims"]

# Clocks of servers that are kept right differ by less.
LEEWAY_S = 30
# RFC 7519 says no bound; OpenID Connect Core section 2 says 255 ASCII characters, some issuers take a little more.
MAX_SUBJECT_CHARACTERS = 512

# Beyond it a number is no time, and not exact in every parser (RFC 8259 section 6).
_NEVER = 2**53


@dataclass(frozen=True, slots=True)
class Expected:
    """Whose tokens are taken, for whom they have to be, and for how long they may have been issued.

    Without `subject` a token need not say whom it is about: one that only starts something is about nobody.
    """

    issuer: str
    audience: str
    max_lifetime_s: float
    subject: bool = True

    def __post_init__(self) -> None:
        if not self.issuer or not self.audience or self.max_lifetime_s <= 0:
            raise ValueError("an issuer, an audience and a lifetime are needed: without one, any would do")


@dataclass(frozen=True, slots=True)
class Claims:
    """What a verified token says; `expires` in seconds since 1970, `members` has all of it."""

    subject: str
    expires: float
    members: Mapping[str, Any] = field(repr=False)


def judge_claims(members: Mapping[str, Any], expected: Expected, now: float) -> Claims | Flaw:
    """Judge the claims of a token whose signature is right; `now` in seconds since 1970.

    `iss`, `aud`, `sub` and `exp` have to be there, and times are whole numbers. Names are compared as they are written. A `sub` that
    is not asked for and not there is empty.
    """
    if members.get("iss") != expected.issuer:
        return Flaw.ISSUER
    if expected.audience not in _audiences(members.get("aud")):
        return Flaw.AUDIENCE
    subject = members.get("sub")
    if subject is None and not expected.subject:
        return _judge_times(members, "", expected, now)
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARACTERS:
        return Flaw.CLAIMS
    return _judge_times(members, subject, expected, now)


def _judge_times(members: Mapping[str, Any], subject: str, expected: Expected, now: float) -> Claims | Flaw:
    expires, issued, begins = (members.get(name) for name in ("exp", "iat", "nbf"))
    if not _is_time(expires) or not all(at is None or _is_time(at) for at in (issued, begins)):
        return Flaw.CLAIMS
    if now >= expires + LEEWAY_S:
        return Flaw.EXPIRED
    if any(at is not None and at > now + LEEWAY_S for at in (issued, begins)):
        return Flaw.EARLY
    # From when it was issued; and from now on, for what says a false time or none.
    since = now if issued is None else min(issued, now)
    if expires - since > expected.max_lifetime_s + LEEWAY_S:
        return Flaw.LIFETIME
    return Claims(subject, expires, members)


def _audiences(claim: Any) -> list[str]:
    """List whom the token is for: one name, or several; none where it says neither."""
    if isinstance(claim, str):
        return [claim]
    whole = isinstance(claim, list) and all(isinstance(one, str) for one in claim)
    return claim if whole else []


def _is_time(claim: Any) -> TypeGuard[int]:
    return isinstance(claim, int) and not isinstance(claim, bool) and 0 <= claim < _NEVER
