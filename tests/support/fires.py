"""A scheduler of the suites: the tokens that it signs to start jobs, and what a gate that takes them is told."""

import hashlib
import itertools
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.tokens import ISSUER, Signer, key_set

__all__ = ["AUDIENCE", "BODY", "FIRE", "JOB", "RUN", "fire_claims", "scheduler", "written_keys"]

AUDIENCE = "agent-7"
JOB = "0123456789ab"
FIRE = "/api/cron/fire"
RUN = f"/api/jobs/{JOB}/run"
BODY = b'{"job_id":"0123456789ab"}'
_NUMBERS = itertools.count()


def fire_claims(**over: Any) -> dict[str, Any]:
    """Return the claims of a token that is taken now, and has not been; one that is None is left out."""
    now = int(time.time())
    base = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "iat": now,
        "exp": now + 120,
        "purpose": "cron_fire",
        "job_id": JOB,
        "jti": hashlib.sha256(f"{now} {next(_NUMBERS)}".encode()).hexdigest()[:32],
    }
    return {name: value for name, value in (base | over).items() if value is not None}


def scheduler(**over: Any) -> dict[str, Any]:
    """Return the entry of `cron_fire.issuers`; `jwks_url` or `jwks_file` has to be given."""
    return {"name": "scheduler", "issuer": ISSUER, "audience": AUDIENCE} | over


def written_keys(directory: Path, *keys: Signer | Mapping[str, Any]) -> str:
    """Write a key set to a file that its owner alone writes; return its path."""
    file = directory / "scheduler.json"
    file.write_bytes(key_set(*keys))
    file.chmod(0o600)
    return str(file)
