"""Slack for one direct channel with one operator: the Web API and a socket."""

import asyncio
import json
import time
from itertools import count
from typing import Any, ClassVar, override
from urllib.parse import parse_qsl

from aiohttp import WSMsgType, web

from support.platform_server import READING_S, Arrived, PlatformServer

__all__ = ["StubSlack"]

TEAM, BOT, APP, CHANNEL, OPERATOR = (
    "T0F4KE00001",
    "U0F4KE00001",
    "A0F4KE00001",
    "D0F4KE00001",
    "U0F4KE00002",
)


class StubSlack(PlatformServer):
    """A bot's view of Slack."""

    names = ("slack.com", "www.slack.com", "wss-primary.slack.com")
    token = "xoxb-F4keK3yF0rT3-F4keK3yF0rT3-F4keK3yF0rT3stF4keK3yF0r"
    environ: ClassVar = {
        "SLACK_BOT_TOKEN": token,
        "SLACK_APP_TOKEN": "xapp-1-A0F4KE00001-1234567890123-f4e0c0fffee14eadf4e0c0fffee14ead",
        "SLACK_ALLOWED_USERS": OPERATOR,
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._numbers = count(1)
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        # What messages were called when they came.
        self._prompts: dict[bytes, str] = {}

    @override
    def say(self, text: str) -> None:
        """Let the operator write something to the bot."""
        event = {"type": "message", "channel": CHANNEL, "channel_type": "im", "user": OPERATOR, "text": text}
        payload = {
            "type": "event_callback",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event | {"ts": self._ts(), "event_ts": self._ts(), "team": TEAM},
            "event_id": f"Ev{next(self._numbers)}",
            "event_time": int(time.time()),
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
        }
        self._happen("events_api", payload)

    @override
    def press(self, prompt: Arrived, label: str) -> None:
        """Let the operator press a button of a prompt."""
        blocks = _fields(prompt)["blocks"]
        buttons = [button for block in blocks for button in block.get("elements", ())]
        wanted = next(button for button in buttons if label in button["text"]["text"])
        message = {"ts": self._prompts[prompt.body], "text": "", "blocks": blocks, "user": BOT}
        payload = {
            "type": "block_actions",
            "team": {"id": TEAM, "domain": "x"},
            "user": {"id": OPERATOR, "name": "operator", "team_id": TEAM},
            "api_app_id": APP,
            "channel": {"id": CHANNEL, "name": "directmessage"},
            "container": {"type": "message", "message_ts": message["ts"], "channel_id": CHANNEL},
            "message": message,
            "actions": [wanted | {"block_id": "b", "action_ts": self._ts()}],
        }
        self._happen("interactive", payload, READING_S)

    @override
    @staticmethod
    def is_prompt(arrived: Arrived) -> bool:
        """Tell whether this asks the operator to approve something."""
        return arrived.target == "/api/chat.postMessage" and "hermes_approve_once" in str(_fields(arrived))

    @override
    @staticmethod
    def texts(arrived: Arrived) -> list[str]:
        """Return what the operator reads."""
        fields = _fields(arrived)
        return [fields["text"], *(block["text"]["text"] for block in fields["blocks"] if "text" in block)]

    @override
    async def answer(self, request: web.Request, arrived: Arrived) -> web.StreamResponse:
        """Answer one call, or be a socket."""
        if request.path.startswith("/link"):
            return await self._socket(request)
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.environ.values():
            return web.json_response({"ok": False, "error": "invalid_auth"})
        match request.path.removeprefix("/api/"):
            case "auth.test":
                said: dict[str, Any] = {"url": "https://x.slack.com/", "team": "x", "user": "herma"}
                said |= {"team_id": TEAM, "user_id": BOT, "bot_id": "B0F4KE00001"}
            case "apps.connections.open":
                said = {"url": f"wss://wss-primary.slack.com/link/?ticket=f4e0c0ff-fee1-4ead&app_id={APP}"}
            case "chat.postMessage":
                ts = self._ts()
                self._prompts[arrived.body] = ts
                said = {"channel": CHANNEL, "ts": ts, "message": {"ts": ts, "text": ""}}
            case "chat.update":
                said = {"channel": CHANNEL, "ts": self._ts(), "text": ""}
            case "users.info":
                said = {"user": {"id": OPERATOR, "name": "operator", "real_name": "Operator", "profile": {}}}
            case "conversations.info":
                said = {"channel": {"id": CHANNEL, "is_im": True, "user": OPERATOR}}
            case _:
                said = {}
        return web.json_response({"ok": True, **said})

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json(
            {"type": "hello", "num_connections": 1, "connection_info": {"app_id": APP}, "debug_info": {}}
        )

        async def happenings() -> None:
            while True:
                await socket.send_json(await self._out.get())

        async with asyncio.TaskGroup() as group:
            sending = group.create_task(happenings())
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self.note_message(request, message.data)
            sending.cancel()
        return socket

    def _happen(self, kind: str, payload: dict[str, Any], after_s: float = 0.0) -> None:
        envelope = {"envelope_id": f"f4e0c0ff-{next(self._numbers)}", "type": kind, "payload": payload}
        envelope["accepts_response_payload"] = False
        self.tell(lambda: self._out.put_nowait(envelope), after_s)

    def _ts(self) -> str:
        return f"{int(time.time())}.{next(self._numbers):06d}"


def _fields(arrived: Arrived) -> dict[str, Any]:
    """Read a call, which is JSON or a form with JSON in it."""
    if arrived.type == "application/json":
        return dict(json.loads(arrived.body))
    fields: dict[str, Any] = dict(parse_qsl(arrived.body.decode()))
    for name in ("blocks", "attachments"):
        if name in fields:
            fields[name] = json.loads(fields[name])
    return fields
