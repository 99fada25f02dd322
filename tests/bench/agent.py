"""The agent server that every candidate is measured in front of: as little work as an upstream can do.

`POST` with `"stream":true` near the end of its body answers with a burst of events, `POST /idle` with one event and then
silence, every other request with 1 KiB of JSON once its body has arrived.
"""

import asyncio
import json
import sys

import httptools
import uvloop

EVENTS = 2000
_TEXT = {"role": "assistant", "content": "x" * 780}
_BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": _TEXT, "finish_reason": "stop"}],
    }
).encode()
_BODY = _BODY[:-1] + b',"pad":"' + b"p" * max(0, 1024 - len(_BODY) - 9) + b'"}'
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_EVENT = (
    b"data: "
    + json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [
                {"index": 0, "delta": {"content": "a few plain words of the answer "}, "finish_reason": None}
            ],
        }
    ).encode()
    + b"\n\n"
)
_CHUNK = b"%x\r\n" % len(_EVENT) + _EVENT + b"\r\n"
_DONE = b"data: [DONE]\n\n"
_LAST = b"%x\r\n" % len(_DONE) + _DONE + b"\r\n0\r\n\r\n"
# A real agent writes token by token; a burst is written in pieces of this many events, each its own write.
EVENTS_A_WRITE = 5


class Agent(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self._url = b""
        self._tail = b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, body: bytes) -> None:
        self._tail = body[-64:]

    def on_message_complete(self) -> None:
        if b'"stream":true' in self._tail:
            self._transport.write(_HEAD)
            for _ in range(EVENTS // EVENTS_A_WRITE):
                self._transport.write(_CHUNK * EVENTS_A_WRITE)
            self._transport.write(_LAST)
        elif b'"idle":true' in self._tail:
            self._transport.write(_HEAD + _CHUNK)
        else:
            self._transport.write(ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Agent, "127.0.0.1", port, backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
