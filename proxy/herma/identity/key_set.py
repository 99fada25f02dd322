"""The keys of one issuer, kept fresh beside the requests.

Rules of the file:

1. Nobody who asks for a key waits. Whoever asks for one that is not known is told so at once, and the set is read again
   beside it. The first token under a new key is refused when the issuer did not publish the key before it signed with it.
2. What is asked for makes the set be read again once per `COOL_DOWN_S` at most, whatever is asked for and however often.
3. A set that could not be read again stays, for `STALE_S`: an issuer may be away for a while. Then it is void; a key that
   the issuer took back does not live on because the issuer cannot be reached.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic

from herma.identity.jwks import KeySetError, VerificationKey, read_key_set

__all__ = ["COOL_DOWN_S", "REFRESH_S", "STALE_S", "KeySet"]

# Issuers keep a new key published for hours before they use it, and an old one for as long as its tokens last.
REFRESH_S = 600.0
# A flood of made-up key ids costs the issuer one request in this time.
COOL_DOWN_S = 30.0
STALE_S = 24 * 3600.0


class KeySet:
    """The keys as they were read last; `run` keeps them fresh. `fetch` brings the set, or raises `KeySetError`.

    `failure` tells why the last try failed, empty when it did not; `report` hears of each change of it.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[bytes]],
        *,
        clock: Callable[[], float] = monotonic,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._report = report
        self._keys: tuple[VerificationKey, ...] = ()
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._wanted = asyncio.Event()
        self.failure = "not read yet"

    def lookup(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        """Return the one key of that name that may verify that algorithm.

        A token without a key id gets the one key for its algorithm, if there is just one. None where there is none, or more
        than one; the set is then read again soon.
        """
        if self._read_at is None or self._clock() - self._read_at > STALE_S:
            self._keys = ()
        named = [key for key in self._keys if kid is None or key.kid == kid]
        found = [key for key in named if algorithm in key.algorithms]
        if len(found) == 1:
            return found[0]
        # A key of that name for another algorithm is known well enough.
        if not named:
            self._wanted.set()
        return None

    def due_in(self) -> float:
        """Return the seconds until the set is to be read again."""
        if self._tried_at is None:
            return 0.0
        pause = COOL_DOWN_S if self._wanted.is_set() or self.failure else REFRESH_S
        return max(0.0, self._tried_at + pause - self._clock())

    async def refresh(self) -> None:
        """Read the set again, now; one that cannot be read changes nothing."""
        self._wanted.clear()
        self._tried_at = self._clock()
        before = self.failure
        try:
            self._keys = read_key_set(await self._fetch())
        except KeySetError as error:
            self.failure = str(error)
        else:
            self._read_at, self.failure = self._clock(), ""
        if self.failure != before:
            self._report(self.failure)

    async def run(self) -> None:
        """Read the set, and again whenever that is due, until cancelled."""
        while True:
            while (wait_s := self.due_in()) > 0:
                if self._wanted.is_set():
                    await asyncio.sleep(wait_s)
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(wait_s):
                            await self._wanted.wait()
            await self.refresh()
