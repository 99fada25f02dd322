"""The body of a request: held back until somebody asks for it, bounded while it comes."""

import asyncio

from herma.wire.chunked import ChunkDecoder
from herma.wire.failures import BodyMalformed, BodyTimeout, BodyTooLarge, FramingError, RequestFailure
from herma.wire.framing import FixedDecoder

__all__ = ["RequestBody"]

# Before anybody reads, no more than one good read of a socket is buffered; then the socket is left to fill.
WATERMARK_BYTES = 64 * 1024
# A body that keeps coming at this rate is never too late: 10 MiB may take 20 minutes, one byte a second may not.
MIN_RATE_BYTES_S = 8 * 1024
# Pieces of a body that are kept as they came. A client may send two bytes a packet.
LOOSE_PARTS = 256


class RequestBody:
    """Collects a body. The connection feeds it; the handler reads it, once."""

    __slots__ = (
        "_decoder",
        "_discarding",
        "_empty",
        "_failure",
        "_joined",
        "_limit",
        "_loop",
        "_parts",
        "_received",
        "_started",
        "_waiter",
    )

    def __init__(self, decoder: FixedDecoder | ChunkDecoder, loop: asyncio.AbstractEventLoop) -> None:
        self._decoder = decoder
        self._empty = decoder.done
        self._loop = loop
        self._parts: list[bytes] = []
        self._joined = 0
        self._received = 0
        self._limit: int | None = None
        self._failure: RequestFailure | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._started = 0.0
        self._discarding = False

    @property
    def done(self) -> bool:
        """Whether the whole message has arrived."""
        return self._decoder.done

    @property
    def spent(self) -> bool:
        """Whether nothing of it is left to deal with: there was none, or a reader has had all of it.

        Having arrived is not enough: whether a connection goes on must not depend on how fast the body came.
        """
        return self._decoder.done and self._failure is None and (self._limit is not None or self._empty)

    @property
    def failed(self) -> bool:
        """Whether it can never become whole."""
        return self._failure is not None

    @property
    def full(self) -> bool:
        """Whether enough is buffered while nobody reads."""
        return self._limit is None and not self._discarding and self._received >= WATERMARK_BYTES

    @property
    def unwanted(self) -> bool:
        """Whether what still comes is thrown away."""
        return self._discarding or self._failure is not None

    @property
    def waited_for(self) -> bool:
        """Whether a reader waits."""
        return self._waiter is not None

    @property
    def received(self) -> int:
        """Body bytes so far."""
        return self._received

    def feed(self, data: bytes) -> bytes:
        """Take what the network brought and return what follows the message; a failure is kept for the reader."""
        if self._failure is not None:
            return b""
        try:
            self._received += self._decoder.feed(data, self._parts)
            if len(self._parts) - self._joined >= LOOSE_PARTS:
                # An object of a few bytes costs ten times as much; what was joined once is not joined again.
                self._parts[self._joined :] = [b"".join(self._parts[self._joined :])]
                self._joined += 1
        except FramingError as error:
            self.fail(BodyMalformed(str(error)))
            return b""
        if self._limit is not None and self._received > self._limit:
            self.fail(BodyTooLarge("the request body is too large"))
        elif self._discarding:
            self._drop()
        if not self._decoder.done:
            return b""
        self._wake()
        return self._decoder.rest

    def fail(self, failure: RequestFailure) -> None:
        """Let the reader, now or later, know that the body will not come."""
        self._failure = self._failure or failure
        self._drop()
        self._wake()

    def discard(self) -> None:
        """Keep nothing of what comes: the answer does not depend on it."""
        self._discarding = True
        self._drop()

    def overdue_in(self, timeout_s: float) -> float:
        """Return the seconds until the body is too late, given what has arrived so far."""
        return self._started + timeout_s + self._received / MIN_RATE_BYTES_S - self._loop.time()

    def expire(self) -> None:
        """The body is too late."""
        self.fail(BodyTimeout("the request body did not arrive in time"))

    def begin(self, limit: int) -> None:
        """Set the bound of what follows.

        Raises:
            BodyTooLarge: what has arrived is already beyond it.
        """
        self._limit = limit
        self._started = self._loop.time()
        if self._received > limit:
            self.fail(BodyTooLarge("the request body is too large"))

    async def whole(self) -> bytes:
        """Wait for the end of the body and return it.

        Raises:
            RequestFailure: it does not come.
        """
        while self._failure is None and not self._decoder.done:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._failure is not None:
            raise self._failure
        parts = self._parts
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _drop(self) -> None:
        self._parts.clear()
        self._joined = 0

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
