"""How an agent server is told to start a job: by its own route for that, or with the token that the caller sent.

A start is told at most once: what may have reached the agent server is never sent again. What surely did not, because there was no
connection or because the agent server says so, is tried again a few times: an agent server that is restarted at the full hour misses none of its jobs.
"""

import asyncio
import json
import time
from contextlib import AbstractAsyncContextManager
from typing import Final

from herma.config.cron_fire import Deliver
from herma.ingress.admission import Slot
from herma.ingress.answer import Answer
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, upstream_failed
from herma.ingress.upstream_key import authorized
from herma.policy.decision import Deny
from herma.policy.fire.request import Fire, run_path
from herma.policy.message.canonical import Head
from herma.policy.message.forwarding import downstream_headers
from herma.policy.routing.profile import Match
from herma.policy.secret import Secret
from herma.wire import UpstreamError, UpstreamResponse

__all__ = ["FireDelivery"]

# A restart of an agent takes one to four seconds.
RETRY_AFTER_S: Final = (1.0, 2.0, 4.0, 8.0)
# It notes when the job is due, and answers.
TIMEOUT_S: Final = 30.0
MAX_ANSWER_BYTES: Final = 64 * 1024
# An agent server that says so did not start the job.
_BUSY: Final = frozenset({429, 503})

_OPERATION: Final = "cron.run"
_STARTED: Final = "started"


class FireDelivery:
    """Tells one start to the agent server, and answers it."""

    def __init__(self, plane: Plane, generation: Generation, record: Record, answer: Answer) -> None:
        self._plane = plane
        self._generation = generation
        self._record = record
        self._answer = answer

    async def deliver(self, head: Head, match: Match, fire: Fire, body: bytes, slot: Slot) -> None:
        """Have the job started, and answer with 202.

        Raises:
            Refusal: the agent server was handed the token and did not take it.
        """
        configured = self._generation.upstream.cron_fire
        if configured is not None and configured.deliver is Deliver.FORWARD:
            await self._forward(head, body)
        else:
            prefix = next(iter(self._generation.profile.prefixes), "")
            path = run_path(match.route.fires, fire.job_id, match.profile_prefix, prefix)
            self._plane.start(self._run(path.encode("ascii"), match.route.fires, slot.lend()))
        accepted = json.dumps({"status": "accepted", "job_id": fire.job_id}).encode("ascii")
        headers = downstream_headers(202, ((b"content-type", b"application/json"),), stream=False)
        await self._answer.whole(202, headers, accepted)

    async def _forward(self, head: Head, body: bytes) -> None:
        given = head.get(b"authorization") or b""
        headers = [*_headers(self._generation), (b"authorization", given)]
        try:
            async with _send(self._generation, head.target.raw, headers, body) as response:
                status = response.head.status
                await response.read(MAX_ANSWER_BYTES)
        except UpstreamError as error:
            raise Refusal(upstream_failed(error.kind, safe=False)) from None
        if 200 <= status < 300:
            return
        self._plane.meter.count("fires", "not_taken")
        if status in _BUSY:
            raise Refusal(
                Deny(503, "herma.fire.busy", "The agent server starts no jobs now.", retry_after_s=60)
            )
        raise Refusal(
            Deny(502, "herma.fire.not_taken", "The agent server did not take the start of the job.")
        )

    async def _run(self, path: bytes, template: str, slot: Slot) -> None:
        """Tell the agent server, and write a line of its own about that: nobody waits for the answer."""
        own = Record(self._record.exchange, time.monotonic(), self._record.address, self._record.principal)
        own.upstream, own.job = self._record.upstream, self._record.job
        own.method, own.route, own.operation = "POST", template, _OPERATION
        async with slot:
            outcome = await self._told(path, own)
        if outcome != _STARTED:
            own.outcome, own.code = "failed", f"herma.fire.{outcome}"
        self._plane.meter.count("fires", outcome)
        self._plane.audit.write(own, time.monotonic())

    async def _told(self, path: bytes, record: Record) -> str:
        """Tell the agent server to run the job; return what became of it."""
        for wait_s in (*RETRY_AFTER_S, None):
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    record.status = await self._ask(path)
            except TimeoutError:
                return "unknown"
            except UpstreamError as error:
                if error.sent:
                    return "unknown"
                record.status = 0
            if record.status and record.status not in _BUSY:
                return _STARTED if 200 <= record.status < 300 else "not_taken"
            if wait_s is not None:
                await asyncio.sleep(wait_s)
        return "not_taken" if record.status else "unreachable"

    async def _ask(self, path: bytes) -> int:
        # The one of the moment: a reload may have changed the agent server's address or key since the last try.
        generation = self._plane.generation

        def send(key: Secret | None) -> AbstractAsyncContextManager[UpstreamResponse]:
            headers = _headers(generation)
            if key is not None:
                headers.append((b"authorization", b"Bearer " + key.reveal()))
            return _send(generation, path, headers, b"{}")

        async with authorized(generation.key, send) as response:
            await response.read(MAX_ANSWER_BYTES)
            return response.head.status


def _headers(generation: Generation) -> list[tuple[bytes, bytes]]:
    return [
        (b"host", generation.authority),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json"),
        (b"accept-encoding", b"identity"),
    ]


def _send(
    generation: Generation, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes
) -> AbstractAsyncContextManager[UpstreamResponse]:
    return generation.pool.request(b"POST", target, headers, body, idempotent=False, head_timeout_s=TIMEOUT_S)
