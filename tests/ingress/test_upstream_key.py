"""The key that the gate shows the upstream."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from herma.ingress import upstream_key
from support.inprocess import Call, Gated, gated
from support.upstream import answer

PATH = "/api/config"
FIRST, SECOND = "FirstTokenOfThePage0123456789", "SecondTokenOfThePage987654321"


class Board:
    """A dashboard that has a token in its page, and another after a restart."""

    def __init__(self, gate: Gated) -> None:
        self.gate = gate
        self.token = FIRST
        self.page = self._page
        gate.agent.on("GET", "/", self._show)
        gate.agent.on("GET", PATH, self._guarded)
        gate.agent.on("PUT", "/api/env", self._guarded)

    def _page(self) -> bytes:
        return f'<html><script>window.__HERMES_SESSION_TOKEN__="{self.token}";</script></html>'.encode()

    async def _show(self, call: Call) -> None:
        await call.send(answer(200, self.page(), [("Content-Type", "text/html")]))

    async def _guarded(self, call: Call) -> None:
        right = call.get("authorization") == f"Bearer {self.token}"
        body = b'{"ok":true}' if right else b'{"detail":"Unauthorized"}'
        await call.send(answer(200 if right else 401, body, [("Content-Type", "application/json")]))

    @property
    def readings(self) -> int:
        return self.gate.agent.asked.count("GET /")


@pytest.fixture
async def board(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Board]:
    monkeypatch.setattr(upstream_key, "PAUSE_S", 0.0)
    monkeypatch.setattr(upstream_key, "UNREAD_PAUSE_S", 0.0)
    async with gated(profile="hermes-dashboard", upstream_extra={"key_from_page": True}) as gate:
        yield Board(gate)


async def test_it_is_read_when_it_is_needed_and_kept(board: Board) -> None:
    """One reading serves all requests."""
    assert board.gate.plane.generation.upstream_key is None
    answers = await asyncio.gather(*(board.gate.ask("GET", PATH, key="admin") for _ in range(4)))
    assert [one.status for one in answers] == [200] * 4
    assert board.readings == 1


async def test_a_refused_key_is_replaced_and_the_request_sent_again(board: Board) -> None:
    """After a restart of the upstream; a body goes along as it was."""
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 200
    board.token = SECOND
    body = {"key": "SOME_NAME", "value": "some value"}
    assert (await board.gate.ask("PUT", "/api/env", key="admin", body=body)).status == 200
    assert [call.body for call in board.gate.agent.calls if call.method == "PUT"] == [
        b'{"key": "SOME_NAME", "value": "some value"}'
    ] * 2
    assert board.readings == 2


async def test_a_refusal_that_another_key_does_not_help_against_is_passed_on(board: Board) -> None:
    """The page has the same key still."""
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 200
    board.gate.agent.on("GET", PATH, answer(401, b"{}", [("Content-Type", "application/json")]))
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 401
    assert board.gate.agent.asked.count(f"GET {PATH}") == 2


async def test_readings_have_a_pause(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many requests are refused."""
    monkeypatch.setattr(upstream_key, "PAUSE_S", 3600.0)
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 200
    board.token = SECOND
    for _ in range(3):
        assert (await board.gate.ask("GET", PATH, key="admin")).status == 401
    assert board.readings == 1


@pytest.mark.parametrize("page", [b"<html></html>", b'window.__HERMES_SESSION_TOKEN__="x"'])
async def test_a_page_without_a_key_gives_none(board: Board, page: bytes) -> None:
    """The upstream then says what it says to anybody."""
    board.page = lambda: page
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 401
    assert board.gate.agent.calls[-1].get("authorization") is None


async def test_an_upstream_that_shows_no_page_gives_none(board: Board) -> None:
    """An error is no page, and a broken answer neither."""
    for play in (answer(500, board.page(), [("Content-Type", "text/html")]), b"nonsense\r\n\r\n"):
        board.gate.agent.on("GET", "/", play)
        assert (await board.gate.ask("GET", PATH, key="admin")).status == 401


async def test_no_key_of_the_page_leaves(board: Board) -> None:
    """Neither the one that is in use nor one that the upstream has since its last start."""
    assert (await board.gate.ask("GET", PATH, key="admin")).status == 200
    board.token = SECOND
    shown = await board.gate.ask("GET", "/", key="admin")
    assert shown.status == 200
    assert SECOND.encode() not in shown.body
    assert b'window.__HERMES_SESSION_TOKEN__="held-by-the-gate"' in shown.body


async def test_a_configured_key_is_never_replaced() -> None:
    """Whatever the page has."""
    async with gated(profile="hermes-dashboard") as gate:
        board = Board(gate)
        assert (await gate.ask("GET", PATH, key="admin")).status == 401
        assert board.readings == 0
