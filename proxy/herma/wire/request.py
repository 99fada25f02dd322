"""One request as its handler sees it, and the answer the handler gives."""

from enum import Enum, auto
from typing import TYPE_CHECKING

from herma.wire.failures import BodyTooLarge, Disconnected
from herma.wire.framing import RequestFrame
from herma.wire.messages import Fields, Peer, RequestHead
from herma.wire.request_body import RequestBody
from herma.wire.tunnel import Tunnel
from herma.wire.writing import response_head

if TYPE_CHECKING:
    from herma.wire.connection import ServerConnection

__all__ = ["ServerRequest"]

_BODILESS = frozenset({204, 304})
# Above it a copy costs more than a second system call. (`writelines` is no way out: on asyncio 3.12 it never pauses.)
_JOIN_BYTES = 256 * 1024


class _Answer(Enum):
    NONE = auto()
    LENGTH = auto()
    CHUNKS = auto()
    UNTIL_CLOSE = auto()
    BODILESS = auto()
    DONE = auto()


class ServerRequest:
    """A request and its one answer.

    Either `respond`, or `start`, `send`… and `finish`, or `switch`. The task of the handler is cancelled as soon as the
    client is gone; half a close counts as gone, because a client that will not read its answer looks the same.
    """

    __slots__ = (
        "_answer",
        "_body",
        "_by_close",
        "_connection",
        "_frame",
        "_head_only",
        "_left",
        "aborted",
        "body_expected",
        "content_length",
        "head",
        "keep_alive",
        "peer",
        "upgrade",
    )

    def __init__(
        self,
        connection: "ServerConnection",
        head: RequestHead,
        frame: RequestFrame,
        body: RequestBody,
        peer: Peer,
    ) -> None:
        self.head = head
        self.peer = peer
        self.upgrade = frame.upgrade
        self.content_length = frame.length
        self.body_expected = frame.length != 0
        # Whether the connection outlives the answer; settled when the answer's head is written.
        self.keep_alive = False
        self.aborted = False
        self._connection = connection
        self._frame = frame
        self._body = body
        self._answer = _Answer.NONE
        self._head_only = head.method == b"HEAD"
        self._by_close = False
        self._left = 0

    @property
    def started(self) -> bool:
        """Whether the head of an answer was written: from then on only `abort` can tell of a failure."""
        return self._answer is not _Answer.NONE

    @property
    def until_close(self) -> bool:
        """Whether closing is what ends the answer."""
        return self._by_close

    @property
    def finished(self) -> bool:
        """Whether the answer is complete."""
        return self._answer is _Answer.DONE

    async def read_body(self, limit: int) -> bytes:
        """Read the whole body; a client that waits for `100 Continue` gets it now.

        Raises:
            BodyTooLarge: it is longer than `limit` bytes, or says so.
            BodyTimeout: it did not come in time.
            BodyMalformed: its chunks are broken.
            Disconnected: the client is gone.
        """
        length = self._frame.length
        if length is not None and length > limit:
            raise BodyTooLarge("the request body is too large")
        body = self._body
        body.begin(limit)
        if body.done or body.failed:
            return await body.whole()
        self._connection.want_body(say_continue=self._frame.expects_continue and not body.received)
        try:
            return await body.whole()
        finally:
            self._connection.have_body()

    async def respond(self, status: int, headers: Fields, body: bytes, *, close: bool = False) -> None:
        """Answer in one write. With `close`, or if the request body was not read, the connection closes after it.

        Raises:
            Disconnected: the client is gone.
            SlowReader: the client does not read.
        """
        self._begin(close=close or self.upgrade)
        if status in _BODILESS:
            framing, body = b"", b""
        else:
            framing = b"content-length: %d\r\n" % len(body)
            if self._head_only:
                body = b""
        head = response_head(status, b"", headers, framing + self._persistence())
        self._answer = _Answer.DONE
        outlet = self._connection.outlet
        if len(body) > _JOIN_BYTES:
            outlet.write(head)
            outlet.write(body)
        else:
            outlet.write(head + body)
        if outlet.paused:
            await outlet.drained()

    async def start(
        self, status: int, headers: Fields, *, length: int | None = None, reason: bytes = b""
    ) -> None:
        """Write the head of an answer whose body follows in pieces; without `length` in chunks (or until the close, 1.0).

        Raises:
            Disconnected: the client is gone.
        """
        old = self.head.version != "1.1"
        bodiless = self._head_only or status in _BODILESS
        self._by_close = by_close = length is None and old and not bodiless
        self._begin(close=self.upgrade or by_close)
        if status in _BODILESS or (length is None and bodiless and old):
            framing, answer = b"", _Answer.BODILESS
        elif length is not None:
            framing, answer = b"content-length: %d\r\n" % length, _Answer.LENGTH
            self._left = length
        elif by_close:
            framing, answer = b"", _Answer.UNTIL_CLOSE
        else:
            framing, answer = b"transfer-encoding: chunked\r\n", _Answer.CHUNKS
        head = response_head(status, reason, headers, framing + self._persistence())
        self._answer = _Answer.BODILESS if self._head_only else answer
        self._connection.outlet.write(head)

    async def send(self, data: bytes) -> None:
        """Write a piece of the body and wait until the client keeps up. Empty pieces are skipped.

        Raises:
            Disconnected: the client is gone.
            SlowReader: the client does not read.
            ValueError: it is more than `start` announced.
        """
        outlet = self._connection.outlet
        if not data:
            return
        match self._answer:
            case _Answer.CHUNKS:
                outlet.write(b"%x\r\n%b\r\n" % (len(data), data))
            case _Answer.LENGTH:
                if len(data) > self._left:
                    raise ValueError("more body than was announced")
                self._left -= len(data)
                outlet.write(data)
            case _Answer.UNTIL_CLOSE:
                outlet.write(data)
            case _Answer.BODILESS:
                return
            case _:
                raise RuntimeError("no answer is open")
        if outlet.paused:
            await outlet.drained()

    async def finish(self) -> None:
        """End the body cleanly.

        Raises:
            Disconnected: the client is gone.
            SlowReader: the client does not read.
            ValueError: it is less than `start` announced; the handler's failure then aborts the connection.
        """
        match self._answer:
            case _Answer.CHUNKS:
                self._connection.outlet.write(b"0\r\n\r\n")
            case _Answer.LENGTH if self._left:
                raise ValueError("less body than was announced")
            case _Answer.NONE | _Answer.DONE:
                raise RuntimeError("no answer is open")
            case _:
                pass
        self._answer = _Answer.DONE
        await self._connection.outlet.drained()

    def abort(self) -> None:
        """End the connection with RST: no client takes that for the end of an answer."""
        self.aborted = True
        self._connection.reset(last_words=self.started)

    def switch(self, headers: Fields, reason: bytes = b"") -> Tunnel:
        """Answer 101 to a request whose `upgrade` is true; what follows are raw bytes both ways.

        Raises:
            Disconnected: the client is gone.
        """
        if not self.upgrade or self.started:
            raise RuntimeError("there is no upgrade to answer")
        self._answer = _Answer.DONE
        head = response_head(101, reason, headers, b"connection: Upgrade\r\nupgrade: websocket\r\n")
        return self._connection.switch(head)

    def answered(self) -> None:
        """The connection itself has given the answer."""
        self._answer = _Answer.DONE

    def _begin(self, *, close: bool) -> None:
        if self._answer is not _Answer.NONE:
            raise RuntimeError("the request was answered before")
        if self._connection.outlet.gone:
            raise Disconnected("the client is gone")
        self.keep_alive = self._frame.keep_alive and not close and self._connection.may_continue()

    def _persistence(self) -> bytes:
        if not self.keep_alive:
            return b"connection: close\r\n"
        return b"" if self.head.version == "1.1" else b"connection: keep-alive\r\n"
