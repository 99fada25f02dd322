"""The sessions of people who logged in, by the SHA-256 of what their cookie holds.

Rules of the file:

1. A session ends after `idle_s` without a request, and after `lifetime_s` in any case. The limits come with each call, so that
   a reload that makes them shorter holds for sessions that are there.
2. There is a bound for each person and one for all. Who logs in once too often ends the session that was opened first; where all
   are too many, the one that was used least lately ends.
3. `binding` stands for what the session was opened by. Whoever uses a session compares it: another role or another password of
   the same name is not what the session was for.
"""

from collections import OrderedDict
from dataclasses import dataclass

__all__ = ["MAX_SESSIONS", "MAX_SESSIONS_PER_USER", "LiveSession", "SessionLimits", "Sessions"]

# About 400 bytes each.
MAX_SESSIONS = 10_000
# Browsers of one person; who needs more logs in again.
MAX_SESSIONS_PER_USER = 32

# Sessions looked at, least lately used first, when one is opened: more end so than can begin.
_SWEEP = 8


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How long a session lasts without use, and how long at most."""

    idle_s: float
    lifetime_s: float


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that holds: whose it is, what it was opened by, and for how long it holds if nothing happens."""

    user: str
    binding: str
    left_s: float


@dataclass(slots=True)
class _Session:
    user: str
    binding: str
    opened: float
    seen: float

    def left_s(self, limits: SessionLimits, now: float) -> float:
        return min(self.seen + limits.idle_s, self.opened + limits.lifetime_s) - now


class Sessions:
    """The sessions that are there; times are seconds of a clock that never goes back."""

    def __init__(
        self, *, max_sessions: int = MAX_SESSIONS, max_per_user: int = MAX_SESSIONS_PER_USER
    ) -> None:
        self._max_sessions = max_sessions
        self._max_per_user = max_per_user
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # the least lately used first
        self._of: dict[str, OrderedDict[str, None]] = {}  # user -> sessions, the first opened first

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, ident: str, user: str, binding: str, limits: SessionLimits, now: float) -> None:
        """Begin a session under a name that nobody can guess and that was never used before."""
        self._sweep(limits, now)
        own = self._of.get(user, ())
        if len(own) >= self._max_per_user:
            self.close(next(iter(own)))
        if len(self._sessions) >= self._max_sessions:
            self.close(next(iter(self._sessions)))
        self._sessions[ident] = _Session(user, binding, now, now)
        self._of.setdefault(user, OrderedDict())[ident] = None

    def use(self, ident: str, limits: SessionLimits, now: float, *, touch: bool) -> LiveSession | None:
        """Return a session that holds, None if there is none; `touch` counts as use."""
        session = self._sessions.get(ident)
        if session is None:
            return None
        if session.left_s(limits, now) <= 0:
            self.close(ident)
            return None
        if touch:
            session.seen = now
            self._sessions.move_to_end(ident)
        return LiveSession(session.user, session.binding, session.left_s(limits, now))

    def close(self, ident: str) -> None:
        """End a session, if it is there."""
        session = self._sessions.pop(ident, None)
        if session is None:
            return
        own = self._of[session.user]
        del own[ident]
        if not own:
            del self._of[session.user]

    def _sweep(self, limits: SessionLimits, now: float) -> None:
        for ident in [ident for ident, _ in zip(self._sessions, range(_SWEEP), strict=False)]:
            self.use(ident, limits, now, touch=False)
