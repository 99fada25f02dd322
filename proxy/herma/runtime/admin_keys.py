"""The keys of the gate, as the console asks for them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from herma.identity import Keyring, Verified
from herma.policy.grant import Scope
from herma.policy.secret import Secret
from herma.store import Store

__all__ = ["AdminKeys"]

# Of the kind of an account, whose wait is a minute at most: whoever guesses here, another user of this machine, must not lock
# out those who hold a key for long. No name of a person folds to this.
_SUBJECT: Final = ("account:console",)


class AdminKeys:
    """Judges keys by the configuration of the moment."""

    def __init__(
        self,
        keyring: Callable[[], Keyring],
        store: Store,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._keyring = keyring
        self._store = store
        self._now = now

    def admin(self, key: Secret, address: str) -> str:
        """Return the name of a key that holds now, from that address, and has the scope `admin`; else nothing."""
        verdict = self._keyring().verify(key, address, self._now())
        if isinstance(verdict, Verified) and verdict.principal.may(Scope.ADMIN):
            return verdict.principal.name
        return ""

    async def wait_s(self) -> float:
        """Return how long keys are not looked at, after too many wrong ones."""
        return await self._store.blocked(_SUBJECT)

    async def failed(self) -> None:
        """Count a wrong key."""
        await self._store.failed(_SUBJECT)
