"""Who may see the console: whoever shows a token of this machine once, or a key with the scope `admin`.

A token or key that was typed into the form becomes a session, held by a cookie. Rules of the file:

1. A token is worth something once and for minutes. While a fresh one waits to be used, whoever asks for one is led to the same: by
   asking again and again nobody keeps others from using theirs.
2. A session that a key opened holds as long as the key does; it is judged anew each time.
3. Sessions live in this process and are few; the one that was used least lately makes room.
"""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from herma.console.token_file import TokenDirectory, new_token
from herma.policy.secret import Secret

__all__ = ["LOCAL", "Access", "Keys", "Offer"]

LOCAL: Final = "local token"
"""Who is there, where nobody has a name."""

# Long enough to copy it from a terminal into a browser.
TOKEN_LIFE_S: Final = 300.0
# What is left of a token that is offered again is enough to use it.
TOKEN_REST_S: Final = 120.0
MAX_TOKENS: Final = 2
MAX_SESSIONS: Final = 32
# A page that is open asks every few seconds, and so keeps its session; a closed one ends soon.
IDLE_S: Final = 1800.0
LIFETIME_S: Final = 12 * 3600.0


class Keys(Protocol):
    """The keys of the gate."""

    def admin(self, key: Secret, address: str) -> str:
        """Return the name of a key that holds now, from that address, and has the scope `admin`; else nothing."""
        ...

    async def wait_s(self) -> float:
        """Return how long keys are not looked at, after too many wrong ones."""
        ...

    async def failed(self) -> None:
        """Count a wrong key."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """Where a token can be read, and for how long it is good."""

    path: str
    left_s: float


@dataclass(frozen=True, slots=True)
class _Token:
    digest: bytes
    path: str
    until: float


@dataclass(slots=True)
class _Session:
    key: Secret | None
    opened: float
    seen: float

    def over(self, now: float) -> bool:
        return now >= min(self.seen + IDLE_S, self.opened + LIFETIME_S)


class Access:
    """The tokens and the sessions; `now` is a clock that never goes back."""

    def __init__(self, keys: Keys, directory: TokenDirectory, now: Callable[[], float]) -> None:
        self._keys = keys
        self._directory = directory
        self._now = now
        self._tokens: list[_Token] = []
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()

    def offer(self) -> Offer:
        """Write a token where only this user reads, unless a fresh one waits there.

        Raises:
            OSError: there is no place to write to.
        """
        now = self._now()
        self._drop(lambda token: token.until <= now or not self._directory.holds(token.path))
        if self._tokens and self._tokens[-1].until - now >= TOKEN_REST_S:
            newest = self._tokens[-1]
        else:
            token = new_token()
            newest = _Token(_digest(token), self._directory.write(token), now + TOKEN_LIFE_S)
            self._tokens.append(newest)
            kept = self._tokens[-MAX_TOKENS:]
            self._drop(lambda token: token not in kept)
        return Offer(newest.path, newest.until - now)

    async def enter(self, secret: Secret, address: str) -> Secret | None:
        """Open a session with a token or a key; return what its cookie holds, or None when neither is right."""
        if self._redeemed(secret):
            return self._begin(None)
        if await self.named(secret, address):
            return self._begin(secret)
        return None

    async def named(self, key: Secret, address: str) -> str:
        """Return the name of an admin key; nothing when it is none, or while keys are not looked at."""
        if await self._keys.wait_s() > 0:
            return ""
        name = self._keys.admin(key, address)
        if not name:
            await self._keys.failed()
        return name

    def who(self, cookie: Secret, address: str) -> str:
        """Return whose session a cookie holds, and note that it was used; nothing when it holds none any more."""
        ident, now = _digest(cookie), self._now()
        session = self._sessions.get(ident)
        if session is None:
            return ""
        name = LOCAL if session.key is None else self._keys.admin(session.key, address)
        if session.over(now) or not name:
            del self._sessions[ident]
            return ""
        session.seen = now
        self._sessions.move_to_end(ident)
        return name

    def leave(self, cookie: Secret) -> None:
        """End a session."""
        self._sessions.pop(_digest(cookie), None)

    def close(self) -> None:
        """Take back everything."""
        self._tokens.clear()
        self._sessions.clear()
        self._directory.close()

    def _redeemed(self, secret: Secret) -> bool:
        digest, now = _digest(secret), self._now()
        right = [token for token in self._tokens if hmac.compare_digest(token.digest, digest)]
        self._drop(lambda token: token in right or token.until <= now)
        return any(token.until > now for token in right)

    def _begin(self, key: Secret | None) -> Secret:
        cookie, now = new_token(), self._now()
        self._sessions[_digest(cookie)] = _Session(key, now, now)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return cookie

    def _drop(self, over: Callable[[_Token], bool]) -> None:
        for token in [token for token in self._tokens if over(token)]:
            self._tokens.remove(token)
            self._directory.remove(token.path)


def _digest(secret: Secret) -> bytes:
    # What is kept opens nothing.
    return hashlib.sha256(secret.reveal()).digest()
