"""The responses API: created whole or streamed, stored, read again and deleted."""

from aiohttp import web

from herma.drill.echo.answers import EventStream, body_of, ok, openai_error
from herma.drill.echo.readout import MODEL
from herma.drill.echo.state import STATE, EchoState, Record, keep
from herma.drill.echo.turn import Turn, message_text, turn_of, words

__all__ = ["create", "delete", "read"]


async def create(request: web.Request) -> web.StreamResponse:
    """Answer an input; the answer is stored unless `store` is false."""
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON in request body")
    if "input" not in body:
        return openai_error(400, "Missing 'input' field")
    state = request.app[STATE]
    previous = body.get("previous_response_id")
    if previous is not None and previous not in state.responses:
        return openai_error(404, "Previous response not found")
    turn = turn_of(message_text(body["input"]))
    response: Record = {
        "id": f"resp_{state.new_id(28)}",
        "object": "response",
        "status": "in_progress",
        "created_at": int(state.clock()),
        "model": body.get("model") or MODEL,
        "output": [],
    }
    done = {**response, "status": "completed", "output": _output(state, turn), "usage": _usage(turn)}
    if body.get("store", True) is not False:
        keep(state.responses, response["id"], done)
    if body.get("stream") is True:
        return await _stream(request, response, done)
    return ok(done)


async def read(request: web.Request) -> web.Response:
    """Give a stored response, tool arguments and all."""
    key = request.match_info["response_id"]
    found = request.app[STATE].responses.get(key)
    return ok(found) if found is not None else openai_error(404, "Response not found")


async def delete(request: web.Request) -> web.Response:
    """Forget a stored response."""
    key = request.match_info["response_id"]
    if request.app[STATE].responses.pop(key, None) is None:
        return openai_error(404, "Response not found")
    return ok({"id": key, "object": "response", "deleted": True})


async def _stream(request: web.Request, response: Record, done: Record) -> web.StreamResponse:
    stream = await EventStream.open(request)
    sequence = 0

    async def send(kind: str, **fields: object) -> None:
        nonlocal sequence
        await stream.send({"type": kind, **fields, "sequence_number": sequence}, event=kind)
        sequence += 1

    await send("response.created", response=response)
    for index, item in enumerate(done["output"]):
        if item["type"] != "message":
            await send(
                "response.output_item.added", output_index=index, item={**item, "status": "in_progress"}
            )
            await send("response.output_item.done", output_index=index, item={**item, "status": "completed"})
            continue
        started = {**item, "status": "in_progress", "content": []}
        await send("response.output_item.added", output_index=index, item=started)
        place = {"item_id": item["id"], "output_index": index, "content_index": 0, "logprobs": []}
        text = item["content"][0]["text"]
        for word in words(text):
            await send("response.output_text.delta", **place, delta=word)
            await stream.pause()
        await send("response.output_text.done", **place, text=text)
        await send("response.output_item.done", output_index=index, item={**item, "status": "completed"})
    await send("response.completed", response=done)
    return stream.response


def _output(state: EchoState, turn: Turn) -> list[Record]:
    text = {"type": "output_text", "text": turn.unanswered, "annotations": []}
    message = {"id": f"msg_{state.new_id(24)}", "type": "message", "role": "assistant", "content": [text]}
    if turn.command is None:
        return [message]
    call = f"call_{state.new_id(20)}"
    return [
        {
            "id": f"fc_{state.new_id(24)}",
            "type": "function_call",
            "name": "terminal",
            "arguments": turn.arguments,
            "call_id": call,
        },
        {
            "id": f"fco_{state.new_id(24)}",
            "type": "function_call_output",
            "call_id": call,
            "output": turn.pending,
        },
        message,
    ]


def _usage(turn: Turn) -> Record:
    asked, answered = turn.usage(turn.unanswered)
    return {"input_tokens": asked, "output_tokens": answered, "total_tokens": asked + answered}
