"""A chat platform on an address of a test's own network, over TLS: what all stub platforms have in common.

It records whatever reaches it, and answers what the platform's real clients need to hear to stay connected. It runs on its own
thread and event loop, so that tests can stay plain.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from aiohttp import web

from support.wire_tls import Pair

__all__ = ["READING_S", "Arrived", "PlatformServer"]

WAIT_S = 20.0
# An operator reads before they press a button: the agent knows its own prompt only when the platform has answered.
READING_S = 0.4
# What a client sends in one piece: a prompt has a few thousand bytes.
MAX_BODY_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request, or a message of a WebSocket (`method` is then MESSAGE)."""

    host: str
    method: str
    target: str
    type: str
    body: bytes

    @property
    def whole(self) -> bytes:
        """All of it in which a secret could stand, but what the platform asks for: its tokens."""
        return self.target.encode() + b"\n" + self.body


class PlatformServer(ABC):
    """The server; use it as a context."""

    names: ClassVar[tuple[str, ...]]
    # What the agent is given to connect.
    environ: ClassVar[Mapping[str, str]]

    def __init__(self, address: str, pair: Pair) -> None:
        self.address = address
        self._pair = pair
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="platform", daemon=True)
        self._ready = threading.Event()
        self._changed = threading.Condition()
        self._arrived: list[Arrived] = []

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    # What the operator does

    @abstractmethod
    def say(self, text: str) -> None:
        """Let the operator write something to the bot."""

    @abstractmethod
    def press(self, prompt: Arrived, label: str) -> None:
        """Let the operator press a button of a prompt."""

    @staticmethod
    @abstractmethod
    def is_prompt(arrived: Arrived) -> bool:
        """Tell whether this asks the operator to approve something."""

    @staticmethod
    @abstractmethod
    def texts(arrived: Arrived) -> list[str]:
        """Return what the operator reads in a message."""

    # What a test asks

    @property
    def arrived(self) -> list[Arrived]:
        """Everything that came, in order."""
        with self._changed:
            return list(self._arrived)

    def forget(self) -> None:
        """Drop what was recorded."""
        with self._changed:
            self._arrived.clear()

    def wait(self, telling: Callable[[Arrived], bool], timeout_s: float = WAIT_S) -> Arrived:
        """Return the first thing of this kind, as soon as it is there."""

        def first() -> Arrived | None:
            return next(filter(telling, self._arrived), None)

        with self._changed:
            found = self._changed.wait_for(first, timeout_s)
            assert found is not None, [(one.method, one.target) for one in self._arrived]
            return found

    def tell(self, action: Callable[[], None], after_s: float = 0.0) -> None:
        """Do something on the thread of the server."""
        self._loop.call_soon_threadsafe(self._loop.call_later, after_s, action)

    # The server

    @abstractmethod
    async def answer(self, request: web.Request, arrived: Arrived) -> web.StreamResponse:
        """Answer one request."""

    def note(self, arrived: Arrived) -> None:
        """Keep what came."""
        with self._changed:
            self._arrived.append(arrived)
            self._changed.notify_all()

    def note_message(self, request: web.Request, text: str) -> None:
        """Keep a message of a WebSocket."""
        self.note(Arrived(request.host, "MESSAGE", request.path_qs, "", text.encode()))

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, web.Request)
        body = await request.read()
        arrived = Arrived(request.host, request.method, request.path_qs, request.content_type, body)
        self.note(arrived)
        return await self.answer(request, arrived)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _listen(self) -> None:
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self.address, 443, ssl_context=self._pair.serving()).start()
