"""Who a run, session or stored response belongs to.

A thing belongs to whoever is bound to it first. What is unknown here (never bound, evicted, expired) belongs to nobody, and
only `admin` may touch it. Memory is bounded, and who fills it pays: a principal that binds more and more evicts its own
oldest bindings, never a stranger's, so nobody can push out another's binding and take its place.
"""

import hashlib
from dataclasses import dataclass

from herma.policy.grant import Principal

__all__ = ["MAX_BINDINGS", "RUN_KEPT_S", "Owner", "Ownership"]

# About 300 bytes each, whatever the length of the ids: at most some 30 MB.
MAX_BINDINGS = 100_000

# Upstream keeps the status of a finished run for an hour; the owner must outlive it.
RUN_KEPT_S = 2 * 3600.0

_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Owner:
    """The principal that something belongs to, and the group it shares it with (if any)."""

    name: str
    group: str = ""

    @classmethod
    def of(cls, principal: Principal) -> "Owner":
        """Return the owner that `principal` is of what it starts."""
        return cls(principal.name, principal.group)

    def admits(self, principal: Principal) -> bool:
        """Tell whether `principal` may touch what belongs to this owner."""
        return principal.shares_with(Principal(self.name, frozenset(), self.group))


@dataclass(slots=True)
class _Binding:
    owner: Owner
    expires: float = _NEVER


class Ownership:
    """Bindings of (kind, id) to an owner, at most `limit`."""

    def __init__(self, limit: int = MAX_BINDINGS) -> None:
        self._limit = limit
        self._bindings: dict[bytes, _Binding] = {}
        self._by_name: dict[
            str, dict[bytes, None]
        ] = {}  # the bindings of each principal, longest unused first

    def __len__(self) -> int:
        return len(self._bindings)

    def claim(self, kind: str, thing_id: str, owner: Owner, now: float) -> Owner:
        """Bind to `owner` if nobody holds it; return who does."""
        key = _key(kind, thing_id)
        held = self._alive(key, now)
        if held is not None and held.owner.name != owner.name:
            return held.owner
        if held is None:
            self._make_room(owner.name)
            self._bindings[key] = _Binding(owner)
        else:
            held.owner = owner  # its group may have changed with the configuration
            del self._by_name[owner.name][key]
        self._by_name.setdefault(owner.name, {})[key] = None
        return owner

    def owner(self, kind: str, thing_id: str, now: float) -> Owner | None:
        """Return who holds it; None means nobody known, which is admin only."""
        held = self._alive(_key(kind, thing_id), now)
        return held.owner if held else None

    def ended(self, kind: str, thing_id: str, now: float) -> None:
        """Let a binding expire after the time upstream still answers for it; the first end counts."""
        held = self._alive(_key(kind, thing_id), now)
        if held and held.expires == _NEVER:
            held.expires = now + RUN_KEPT_S

    def _alive(self, key: bytes, now: float) -> _Binding | None:
        held = self._bindings.get(key)
        if held is not None and held.expires <= now:
            self._drop(key)
            return None
        return held

    def _make_room(self, name: str) -> None:
        if len(self._bindings) < self._limit:
            return
        mine = self._by_name.get(name)
        self._drop(next(iter(mine or max(self._by_name.values(), key=len))))

    def _drop(self, key: bytes) -> None:
        name = self._bindings.pop(key).owner.name
        del self._by_name[name][key]
        if not self._by_name[name]:
            del self._by_name[name]


def _key(kind: str, thing_id: str) -> bytes:
    # Callers choose session ids: the digest makes every entry the same size. A lone surrogate is legal in JSON text.
    return hashlib.sha256(f"{kind}\0{thing_id}".encode("utf-8", "surrogatepass")).digest()
