"""Turns inside a session, whole and streamed."""

from dataclasses import dataclass

from aiohttp import web

from herma.drill.echo.answers import EventStream, body_of, ok, openai_error
from herma.drill.echo.sessions import unknown
from herma.drill.echo.state import STATE, EchoState, Record, keep
from herma.drill.echo.turn import Turn, message_text, turn_of, words

__all__ = ["MAX_MESSAGES", "chat", "stream"]

# Messages that a session keeps; the oldest go first. Longer transcripts show nothing new.
MAX_MESSAGES = 200


@dataclass(frozen=True, slots=True)
class _Asked:
    """A turn that may begin: the session is there and so is a message."""

    session_id: str
    turn: Turn


async def chat(request: web.Request) -> web.Response:
    """Answer one message."""
    asked = await _asked(request)
    if isinstance(asked, web.Response):
        return asked
    _remember(request.app[STATE], asked)
    return ok(
        {
            "object": "hermes.session.chat.completion",
            "session_id": asked.session_id,
            "message": {"role": "assistant", "content": asked.turn.unanswered},
            "usage": _usage(asked.turn),
        },
        headers={"X-Hermes-Session-Id": asked.session_id},
    )


async def stream(request: web.Request) -> web.StreamResponse:
    """Answer one message event by event."""
    asked = await _asked(request)
    if isinstance(asked, web.Response):
        return asked
    state, turn = request.app[STATE], asked.turn
    transcript = _remember(state, asked)
    run_id, message_id = f"run_{state.new_id(32)}", f"msg_{state.new_id(32)}"
    events = await EventStream.open(request, {"X-Hermes-Session-Id": asked.session_id})
    sequence = 0

    async def send(event: str, **fields: object) -> None:
        nonlocal sequence
        sequence += 1
        place = {"session_id": asked.session_id, "run_id": run_id, "seq": sequence, "ts": state.clock()}
        await events.send({**fields, **place}, event=event)

    await send("run.started", user_message={"role": "user", "content": turn.text})
    await send("message.started", message={"id": message_id, "role": "assistant"})
    if turn.command is not None:
        tool = {"message_id": message_id, "tool_name": "terminal"}
        await send("tool.started", **tool, preview=turn.preview, args={"command": turn.command})
        await send("tool.completed", **tool, preview=None, args=None)
    for word in words(turn.unanswered):
        await send("assistant.delta", message_id=message_id, delta=word)
        await events.pause()
    await send("assistant.completed", message_id=message_id, content=turn.unanswered, completed=True)
    await send("run.completed", message_id=message_id, messages=transcript, usage=_usage(turn))
    await send("done")
    return events.response


async def _asked(request: web.Request) -> _Asked | web.Response:
    session_id = request.match_info["session_id"]
    if session_id not in request.app[STATE].sessions:
        return unknown()
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON in request body")
    text = message_text(body.get("message") or body.get("input"))
    return _Asked(session_id, turn_of(text)) if text else openai_error(400, "Missing 'message' field")


def _remember(state: EchoState, asked: _Asked) -> list[Record]:
    turn = asked.turn
    new: list[Record] = [{"role": "user", "content": turn.text}]
    if turn.command is not None:
        function = {"name": "terminal", "arguments": turn.arguments}
        call = {"id": f"call_{state.new_id(20)}", "type": "function", "function": function}
        new.append({"role": "assistant", "content": "", "tool_calls": [call]})
        new.append({"role": "tool", "tool_call_id": call["id"], "content": turn.pending})
    new.append({"role": "assistant", "content": turn.unanswered})
    kept = [*state.messages.get(asked.session_id, []), *new][-MAX_MESSAGES:]
    keep(state.messages, asked.session_id, kept)
    state.sessions[asked.session_id]["message_count"] = len(kept)
    return new


def _usage(turn: Turn) -> Record:
    asked, answered = turn.usage(turn.unanswered)
    return {"input_tokens": asked, "output_tokens": answered, "total_tokens": asked + answered}
