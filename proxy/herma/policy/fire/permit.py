"""What a credential lets be fired: one job, in one profile, perhaps with one body, perhaps once.

The claims are judged after the signature (see `token.claims`); which of them was wrong is for the audit, never for the caller.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from herma.policy.fire.request import Fire, is_job_id
from herma.policy.token.claims import Claims
from herma.policy.token.spent import Once

__all__ = ["PURPOSE", "TYPES", "FireFlaw", "Permit", "is_fire_token", "permit_of"]

PURPOSE = "cron_fire"
# RFC 8725 section 3.11: an access token (`at+jwt`) starts nothing here.
TYPES = frozenset({"", "jwt"})
# UUIDs and hashes in use stay below half of it.
MAX_TOKEN_ID_CHARACTERS = 128
# The profile that is meant where a path names none.
_DEFAULT = "default"
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class FireFlaw(StrEnum):
    """Why a credential that is right in itself starts nothing."""

    PURPOSE = "purpose"
    TOKEN_ID = "token_id"  # noqa: S105 - the name of a flaw
    ISSUED = "issued"
    CLAIMS = "claims"
    PROFILE = "profile"
    JOB = "job"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Permit:
    """One job that may be fired; `name` says whose credential it was, for the audit.

    An empty `profile` is a path without one. `body_sha256` is the digest that the body must have, `once` set where the credential may
    be used one time only.
    """

    name: str
    job_id: str
    profile: str = ""
    body_sha256: str | None = None
    once: Once | None = None

    def judge_path(self, prefix: str) -> FireFlaw | None:
        """Judge the profile in the path; empty for none."""
        return None if self.profile in {prefix, prefix or _DEFAULT} else FireFlaw.PROFILE

    def judge_body(self, fire: Fire, body: bytes) -> FireFlaw | None:
        """Judge the body, and what it asks for."""
        if not hmac.compare_digest(fire.job_id.encode(), self.job_id.encode()):
            return FireFlaw.JOB
        if fire.profile is not None and fire.profile != (self.profile or _DEFAULT):
            return FireFlaw.PROFILE
        if self.body_sha256 is not None and hashlib.sha256(body).hexdigest() != self.body_sha256:
            return FireFlaw.BODY
        return None


def is_fire_token(members: Mapping[str, Any]) -> bool:
    """Tell whether a token is for firing jobs, and so for nothing else."""
    return members.get("purpose") == PURPOSE


def permit_of(claims: Claims, name: str) -> Permit | FireFlaw:
    """Return what a verified token lets be fired."""
    members = claims.members
    if not is_fire_token(members):
        return FireFlaw.PURPOSE
    token_id, issued = members.get("jti"), members.get("iat")
    if not isinstance(token_id, str) or not 0 < len(token_id) <= MAX_TOKEN_ID_CHARACTERS:
        return FireFlaw.TOKEN_ID
    if issued is None:
        return FireFlaw.ISSUED
    job_id, profile, digest = (members.get(one) for one in ("job_id", "profile", "body_sha256"))
    if not isinstance(job_id, str) or not is_job_id(job_id):
        return FireFlaw.JOB
    if profile is not None and not (isinstance(profile, str) and is_job_id(profile)):
        return FireFlaw.CLAIMS
    if digest is not None and not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
        return FireFlaw.CLAIMS
    once = Once(_known_by(members["iss"], token_id), float(issued), claims.expires)
    return Permit(name, job_id, profile or "", digest, once)


def _known_by(issuer: str, token_id: str) -> str:
    """Name a token in the memory: ids are unique within an issuer only, and may be of any characters."""
    return hashlib.sha256(f"{len(issuer)}:{issuer}{token_id}".encode("utf-8", "surrogatepass")).hexdigest()
