"""The entrance: takes a request off the wire, lets a passage handle it, and writes the audit line whatever happens."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from herma.ingress.answer import Answer
from herma.ingress.passage import Passage
from herma.ingress.plane import Planes
from herma.ingress.record import Record
from herma.policy.decision import Deny
from herma.policy.limits.lifecycle import Stage
from herma.policy.routing.envelope import Envelope, render
from herma.wire import Disconnected, ServerRequest

__all__ = ["handler", "wire_error"]

_INTERNAL = Deny(500, "herma.internal", "The gate failed and refused the request.", close=True)


def handler(planes: Planes, listener: int) -> Callable[[ServerRequest], Awaitable[None]]:
    """Return the handler of one listener, by its place in the configuration."""
    # What is counted and written belongs to the gate, whichever upstream a request is for.
    plane = planes.default

    async def handle(request: ServerRequest) -> None:
        record = Record(next(plane.ids), time.monotonic(), request.peer.address)
        answer = Answer(request, record)
        passage = Passage(planes, listener, request, record, answer)
        plane.active[record.exchange] = record
        try:
            await passage.run()
        except asyncio.CancelledError:
            record.outcome = "aborted" if plane.lifecycle.stage is Stage.STOPPED else _left(record)
            raise
        except Disconnected:
            record.outcome = _left(record)
        except Exception as error:  # noqa: BLE001 - one of the three places: an error in the gate denies
            plane.meter.count("internal_errors")
            if request.started:
                # A head is out: only a broken stream can say that this is not the whole answer.
                request.abort()
            else:
                with suppress(Disconnected):
                    await answer.deny(_INTERNAL)
            # After the answer, whose own code tells the caller nothing: the operator has to find the error.
            record.outcome = "failed"
            record.code = f"herma.internal.{type(error).__name__}"
        finally:
            plane.active.pop(record.exchange, None)
            finished = time.monotonic()
            plane.audit.write(record, finished)
            plane.meter.exchange(record, finished)

    return handle


def _left(record: Record) -> str:
    return "answered" if record.complete else "client_gone"


def wire_error(status: int, code: str, message: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Render what the wire refuses before there is a request to speak of."""
    return render(Deny(status, code, message, close=True), Envelope.OPENAI)
