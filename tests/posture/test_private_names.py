"""Which names of a home are private."""

import pytest

from herma.posture.private_names import Place, place_of

FILES = {
    ".env": Place.PRIVATE,
    ".env.local": Place.PRIVATE,
    ".env.example": Place.OTHER,
    "response_store.db": Place.PRIVATE,
    "response_store.db-wal": Place.PRIVATE,
    "response_store.db-shm": Place.PRIVATE,
    "webhook_subscriptions.json": Place.PRIVATE,
    "webhook_subscriptions.json.tmp": Place.PRIVATE,
    "auth.json": Place.PRIVATE,
    "tls.key": Place.PRIVATE,
    "slack_tokens.json": Place.PRIVATE,
    "cron/jobs.json": Place.PRIVATE,
    "mcp-tokens/a/b.json": Place.PRIVATE,
    "whatsapp/session/creds.json": Place.PRIVATE,
    "whatsapp/readme.txt": Place.OTHER,
    "cache/bws_cache.json": Place.PRIVATE,
    "cache/x/bws_cache.json": Place.OTHER,
    "skills/x/.env": Place.OTHER,
    "SOUL.md": Place.OTHER,
    "profiles/home/.env": Place.PRIVATE,
    "profiles/home/sessions/1.json": Place.PRIVATE,
    "profiles/home/SOUL.md": Place.OTHER,
    "profiles/stray": Place.OTHER,
}
DIRECTORIES = {
    "mcp-tokens": Place.PRIVATE,
    "sessions/saved": Place.PRIVATE,
    "profiles": Place.PASSED,
    "profiles/home": Place.PRIVATE,
    "profiles/home/cache": Place.PASSED,
    "cache": Place.PASSED,
    "skills": Place.OTHER,
    "skills/cache": Place.OTHER,
}


@pytest.mark.parametrize(("path", "place"), FILES.items())
def test_files_are_known_by_name(path: str, place: Place) -> None:
    """At the place where the agent server keeps them, and nowhere else."""
    assert place_of(tuple(path.split("/")), directory=False) is place


@pytest.mark.parametrize(("path", "place"), DIRECTORIES.items())
def test_directories_are_known_by_name(path: str, place: Place) -> None:
    """Private as a whole, on the way to something private, or nobody's concern."""
    assert place_of(tuple(path.split("/")), directory=True) is place
