"""The upstream's answer as the caller sees it."""

from collections.abc import AsyncIterator

from herma.wire.failures import UpstreamError, UpstreamFailure
from herma.wire.messages import ResponseHead
from herma.wire.tunnel import Tunnel
from herma.wire.upstream_connection import UpstreamConnection

__all__ = ["UpstreamResponse"]

# For `read` when the caller has no deadline of its own in mind.
IDLE_TIMEOUT_S = 60.0


class UpstreamResponse:
    """An answer whose head has arrived; valid inside the `async with` that gave it."""

    __slots__ = ("_connection", "head", "upgrade")

    def __init__(self, connection: UpstreamConnection, head: ResponseHead) -> None:
        self._connection = connection
        self.head = head
        # The raw bytes both ways, if the answer is the 101 that was asked for.
        self.upgrade: Tunnel | None = connection.tunnel

    @property
    def complete(self) -> bool:
        """Whether the whole answer has arrived."""
        return self._connection.complete

    async def piece(self, idle_timeout_s: float) -> bytes:
        """Return what has arrived of the body, waiting if it is nothing yet; empty at the end.

        A caller that is cancelled while it waits loses nothing: the next call goes on where this one was.

        Raises:
            UpstreamError: it breaks off, or nothing came for `idle_timeout_s`.
        """
        return await self._connection.piece(idle_timeout_s)

    async def chunks(self, idle_timeout_s: float) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, one piece for each read of the socket.

        Raises:
            UpstreamError: it breaks off, or nothing came for `idle_timeout_s`. What was yielded is then no whole body.
        """
        piece = self._connection.piece
        while data := await piece(idle_timeout_s):
            yield data

    async def read(self, limit: int, idle_timeout_s: float = IDLE_TIMEOUT_S) -> bytes:
        """Return the whole body.

        Raises:
            UpstreamError: it breaks off, comes too slowly, or is longer than `limit`.
        """
        parts: list[bytes] = []
        size = 0
        while data := await self._connection.piece(idle_timeout_s):
            size += len(data)
            if size > limit:
                raise UpstreamError(
                    UpstreamFailure.TOO_LARGE, "the upstream's answer is too large", sent=True
                )
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)
