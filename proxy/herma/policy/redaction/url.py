"""Credentials in the user info of a URL: `scheme://user:password@host`, `https://token@host`. User and host stay."""

import re
from collections.abc import Iterator
from typing import Final

from herma.policy.redaction.fingerprint import PLACEHOLDER
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.value import is_dull, is_placeholder, is_reference, looks_random

__all__ = ["URL_ID", "user_info"]

URL_ID: Final = "url-user-info"
# The longest user info: 512 characters of each, and what may stand between it and its sign.
MAX_CHARS: Final = 1100
# Anchored at `://`: a pattern that begins with the scheme tries it at each letter of a text.
_USER_INFO: Final = re.compile(
    r"(?P<user>[^\s:/?#@\"'<>\\]{0,256}):(?P<password>[^\s/\"'<>\\]{1,512})@(?=[\w.\[$%{-])"
)
_BARE: Final = re.compile(
    r"(?P<user>[^\s:/?#@\"'<>\\]{16,512}+)(?::(?:x-oauth-basic|x|X|unused|api_token)?)?@(?=[\w.\[-])"
)
# The key of a project that sends its errors is public, it stands in pages; with a password behind it, the password is none.
_PUBLIC: Final = re.compile(
    r"[0-9a-f]{32}@(?:[\w-]{1,63}\.){0,4}(?:ingest|sentry|glitchtip|bugsink)[\w.:-]{0,80}/(?:[\w-]{1,40}/)?\d{1,20}(?![\w])"
)
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789+.-ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def user_info(text: str, start: int, end: int) -> Iterator[Hit]:
    """Find the credential behind the `://` at `start` to `end`."""
    if start == 0 or text[start - 1] not in _LETTERS or text.find("@", end, end + MAX_CHARS) < 0:
        return
    if PLACEHOLDER.match(text, end) is not None:
        return
    if _PUBLIC.match(text, end) is not None:
        return
    bare = _BARE.match(text, end)
    if bare is not None and looks_random(bare["user"], at_least=16) and not is_placeholder(bare["user"]):
        yield Hit(end, bare.end("user"), URL_ID, bare["user"])
        return
    found = _USER_INFO.match(text, end)
    if found is None:
        return
    written = found["password"]
    if is_reference(written) or is_placeholder(written) or written.lower() in {"*", "***"}:
        return
    if is_dull(written) and not (written.isdigit() and len(written) >= 4):
        return
    yield Hit(found.start("password"), found.end("password"), URL_ID, written)
