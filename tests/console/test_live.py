"""The stream that keeps a page young."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from herma.console import View, live
from herma.console.live import MAX_STREAMS, Live
from herma.console.sections import SECTIONS
from support.console_view import FULL, REFUSED
from support.inside import until


class Feed:
    """What the test lets the stream say, and whether its credential holds."""

    def __init__(self) -> None:
        self.view = FULL
        self.holds = True
        self.asked = 0
        self.live = Live(self._view, 0.005)

    async def _view(self) -> View:
        self.asked += 1
        return self.view

    async def _holds(self) -> bool:
        return self.holds

    async def handle(self, request: web.Request) -> web.StreamResponse:
        return await self.live.serve(request, self._holds)


type Client = TestClient[Any, Any]


@asynccontextmanager
async def serving(feed: Feed) -> AsyncIterator[Client]:
    app = web.Application()
    app.add_routes([web.get("/live", feed.handle)])
    async with TestClient(TestServer(app)) as client:
        yield client


async def event(answer: Any) -> tuple[str, dict[str, str]]:
    """Read one event."""
    lines = (await answer.content.readuntil(b"\n\n")).decode().splitlines()
    return lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))


async def test_the_first_event_has_every_part_and_later_ones_what_changed() -> None:
    """What stays as it is costs nothing."""
    feed = Feed()
    async with serving(feed) as client, client.get("/live") as answer:
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        name, parts = await event(answer)
        assert name == "parts"
        assert set(parts) == {"as-of", *(f"{name}-body" for name, _, _ in SECTIONS)}
        assert await event(answer) == ("parts", {})
        feed.view = replace(FULL, slots_taken=9)
        changed: dict[str, str] = {}
        while not changed:
            _, changed = await event(answer)
        assert set(changed) == {"state-body"}
        assert "9 of 10" in changed["state-body"]


async def test_it_ends_with_the_credential() -> None:
    """The page is told, and nothing comes after it."""
    feed = Feed()
    async with serving(feed) as client, client.get("/live") as answer:
        await event(answer)
        feed.holds = False
        name = "parts"
        while name == "parts":
            name, _ = await event(answer)
        assert name == "ended"
        assert await answer.content.read() == b""


async def test_it_ends_with_the_gate() -> None:
    """A drain does not wait for pages that are open."""
    feed = Feed()
    async with serving(feed) as client, client.get("/live") as answer:
        await event(answer)
        feed.live.stop()
        assert b"event: ended" not in await answer.content.read()


async def test_it_does_not_last_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser connects anew."""
    monkeypatch.setattr(live, "MAX_LOOKS", 2)
    feed = Feed()
    async with serving(feed) as client, client.get("/live") as answer:
        assert (await answer.content.read()).count(b"event: parts") == 2


async def test_streams_are_counted_and_a_caller_who_leaves_frees_one() -> None:
    """There are few at a time."""
    feed = Feed()
    async with serving(feed) as client:
        answers = [await client.get("/live") for _ in range(MAX_STREAMS)]
        for answer in answers:
            await event(answer)
        assert feed.live.full
        answers[0].close()
        await until(lambda: not feed.live.full)
        for answer in answers[1:]:
            answer.close()
        await until(lambda: feed.live._open == 0)


async def test_all_streams_share_what_is_written() -> None:
    """Many open pages cost the gate no more than one."""
    feed = Feed()
    feed.live = Live(feed._view, 60)
    async with serving(feed) as client:
        for _ in range(3):
            async with client.get("/live") as answer:
                assert (await event(answer))[0] == "parts"
        assert feed.asked == 1
        feed.live.stop()


async def test_a_caller_who_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stream ends when nothing can be sent any more."""
    monkeypatch.setattr(live, "SEND_TIMEOUT_S", 0.05)
    feed = Feed()
    async with serving(feed) as client:
        answer = await client.get("/live")
        turn = 0

        def let_go() -> bool:
            nonlocal turn
            turn += 1
            long = replace(REFUSED, reason=f"{turn}" + "x" * 1900)
            feed.view = replace(FULL, refusals=(long,) * 100)
            return feed.live._open == 0

        await until(let_go)
        answer.close()
    assert turn > 1
