"""The key that the gate shows an upstream: the one that is configured, or the one that stands in the upstream's own page.

A dashboard on loopback makes a new token at each start and writes it into its page, for whoever reaches the page. The gate reads
it there, when it needs one and when the one it has is refused. Rules of the file:

1. Only a request that needs a key waits, and no longer than one reading takes; a request whose key is taken waits for nothing.
2. After a reading there is a pause, whatever it brought: refusals that a new key does not help against cost the upstream nothing.
3. A refused request is sent again only if another key was found: the upstream refuses before it acts.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from herma.policy.message.html import PageKey, key_in
from herma.policy.secret import Secret
from herma.wire import Pool, UpstreamError, UpstreamResponse

__all__ = ["UpstreamKey", "authorized"]

# A page of 3 KiB from the same machine; a person waits for it once.
TIMEOUT_S = 5.0
MAX_PAGE_BYTES = 1024 * 1024
PAUSE_S = 5.0
# An upstream that is just starting has its page in a moment.
UNREAD_PAUSE_S = 0.5
# RFC 9110 section 15.5.2: the key is missing or wrong.
_REFUSED = frozenset({401})


class UpstreamKey:
    """The key of one upstream; `value` is the one that is in use, None before there is one."""

    def __init__(
        self, fixed: Secret | None, *, page: PageKey | None = None, pool: Pool, authority: bytes
    ) -> None:
        """Take the configured key; with `page`, read it there instead."""
        self.value = fixed
        self._page = page
        self._pool = pool
        self._authority = authority
        self._one = asyncio.Lock()
        self._not_before = float("-inf")

    async def ready(self) -> Secret | None:
        """Return the key, after reading it where there is none yet; None when there is none to be had."""
        if self.value is None:
            await self.renewed(None)
        return self.value

    async def renewed(self, used: Secret | None) -> bool:
        """Look for another key than the one that was used and refused; tell whether there is one now."""
        if self._page is None:
            return False
        async with self._one:
            if self._differs(used):
                return True
            now = asyncio.get_running_loop().time()
            if now < self._not_before:
                return False
            found = await self._read(self._page)
            pause_s = UNREAD_PAUSE_S if found is None else PAUSE_S
            self._not_before = asyncio.get_running_loop().time() + pause_s
            if found is not None:
                self.value = found
            return self._differs(used)

    def _differs(self, used: Secret | None) -> bool:
        return self.value is not None and (used is None or not self.value.matches(used.reveal()))

    async def _read(self, page: PageKey) -> Secret | None:
        headers = [(b"host", self._authority), (b"accept", b"text/html"), (b"accept-encoding", b"identity")]
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                self._pool.request(
                    b"GET", page.path.encode("ascii"), headers, b"", idempotent=True, head_timeout_s=TIMEOUT_S
                ) as response,
            ):
                body = await response.read(MAX_PAGE_BYTES)
                return key_in(body, page.name) if response.head.status == 200 else None
        except (UpstreamError, TimeoutError):
            return None


@asynccontextmanager
async def authorized(
    key: UpstreamKey,
    send: Callable[[Secret | None], AbstractAsyncContextManager[UpstreamResponse]],
    refused: Collection[int] = _REFUSED,
) -> AsyncIterator[UpstreamResponse]:
    """Send a request with the key, and once more with another if the upstream refuses this one and has another by now.

    Raises:
        UpstreamError: as `send` does.
    """
    used = await key.ready()
    async with send(used) as response:
        if response.head.status not in refused or not await key.renewed(used):
            yield response
            return
    async with send(key.value) as response:
        yield response
