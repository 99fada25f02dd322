"""Event streams: each event leaves as soon as it is judged, and a stream that breaks is seen to be broken.

The redactor works out what may leave now and when it has to be asked again although nothing came. A stream that cannot
go on gets an error event in its own dialect and is then aborted, never ended: to most clients an end is a success. So does one
whose caller may not be here any more.
"""

import asyncio
import time
from collections.abc import Callable

from herma.ingress.event_ids import EventIds
from herma.ingress.holding import LOOK_EVERY_S
from herma.ingress.ownership import Owners
from herma.ingress.packing import packed_as
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.policy.decision import Mode
from herma.policy.exchange import Exchange
from herma.policy.message.html import withheld
from herma.policy.message.inflate import InflateError, Inflater
from herma.policy.shape.promise import Promises
from herma.policy.sse.parser import StreamRefused
from herma.policy.sse.redactor import SseRedactor, error_event
from herma.wire import ServerRequest, UpstreamError, UpstreamResponse

__all__ = ["EventRelay"]

_UNREADABLE = "The stream could not be inspected and was cut."


class _Lapsed(Exception):  # noqa: N818 - it names a state of the stream
    """The caller's credential holds no more."""


class EventRelay:
    """Relays one stream whose head was answered already."""

    def __init__(
        self,
        plane: Plane,
        generation: Generation,
        exchange: Exchange,
        request: ServerRequest,
        record: Record,
        owners: Owners,
        holds: Callable[[], bool],
    ) -> None:
        self._plane = plane
        self._holds = holds
        self._heard = time.monotonic()
        self._next_look = self._heard + LOOK_EVERY_S
        self._limits = generation.settings.limits
        self._idle_timeout_s = generation.upstream.idle_timeout_s
        self._key = generation.upstream_key
        self._match = exchange.match
        self._dialect = exchange.match.route.dialect
        self._request = request
        self._record = record
        self._ids = EventIds(owners)
        self._redactor = SseRedactor(generation.redactor, self._dialect)
        self._promises = Promises() if generation.profile.stateless else None
        self._monitored = generation.settings.redaction.mode is Mode.MONITOR

    async def run(self, response: UpstreamResponse) -> None:
        """Relay until the upstream ends, breaks, or the caller leaves."""
        try:
            # Asked not to pack, the upstream may have.
            packed = packed_as(response.head.headers)
            inflater = Inflater(packed, self._limits.max_response_bytes) if packed else None
            while (piece := await self._next(response)) is not None:
                await self._pass(inflater.feed(piece) if inflater else piece)
            if inflater:
                inflater.finish()
            await self._write(b"", self._redactor.finish(time.monotonic()))
        except UpstreamError as error:
            self._record.outcome = "upstream_gone"
            await self._break_off(f"herma.upstream.{error.kind}", "The agent server broke off in the middle.")
        except _Lapsed:
            self._record.outcome = "denied"
            await self._request.send(b'event: auth_expired\ndata: {"code":"herma.auth.expired"}\n\n')
            await self._break_off("herma.auth.expired", "The credential of this stream holds no more.")
        except StreamRefused as refused:
            self._record.outcome = "failed"
            await self._break_off(refused.code, _UNREADABLE)
        except InflateError:
            self._record.outcome = "failed"
            await self._break_off("herma.upstream.unjudged", _UNREADABLE)
        else:
            await self._request.finish()

    async def _next(self, response: UpstreamResponse) -> bytes | None:
        """Return what came, nothing if only time has passed, None at the clean end."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY_S
            if not self._holds():
                raise _Lapsed
        deadline = self._redactor.deadline()
        due = self._next_look if deadline is None else min(deadline, self._next_look)
        # Waiting begins anew with each look; the silence of the upstream does not.
        patience_s = self._idle_timeout_s - (now - self._heard)
        try:
            async with asyncio.timeout(max(0.0, due - now)):
                piece = await response.piece(max(0.0, patience_s))
        except TimeoutError:
            return b""
        self._heard = time.monotonic()
        return piece or None

    async def _pass(self, came: bytes) -> None:
        await self._ids.read(came)
        now = time.monotonic()
        await self._write(came, self._redactor.feed(came, now) if came else self._redactor.tick(now))

    async def _write(self, came: bytes, judged: bytes) -> None:
        """Send what may leave, after what it says was noted: nobody can act on an event before the gate knows it."""
        for run, choices in self._redactor.take_approvals():
            if self._speaks_of(run):
                await self._plane.store.offer(run, choices)
        findings = self._redactor.take_findings()
        self._record.redactions += len(findings)
        self._record.add(findings)
        saw = self._redactor.saw
        if saw.run_ended and self._speaks_of(saw.run_id):
            await self._plane.store.run_ended(saw.run_id)
        allowed = came if self._monitored else judged
        if allowed:
            self._record.bytes_out += len(allowed)
            await self._request.send(withheld(allowed, self._key))
        if self._promises is not None:
            self._promises.read(judged)
            # What is only watched leaves as it comes, and may have stopped in the middle of an event.
            between = self._redactor.at_boundary or not self._monitored
            if between and (note := self._promises.take()):
                self._record.bytes_out += len(note)
                await self._request.send(note)
        # The OpenAI SDKs hang up at `[DONE]`, before the last chunk; that is a success.
        self._record.complete = saw.completed and self._redactor.at_boundary

    def _speaks_of(self, run: str) -> bool:
        """Tell whether what this stream says of a run is to be believed.

        A stream of one run speaks of that run, one of a turn of what the turn started. A stream of a route that the profile
        does not know as one may be a file that a caller uploaded: it could end, or answer for, anybody's run.
        """
        if not run or self._dialect is None:
            return False
        param = self._match.route.run_param
        return not param or self._match.params.get(param) == run

    async def _break_off(self, code: str, message: str) -> None:
        self._record.code = code
        await self._request.send(error_event(self._dialect, code, message))
        self._request.abort()
