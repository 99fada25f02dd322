"""The runs API: start, poll, follow, approve, stop."""

import asyncio

from aiohttp import web

from herma.drill.echo.answers import EventStream, body_of, ok, openai_error
from herma.drill.echo.readout import MODEL
from herma.drill.echo.run import CHOICES, Run
from herma.drill.echo.state import STATE, keep
from herma.drill.echo.turn import message_text, turn_of

__all__ = ["approve", "events", "read", "start", "stop"]

# A comment is sent when a stream was silent for this long, as upstream does: it keeps idle timers from firing.
KEEPALIVE_S = 30.0


async def start(request: web.Request) -> web.Response:
    """Start a run; it goes on whether or not anybody follows it."""
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON")
    if not body.get("input"):
        return openai_error(400, "Missing 'input' field")
    state = request.app[STATE]
    run_id = f"run_{state.new_id(32)}"
    turn = turn_of(message_text(body["input"]))
    run = Run(run_id, body.get("session_id") or run_id, turn, body.get("model") or MODEL, state.clock)
    keep(state.runs, run_id, run)
    return ok({"run_id": run_id, "status": "started"}, 202)


async def read(request: web.Request) -> web.Response:
    """Tell how far a run is."""
    run = _run(request)
    return ok(run.status) if run else _unknown()


async def events(request: web.Request) -> web.StreamResponse:
    """Stream a run's events to the one reader it can have; afterwards the stream is gone, as upstream."""
    run = _run(request)
    if run is None or run.read_by_someone:
        return _unknown()
    run.read_by_someone = True
    stream = await EventStream.open(request)
    while True:
        try:
            event = await asyncio.wait_for(run.events.get(), KEEPALIVE_S)
        except TimeoutError:
            await stream.raw(": keepalive\n\n")
            continue
        if event is None:
            break
        await stream.send(event)
        if event["event"] == "message.delta":
            await stream.pause()
    await stream.raw(": stream closed\n\n")
    return stream.response


async def approve(request: web.Request) -> web.Response:
    """Answer a run's question."""
    run = _run(request)
    if run is None:
        return _unknown()
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON")
    if run.ended:
        return openai_error(409, "Run has no active approval session", "approval_not_active")
    choice = run.answer(body.get("choice"))
    if choice is None:
        expected = ", ".join(CHOICES)
        return openai_error(
            400, f"Invalid approval choice; expected one of: {expected}", "invalid_approval_choice"
        )
    return ok({"object": "hermes.run.approval_response", "run_id": run.id, "choice": choice, "resolved": 1})


async def stop(request: web.Request) -> web.Response:
    """Stop a run; one that ended is not found, as upstream."""
    run = _run(request)
    if run is None or run.ended:
        return _unknown()
    run.stop()
    return ok({"run_id": run.id, "status": "stopping"})


def _run(request: web.Request) -> Run | None:
    return request.app[STATE].runs.get(request.match_info["run_id"])


def _unknown() -> web.Response:
    return openai_error(404, "Run not found", "run_not_found")
