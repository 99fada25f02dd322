"""Chat completions, whole and streamed."""

import hashlib

from aiohttp import web

from herma.drill.echo.answers import EventStream, body_of, ok, openai_error
from herma.drill.echo.readout import MODEL
from herma.drill.echo.state import STATE, Record
from herma.drill.echo.turn import Turn, message_text, turn_of, words

__all__ = ["complete"]


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer the last message."""
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON in request body")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return openai_error(400, "Missing or invalid 'messages' field")
    state = request.app[STATE]
    turn = turn_of(message_text(messages[-1]))
    head: Record = {
        "id": f"chatcmpl-{state.new_id(29)}",
        "object": "chat.completion",
        "created": int(state.clock()),
        "model": body.get("model") or MODEL,
    }
    headers = {"X-Hermes-Session-Id": _session_id(request, messages)}
    if body.get("stream") is True:
        return await _stream(request, {**head, "object": "chat.completion.chunk"}, turn, headers)
    message = {"role": "assistant", "content": turn.unanswered}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return ok({**head, "choices": [choice], "usage": _usage(turn)}, headers=headers)


async def _stream(
    request: web.Request, head: Record, turn: Turn, headers: dict[str, str]
) -> web.StreamResponse:
    stream = await EventStream.open(request, headers)

    async def chunk(delta: Record, finish: str | None = None, **more: object) -> None:
        await stream.send(
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
        )

    await chunk({"role": "assistant"})
    if turn.command is not None:
        call = f"call_{request.app[STATE].new_id(20)}"
        progress = {"tool": "terminal", "label": turn.preview, "toolCallId": call, "status": "running"}
        await stream.send(progress, event="hermes.tool.progress")
        done = {"tool": "terminal", "toolCallId": call, "status": "completed"}
        await stream.send(done, event="hermes.tool.progress")
    for word in words(turn.unanswered):
        await chunk({"content": word})
        await stream.pause()
    await chunk({}, "stop", usage=_usage(turn))
    await stream.raw("data: [DONE]\n\n")
    return stream.response


def _usage(turn: Turn) -> Record:
    asked, answered = turn.usage(turn.unanswered)
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def _session_id(request: web.Request, messages: list[Record]) -> str:
    """Give the caller's session id, or one made of the first message, as predictable as upstream's."""
    first = hashlib.sha256(message_text(messages[0]).encode("utf-8", "surrogatepass")).hexdigest()
    return request.headers.get("X-Hermes-Session-Id") or f"api-{first[:16]}"
