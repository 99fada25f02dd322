"""A model that does what the prompt says, so that a real agent can be steered by a test.

Words in the last user message choose the answer: `RUN:<shell command>`, `EXEC:<python>`, `SLOW:<seconds>`, `SAY:<text>`,
`FAIL:<status>`; anything else gets a fixed sentence. After a tool has run, the model repeats what the tool said.
Requests without tools are the agent's own (titles, summaries): they are only ever answered with text.
"""

import json
import re
from typing import Any

from support.leak import SECRETS
from support.upstream import Answer, RecordingUpstream, Seen, Step, json_answer, sse_answer

__all__ = ["PLAIN", "StubModel"]

PLAIN = "A plain answer of six words."
# A pause between two words, as a real model makes one; long enough for each to be its own packet.
WORD_PAUSE_S = 0.005
MODEL = "stub-model"
USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


class StubModel(RecordingUpstream):
    """An OpenAI-compatible chat endpoint, on loopback unless told otherwise."""

    def __init__(self, **place: Any) -> None:
        super().__init__(**place)
        self.on(
            "GET",
            "/v1/models",
            json_answer(
                {"object": "list", "data": [{"id": MODEL, "object": "model", "context_length": 131072}]}
            ),
        )
        self.on("POST", "/v1/chat/completions", _complete)


def _complete(seen: Seen) -> Answer:
    asked = json.loads(seen.body)
    wish, argument = _wish(asked)
    if wish == "FAIL":
        error = {
            "message": f"the provider refused the key {SECRETS[1]}",
            "type": "invalid_request_error",
            "code": "stub",
        }
        return json_answer({"error": error}, int(argument))
    pause: list[Step] = [float(argument)] if wish == "SLOW" else []
    if wish in {"RUN", "EXEC"}:
        message = (
            _tool_call("terminal", {"command": argument})
            if wish == "RUN"
            else _tool_call("execute_code", {"code": argument})
        )
    else:
        message = {"role": "assistant", "content": f"slept {argument}" if wish == "SLOW" else argument}
    answer = _streamed(message) if asked.get("stream") else json_answer(_whole(message))
    return [*pause, *answer]


def _wish(asked: dict[str, Any]) -> tuple[str, str]:
    messages = asked.get("messages") or [{}]
    if messages[-1].get("role") == "tool":
        return "SAY", "The tool said: " + _text(messages[-1].get("content"))[:400]
    prompt = next((_text(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")
    found = re.search(r"\b(RUN|EXEC|SLOW|SAY|FAIL):(.+)", prompt, re.DOTALL)
    if found is None or (not asked.get("tools") and found[1] != "SAY"):
        return "SAY", PLAIN
    wish, argument = found[1], found[2].strip()
    return wish, argument.split()[0] if wish in {"SLOW", "FAIL"} else argument


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _tool_call(name: str, arguments: dict[str, str]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_stub_0001", "type": "function", "function": function}],
    }


def _whole(message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
        "usage": USAGE,
    }


def _streamed(message: dict[str, Any]) -> list[Step]:
    calls = message.get("tool_calls")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if calls:
        arguments = calls[0]["function"]["arguments"]
        middle = len(arguments) // 2
        opening = calls[0] | {"index": 0, "function": {"name": calls[0]["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}
            for part in (arguments[:middle], arguments[middle:])
        ]
    else:
        deltas += [{"content": word} for word in re.findall(r"\S+\s*", message["content"])]
    parts: list[bytes | float] = []
    for delta in deltas:
        parts += [_event(delta, None), WORD_PAUSE_S]
    return sse_answer(*parts, _event({}, "tool_calls" if calls else "stop"), b"data: [DONE]\n\n")


def _event(delta: dict[str, Any], reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {
        "id": "chatcmpl-stub",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
    }
    if reason:
        chunk["usage"] = USAGE
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"
