"""A closed-loop load generator: as many connections as asked, each sending its next request when the last was answered."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import httptools

__all__ = ["Result", "drive", "hold_open", "run_streams"]

CONNECT_TIMEOUT_S = 10.0
ROUND_SLACK_S = 30.0


@dataclass(slots=True)
class Result:
    """What a round brought."""

    seconds: float = 0.0
    answers: int = 0
    errors: int = 0
    received: int = 0
    events: int = 0
    latencies: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """A latency in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class _Caller(asyncio.Protocol):
    def __init__(self, message: bytes, deadline: float, result: Result, once: bool) -> None:
        self._message, self._deadline, self._result, self._once = message, deadline, result, once
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._asked = time.perf_counter()
        self._transport.write(self._message)

    def data_received(self, data: bytes) -> None:
        self._result.received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail()

    def on_body(self, body: bytes) -> None:
        if self._once:
            self._result.events += body.count(b"\n\n")

    def on_message_complete(self) -> None:
        now = time.perf_counter()
        if self._parser.get_status_code() == 200:
            self._result.answers += 1
            self._result.latencies.append(now - self._asked)
        else:
            self._result.errors += 1
        if self._once or now >= self._deadline:
            self._finish()
        else:
            asyncio.get_running_loop().call_soon(self._ask)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self._result.errors += 1
            self.done.set_result(None)

    def _fail(self) -> None:
        self._result.errors += 1
        self._finish()

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)
        self._transport.close()


async def drive(port: int, message: bytes, connections: int, seconds: float, *, once: bool = False) -> Result:
    """Send this message over that many connections for so long (or once each)."""
    loop = asyncio.get_running_loop()
    result = Result()
    begun = time.perf_counter()
    callers = []
    for _ in range(connections):
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, caller = await loop.create_connection(
                lambda: _Caller(message, begun + seconds, result, once), "127.0.0.1", port
            )
        callers.append(caller)
    try:
        async with asyncio.timeout(seconds + ROUND_SLACK_S):
            await asyncio.gather(*(caller.done for caller in callers))
    except TimeoutError:
        result.errors += sum(not caller.done.done() for caller in callers)
        for caller in callers:
            caller._transport.abort()
    result.seconds = time.perf_counter() - begun
    return result


async def run_streams(port: int, message: bytes, streams: int) -> Result:
    """Read that many event streams at once to their ends."""
    return await drive(port, message, streams, 60.0, once=True)


class _Idle(asyncio.Protocol):
    def __init__(self, message: bytes) -> None:
        self._message = message
        self.first = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._message)

    def data_received(self, data: bytes) -> None:
        if b"data:" in data and not self.first.done():
            self.first.set_result(True)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.first.done():
            self.first.set_result(False)


async def hold_open(port: int, message: bytes, count: int) -> tuple[int, list[Any]]:
    """Open that many streams and keep them; return how many stand, and their transports."""
    loop = asyncio.get_running_loop()
    streams = []
    for _ in range(count):
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _, stream = await loop.create_connection(lambda: _Idle(message), "127.0.0.1", port)
        except (OSError, TimeoutError):
            break
        streams.append(stream)
    try:
        async with asyncio.timeout(ROUND_SLACK_S):
            await asyncio.gather(*(stream.first for stream in streams))
    except TimeoutError:
        pass
    opened = sum(
        stream.first.done() and not stream.first.cancelled() and stream.first.result() for stream in streams
    )
    return opened, [stream.transport for stream in streams]
