"""The request that starts a job: which one it names, and the path by which an agent server is told to run it."""

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["MISSING", "Fire", "Missing", "is_job_id", "read_fire", "run_path"]

# Agents name jobs by twelve hexadecimal digits; others by a word, a UUID or a ULID. No dot and no slash: the id becomes a path.
_JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_PARAMETER = "{job_id}"
_ANY_PARAMETER = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Fire:
    """A job to start; `profile` is the one that the body names, None where it names none."""

    job_id: str
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """The body names no job."""


MISSING = Missing()


def is_job_id(text: str) -> bool:
    """Tell whether a text can be the id of a job, or the name of a profile."""
    return _JOB_ID.fullmatch(text) is not None


def read_fire(body: Any) -> Fire | Missing:
    """Read the parsed body; other members are the agent's."""
    if not isinstance(body, dict):
        return MISSING
    job_id, profile = body.get("job_id"), body.get("profile")
    if not isinstance(job_id, str) or not is_job_id(job_id):
        return MISSING
    # What is no name at all must not be taken for none.
    return Fire(job_id, profile if profile is None or isinstance(profile, str) else "?")


def run_path(template: str, job_id: str, profile: str = "", prefix: str = "") -> str:
    """Return the path that runs a job, below the `prefix` (a template with one parameter) of the profile; an empty profile is none.

    Both names were judged by `is_job_id`.
    """
    path = template.replace(_PARAMETER, job_id)
    return _ANY_PARAMETER.sub(profile, prefix) + path if profile else path
