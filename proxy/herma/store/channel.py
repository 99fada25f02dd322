"""A worker's end of the connection to the coordinator: numbered calls with bounded waits, and notices.

After the connection is lost every call raises at once, for good: the coordinator has given this worker's slots back, so
the worker must be replaced and not reconnected.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from herma.errors import StoreError
from herma.store.messages import Answer, Call, Decoder, Message, MessageError, Notice, encode

__all__ = ["CALL_WAIT_S", "Channel"]

# An answer takes well under a millisecond. After a second the coordinator hangs, and a client should hear so rather than wait.
CALL_WAIT_S = 1.0

# Calls without an answer, those nobody waits for any more included. A worker has some thousand connections, each with one
# call at a time; a coordinator that leaves more than this unanswered is lost.
_MAX_OUTSTANDING = 4096

# Bytes that may wait for the coordinator to read them before a notice is kept back.
_MAX_UNSENT_BYTES = 1024 * 1024


@dataclass(slots=True)
class _Outstanding:
    """A call without an answer; `undo` is told the answer when nobody is there any more to take it."""

    future: asyncio.Future[Any] | None = None
    undo: Callable[[Any], None] | None = None


class Channel(asyncio.Protocol):
    """The connection; `on_notice` is told what the coordinator says, `on_lost` once that it is gone. Neither may raise."""

    def __init__(
        self,
        on_notice: Callable[[Notice], None],
        on_lost: Callable[[], None],
        *,
        wait_s: float = CALL_WAIT_S,
        max_outstanding: int = _MAX_OUTSTANDING,
    ) -> None:
        self._on_notice = on_notice
        self._on_lost = on_lost
        self._wait_s = wait_s
        self._max_outstanding = max_outstanding
        self._decoder = Decoder()
        self._outstanding: dict[int, _Outstanding] = {}
        self._numbers = 0
        self._transport: asyncio.Transport | None = None

    async def call(self, operation: str, *arguments: Any, undo: Callable[[Any], None] | None = None) -> Any:
        """Have the coordinator do something, and return its answer.

        The call is on its way when this first suspends. If the caller is cancelled or the wait is over, an answer that
        comes anyway goes to `undo`.

        Raises:
            StoreError: The connection is lost, the answer does not come in time, or the call does not fit a message.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._send(operation, arguments, _Outstanding(future, undo))
        try:
            async with asyncio.timeout(self._wait_s):
                return await future
        except (TimeoutError, asyncio.CancelledError) as error:
            # The answer may have come in the same moment; then nobody else will take it.
            if undo is not None and future.done() and not future.cancelled() and future.exception() is None:
                undo(future.result())
            if isinstance(error, TimeoutError):
                raise StoreError("the coordinator did not answer in time") from error
            raise

    def tell(self, operation: str, *arguments: Any) -> None:
        """Have the coordinator do something without waiting for it; on a lost connection there is nobody to do it."""
        if self._transport is not None:
            self._send(operation, arguments, _Outstanding())

    def notify(self, topic: str, payload: Any = None) -> bool:
        """Tell the coordinator something; return False when it cannot be sent now, so that it can be told later.

        Raises:
            MessageError: It does not fit into one message.
        """
        data = encode(Notice(topic, payload))
        if self._transport is None or self._transport.get_write_buffer_size() > _MAX_UNSENT_BYTES:
            return False
        self._transport.write(data)
        return True

    def close(self) -> None:
        """Leave; the coordinator gives this worker's slots back."""
        if self._transport is not None:
            self._transport.abort()
            self._lose()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # uvloop's stream transports keep the contract without being of the class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take answers and notices; what is malformed ends the connection."""
        try:
            for message in self._decoder.feed(data):
                self._received(message)
        except MessageError:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - however it was lost, it is lost
        """Fail whoever waits, and whoever comes."""
        self._lose()

    def _send(self, operation: str, arguments: tuple[Any, ...], outstanding: _Outstanding) -> None:
        if self._transport is None:
            raise StoreError("the connection to the coordinator is lost")
        try:
            data = encode(Call(self._numbers, operation, list(arguments)))
        except MessageError as error:
            raise StoreError("a call to the coordinator does not fit a message") from error
        if len(self._outstanding) >= self._max_outstanding:
            # Not only this call is refused: a slot whose release could not be sent would be held for ever, while the end
            # of the connection gives all of them back.
            self.close()
            raise StoreError("the coordinator has stopped answering")
        self._outstanding[self._numbers] = outstanding
        self._numbers += 1
        self._transport.write(data)

    def _received(self, message: Message) -> None:
        match message:
            case Notice():
                self._on_notice(message)
            case Answer(number, value) if (call := self._outstanding.pop(number, None)) is not None:
                if call.future is not None and not call.future.done():
                    call.future.set_result(value)
                elif call.undo is not None:
                    call.undo(value)
            case _:
                raise MessageError("the coordinator sent what nobody asked for")

    def _lose(self) -> None:
        if self._transport is None:
            return
        self._transport = None
        outstanding, self._outstanding = self._outstanding, {}
        for call in outstanding.values():
            if call.future is not None and not call.future.done():
                call.future.set_exception(StoreError("the connection to the coordinator is lost"))
        self._on_lost()
