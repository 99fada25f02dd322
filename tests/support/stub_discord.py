"""Discord for one direct channel with one operator: the REST interface and the gateway, a WebSocket."""

import asyncio
import json
import zlib
from itertools import count
from typing import Any, ClassVar, override

from aiohttp import WSMsgType, web

from support.platform_server import READING_S, Arrived, PlatformServer

__all__ = ["StubDiscord"]

BOT = {"id": "300000000000000001", "username": "herma", "discriminator": "0", "avatar": None, "bot": True}
OPERATOR = {"id": "300000000000000002", "username": "operator", "discriminator": "0", "avatar": None}
APPLICATION = {"id": "300000000000000003", "name": "herma", "flags": 0, "description": "", "icon": None}
APPLICATION |= {"bot_public": False, "bot_require_code_grant": False, "verify_key": "", "owner": OPERATOR}
CHANNEL = {"id": "300000000000000004", "type": 1, "recipients": [OPERATOR], "last_message_id": None}
WHEN = "2026-12-01T00:00:00.000000+00:00"
HEARTBEAT_MS = 30_000


class StubDiscord(PlatformServer):
    """A bot's view of Discord."""

    names = ("discord.com", "gateway.discord.gg")
    token = "MzAwMDAwMDAwMDAwMDAwMDAx.F4keF4.F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF0r"
    environ: ClassVar = {
        "DISCORD_BOT_TOKEN": token,
        "DISCORD_ALLOWED_USERS": str(OPERATOR["id"]),
        # It would register a hundred commands, one every few seconds.
        "DISCORD_COMMAND_SYNC_POLICY": "off",
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._numbers = count(400000000000000001)
        self._sequence = count(1)
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        # What messages were called when they came.
        self._prompts: dict[bytes, str] = {}

    @override
    def say(self, text: str) -> None:
        """Let the operator write something to the bot."""
        self._happen("MESSAGE_CREATE", self._message(text, OPERATOR))

    @override
    def press(self, prompt: Arrived, label: str) -> None:
        """Let the operator press a button of a prompt."""
        sent = json.loads(prompt.body)
        buttons = [button for row in sent["components"] for button in row["components"]]
        wanted = next(button for button in buttons if label in button["label"])
        message = self._message(sent["content"], BOT) | {"id": self._prompts[prompt.body]}
        self._happen(
            "INTERACTION_CREATE",
            {
                "id": str(next(self._numbers)),
                "application_id": APPLICATION["id"],
                "type": 3,
                "version": 1,
                "token": "F4keInteraction",
                "channel_id": CHANNEL["id"],
                "channel": CHANNEL,
                "user": OPERATOR,
                "message": message,
                "data": {"component_type": 2, "custom_id": wanted["custom_id"]},
                "entitlements": [],
                "attachment_size_limit": 1,
            },
            READING_S,
        )

    @override
    @staticmethod
    def is_prompt(arrived: Arrived) -> bool:
        """Tell whether this asks the operator to approve something."""
        return arrived.method == "POST" and b"Command Approval Required" in arrived.body

    @override
    @staticmethod
    def texts(arrived: Arrived) -> list[str]:
        """Return what the operator reads."""
        sent = json.loads(arrived.body)
        return [sent["content"], *(embed["description"] for embed in sent.get("embeds", ()))]

    @override
    async def answer(self, request: web.Request, arrived: Arrived) -> web.StreamResponse:
        """Answer one call, or be the gateway."""
        if request.host == "gateway.discord.gg":
            return await self._gateway(request)
        if request.headers.get("Authorization") != f"Bot {self.token}" and "interactions" not in request.path:
            return _json({"message": "401: Unauthorized", "code": 0}, status=401)
        match request.method, request.path.removeprefix("/api/v10").strip("/").split("/"):
            case "GET", ["users", "@me"]:
                return _json(BOT)
            case "GET", ["gateway"] | ["gateway", "bot"]:
                return _json({"url": "wss://gateway.discord.gg"})
            case "GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]:
                return _json(APPLICATION)
            case "GET", ["channels", _]:
                return _json(CHANNEL)
            case (("POST" | "PATCH"), ["channels", _, "messages", *_]):
                message = self._message(str(json.loads(arrived.body).get("content")), BOT)
                self._prompts[arrived.body] = message["id"]
                return _json(message)
            case "POST", ["interactions", number, *_]:
                return _json({"interaction": {"id": number, "type": 3}})
            case (("POST" | "PUT" | "DELETE"), ["channels", *_]):
                return web.Response(status=204)
            case _, ["applications", _, "commands", *_]:
                return _json([])
        return _json({"message": "Unknown", "code": 10000}, status=404)

    async def _gateway(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        packed = zlib.compressobj() if "zlib-stream" in request.query.get("compress", "") else None

        async def send(payload: dict[str, Any]) -> None:
            text = json.dumps(payload)
            if packed is None:
                await socket.send_str(text)
            else:
                await socket.send_bytes(packed.compress(text.encode()) + packed.flush(zlib.Z_SYNC_FLUSH))

        async def happenings() -> None:
            while True:
                await send(await self._out.get())

        await send({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS}})
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(happenings())
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                self.note_message(request, message.data)
                asked = json.loads(message.data)
                if asked["op"] == 1:
                    await send({"op": 11})
                elif asked["op"] == 2:
                    self._happen("READY", self._hello())
            sending.cancel()
        return socket

    @staticmethod
    def _hello() -> dict[str, Any]:
        application = {"id": APPLICATION["id"], "flags": 0}
        session = {"session_id": "f4e0c0fffee14ead", "resume_gateway_url": "wss://gateway.discord.gg"}
        return {"v": 10, "user": BOT, "guilds": [], "application": application, **session, "shard": [0, 1]}

    def _happen(self, kind: str, data: dict[str, Any], after_s: float = 0.0) -> None:
        event = {"op": 0, "t": kind, "s": next(self._sequence), "d": data}
        self.tell(lambda: self._out.put_nowait(event), after_s)

    def _message(self, text: str, author: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": str(next(self._numbers)),
            "channel_id": CHANNEL["id"],
            "author": author,
            "content": text,
            "timestamp": WHEN,
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "components": [],
        }


def _json(value: Any, status: int = 200) -> web.Response:
    """Answer with a document; the client knows this type only, without a charset."""
    body = json.dumps(value).encode()
    return web.Response(body=body, status=status, headers={"Content-Type": "application/json"})
