"""Which files and directories of an agent server's home hold secrets, by name.

The list has what hermes-agent 0.16 to 0.19 writes: its credentials, its settings (which quote credentials), what was said to it, and
what SQLite puts beside a database. A profile (`profiles/<name>`) is a home of its own.
"""

from enum import Enum
from fnmatch import fnmatchcase
from typing import Final

__all__ = ["MARKERS", "Place", "place_of"]

# One of them is in every home that was ever used.
MARKERS: Final = ("config.yaml", ".env", "state.db", "response_store.db", "webhook_subscriptions.json")

_DATABASES: Final = ("response_store", "state", "memory_store", "projects", "verification_evidence", "kanban")
_FILES: Final = (
    ".env",
    ".env.*",
    "auth.json*",
    "auth.lock",
    "credentials",
    "config.yaml*",
    # Also what an interrupted write left behind.
    "webhook_subscriptions*",
    ".anthropic_oauth.json",
    "*_token.json",
    "*_tokens.json",
    "*oauth*.json",
    "*client_secret.json",
    "mem0.json",
    "honcho.json",
    "supermemory.json",
    "*.key",
    "*.pem",
    # With the log that is not yet in it, the index of that, and what a crash left.
    *(f"{name}.db{rest}" for name in _DATABASES for rest in ("", "-wal", "-shm", "-journal")),
    "cache/bws_cache.json",
    "hindsight/config.json",
)
_TREES: Final = (
    "auth",
    "credentials",
    "cron",
    "google_chat_user_oauth_pending",
    "google_chat_user_tokens",
    "mcp-tokens",
    "memories",
    "pairing",
    "sessions",
    "session-exports",
    "weixin/accounts",
    "whatsapp/session",
)
# Directories that hold some of the above and are not private as a whole.
_PASSED: Final = frozenset({"cache", "hindsight", "profiles", "weixin", "whatsapp"})
# A template has no values, and is part of a repository that everybody reads.
_TEMPLATES: Final = frozenset({".env.example", ".env.sample", ".env.template", "config.yaml.example"})


class Place(Enum):
    """What is to be done about one name of a home."""

    PRIVATE = "private"
    PASSED = "passed"
    OTHER = "other"


def place_of(path: tuple[str, ...], *, directory: bool) -> Place:
    """Tell what a path below a home is, by the names on the way to it."""
    if path[0] == "profiles" and len(path) == 2:
        return Place.PRIVATE if directory else Place.OTHER
    if path[0] == "profiles" and len(path) > 1:
        path = path[2:]
    if any(path[: tree.count("/") + 1] == tuple(tree.split("/")) for tree in _TREES):
        return Place.PRIVATE
    if directory:
        return Place.PASSED if len(path) == 1 and path[0] in _PASSED else Place.OTHER
    parts, text = len(path), "/".join(path)
    if text in _TEMPLATES:
        return Place.OTHER
    # A `*` of the pattern would also match a slash, so only paths of as many parts are compared.
    matched = any(one.count("/") + 1 == parts and fnmatchcase(text, one) for one in _FILES)
    return Place.PRIVATE if matched else Place.OTHER
