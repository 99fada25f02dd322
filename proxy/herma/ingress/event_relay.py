"""Event streams: each event leaves as soon as it is judged, and a stream that breaks is seen to be broken.

The redactor works out what may leave now and when it has to be asked again although nothing came. A stream that cannot
go on gets an error event in its own dialect and is then aborted, never ended: to most clients an end is a success.
"""

import asyncio
import time

from herma.ingress.answer import Answer
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.policy.decision import Mode
from herma.policy.exchange import Exchange
from herma.policy.forwarding import downstream_headers
from herma.policy.sse_redaction import SseRedactor, StreamRefused, error_event
from herma.wire import ServerRequest, UpstreamError, UpstreamResponse

__all__ = ["relay_events"]


async def relay_events(
    plane: Plane,
    generation: Generation,
    exchange: Exchange,
    request: ServerRequest,
    response: UpstreamResponse,
    answer: Answer,
    record: Record,
) -> None:
    """Relay until the upstream ends, breaks, or the caller leaves."""
    stream = _Stream(plane, generation, exchange, request, record)
    headers = downstream_headers(response.head.status, response.head.headers, stream=True)
    await answer.start(response.head.status, headers, length=None)
    await stream.run(response, generation.settings.upstream.idle_timeout_s)


class _Stream:
    def __init__(
        self, plane: Plane, generation: Generation, exchange: Exchange, request: ServerRequest, record: Record
    ) -> None:
        self._plane = plane
        self._exchange = exchange
        self._request = request
        self._record = record
        self._redactor = SseRedactor(generation.redactor, exchange.match.route.dialect)
        self._monitored = generation.settings.redaction.mode is Mode.MONITOR

    async def run(self, response: UpstreamResponse, idle_timeout_s: float) -> None:
        try:
            while (allowed := await self._next(response, idle_timeout_s)) is not None:
                await self._write(allowed)
            await self._write(self._choose(b"", self._redactor.finish(time.monotonic())))
        except UpstreamError as error:
            self._record.outcome = "upstream_gone"
            await self._break_off(f"herma.upstream.{error.kind}", "The agent server broke off in the middle.")
        except StreamRefused as refused:
            self._record.outcome = "failed"
            await self._break_off(refused.code, "The stream could not be inspected and was cut.")
        else:
            await self._request.finish()

    async def _next(self, response: UpstreamResponse, idle_timeout_s: float) -> bytes | None:
        """Return what may leave next, None at the clean end."""
        deadline = self._redactor.deadline()
        if deadline is None:
            piece = await response.piece(idle_timeout_s)
        else:
            try:
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    piece = await response.piece(idle_timeout_s)
            except TimeoutError:
                return self._choose(b"", self._redactor.tick(time.monotonic()))
        return self._choose(piece, self._redactor.feed(piece, time.monotonic())) if piece else None

    def _choose(self, came: bytes, allowed: bytes) -> bytes:
        return came if self._monitored else allowed

    async def _write(self, allowed: bytes) -> None:
        for run, choices in self._redactor.take_approvals():
            await self._plane.store.offer(run, choices)
        findings = self._redactor.take_findings()
        if findings:
            self._record.redactions += len(findings)
            self._record.add(findings)
        if allowed:
            self._record.bytes_out += len(allowed)
            await self._request.send(allowed)
        if self._redactor.run_ended and self._redactor.run_id:
            await self._plane.store.run_ended(self._redactor.run_id)

    async def _break_off(self, code: str, message: str) -> None:
        self._record.code = code
        event = error_event(self._exchange.match.route.dialect, code, message)
        await self._request.send(event)
        self._request.abort()
