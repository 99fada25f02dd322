"""Telegram's Bot API for one chat with one operator."""

import asyncio
import json
import time
from itertools import count
from typing import Any, ClassVar, override
from urllib.parse import parse_qsl, unquote_plus

from aiohttp import web

from support.platform_server import READING_S, Arrived, PlatformServer

__all__ = ["StubTelegram"]

# How long a poll for news is held at most: it ends earlier when there is some.
POLL_S = 2.0
BOT = {"id": 7000000001, "is_bot": True, "first_name": "Herma test", "username": "herma_test_bot"}
OPERATOR = {"id": 4242, "is_bot": False, "first_name": "Operator"}
CHAT = {"id": OPERATOR["id"], "type": "private", "first_name": "Operator"}


class StubTelegram(PlatformServer):
    """A bot's view of Telegram."""

    names = ("api.telegram.org",)
    token = "7000000001:AAF4keF4keF4keF4keF4keF4keF4keF4keF"
    environ: ClassVar = {"TELEGRAM_BOT_TOKEN": token, "TELEGRAM_ALLOWED_USERS": str(OPERATOR["id"])}

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._numbers = count(100)
        self._news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    @override
    def say(self, text: str) -> None:
        """Let the operator write something to the bot."""
        message = self._message(text) | {"from": OPERATOR}
        self.tell(lambda: self._news.put_nowait({"message": message}))

    @override
    def press(self, prompt: Arrived, label: str) -> None:
        """Let the operator press a button of a prompt."""
        fields = dict(parse_qsl(prompt.body.decode()))
        rows = json.loads(fields["reply_markup"])["inline_keyboard"]
        data = next(button["callback_data"] for row in rows for button in row if label in button["text"])
        query = {"id": "1", "from": OPERATOR, "chat_instance": "1", "data": data}
        query |= {"message": self._message(fields["text"]) | {"from": BOT}}
        self.tell(lambda: self._news.put_nowait({"callback_query": query}), READING_S)

    @override
    @staticmethod
    def is_prompt(arrived: Arrived) -> bool:
        """Tell whether this asks the operator to approve something."""
        return arrived.target.endswith("/sendMessage") and "Approval Required" in unquote_plus(
            arrived.body.decode()
        )

    @override
    @staticmethod
    def texts(arrived: Arrived) -> list[str]:
        """Return what the operator reads."""
        return [text for name, text in parse_qsl(arrived.body.decode()) if name == "text"]

    @override
    async def answer(self, request: web.Request, arrived: Arrived) -> web.StreamResponse:
        """Answer one call."""
        _, token, method = request.path.split("/", 2)
        if token != f"bot{self.token}":
            return web.json_response(
                {"ok": False, "error_code": 401, "description": "Unauthorized"}, status=401
            )
        match method:
            case "getMe":
                result: Any = BOT | {"can_join_groups": True, "supports_inline_queries": False}
            case "getUpdates":
                result = await self._updates()
            case "sendMessage" | "editMessageText":
                result = self._message(next(iter(self.texts(arrived)), "")) | {"from": BOT}
            case _:
                result = True
        return web.json_response({"ok": True, "result": result})

    async def _updates(self) -> list[dict[str, Any]]:
        try:
            async with asyncio.timeout(POLL_S):
                return [{"update_id": next(self._numbers)} | await self._news.get()]
        except TimeoutError:
            return []

    def _message(self, text: str) -> dict[str, Any]:
        return {"message_id": next(self._numbers), "date": int(time.time()), "chat": CHAT, "text": text}
