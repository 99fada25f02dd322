"""Turns that calls over a WebSocket start: each needs a slot and a token of its caller's rate, like one over HTTP.

A slot is asked for while the connection waits with the call, and with what comes behind it. It is held until the agent tells the
end of the turn; see `HeldTurns`.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from herma.errors import StoreError
from herma.ingress.admission import limit_rate, take_slot
from herma.ingress.plane import Plane
from herma.ingress.refusal import Refusal, draining, store_down
from herma.policy.decision import Deny
from herma.policy.exchange import Exchange
from herma.policy.routing.route import Route, Turn
from herma.policy.routing.turn_events import TurnEvents
from herma.policy.socket.calls import Call
from herma.policy.socket.turn_news import Answered, News, Told, named
from herma.store import Ask, Lease

__all__ = ["SocketTurns", "Starting", "sweep", "turns_of"]

# The shared state answers within a millisecond; a caller is told to come again rather than kept waiting.
ADMIT_TIMEOUT_S: Final = 5.0
# Calls that wait for their answer; a page has one or two.
MAX_AWAITED: Final = 64

_NO_ID: Final = Deny(400, "herma.rpc.id", "A call that starts a turn needs an id.")
_SAME_ID: Final = Deny(400, "herma.rpc.id", "The id of the call is that of one that is not answered yet.")
_TOO_MANY: Final = Deny(
    429, "herma.limit.concurrency", "Too many calls wait for their answer.", retry_after_s=1
)


@dataclass(frozen=True, slots=True)
class Starting:
    """A call that starts a turn; `answer_name` points at the name that its answer gives the turn."""

    call_id: str | int
    turn: Turn
    name: str
    answer_name: str = ""


type Answer = Callable[[Deny | None], bool]
"""Is told whether a turn may start, and tells whether its call was sent on."""


class SocketTurns:
    """The turns of one connection. All but `run` returns at once; what waits for the shared state is done there."""

    def __init__(self, plane: Plane, exchange: Exchange, events: TurnEvents | None) -> None:
        self._plane = plane
        self._exchange = exchange
        self._events = events
        self._news = News(events) if events is not None else None
        self._holder = exchange.id
        self._work: deque[tuple[Starting, Answer] | str] = deque()
        self._ready = asyncio.Event()
        self._awaited: dict[str | int, Starting] = {}

    @property
    def busy(self) -> bool:
        """Tell whether turns of this connection are under way."""
        return bool(self._work or self._awaited) or self._plane.turns.busy(self._holder)

    def starting(self, call: Call, route: Route) -> Starting | Deny | None:
        """Look at a call: does it start a turn, and does its id name one answer?"""
        turn = route.turn
        if call.id in self._awaited:
            # Else the answer to a small call would be taken for the end of a long one.
            return _SAME_ID
        if turn is Turn.NONE or self._events is None:
            return None
        if call.id is None:
            return _NO_ID
        if len(self._awaited) >= MAX_AWAITED:
            return _TOO_MANY
        own = f"{self._holder}#{call.id!r}"
        if turn is Turn.OPEN or route.response_run_pointer:
            return Starting(call.id, turn, own, route.response_run_pointer)
        return Starting(call.id, turn, named(call.params, self._events.call) or own)

    def ask(self, starting: Starting, answer: Answer) -> None:
        """Ask whether a turn may start."""
        self._work.append((starting, answer))
        self._ready.set()

    def sent(self, call: Call) -> None:
        """Note what a call that was sent on says of turns."""
        events = self._events
        if events is None or not (name := named(call.params, events.call)):
            return
        if call.method in events.stop:
            self._plane.turns.stopped(name, _now())
        elif call.method in events.leave:
            self._plane.turns.unseen(name, _now())

    def hear(self, message: bytes) -> None:
        """Take a message of the agent, before anything in it is masked."""
        if self._news is None:
            return
        heard = self._news.read(message, answers=bool(self._awaited))
        turns, now = self._plane.turns, _now()
        match heard:
            case Told(fact=fact, name=name):
                if turns.told(fact, name, self._holder, now):
                    self._work.append(name)
                    self._ready.set()
            case Answered(call_id=call_id, failed=failed, value=value):
                starting = self._awaited.pop(call_id, None)
                if starting is not None:
                    name = named(value, starting.answer_name)
                    turns.answered(starting.name, now, failed=failed, new_name=name)
                    if starting.turn is Turn.OPEN:
                        turns.over(starting.name, now)
            case None:
                pass

    async def run(self) -> None:
        """Ask for slots until cancelled."""
        while True:
            await self._ready.wait()
            self._ready.clear()
            while self._work:
                work = self._work[0]
                try:
                    if isinstance(work, str):
                        await self._count(work)
                    else:
                        await self._admit(*work)
                finally:
                    self._work.popleft()

    def left(self) -> None:
        """Note that the connection ended."""
        self._plane.turns.left(self._holder, _now())

    async def _admit(self, starting: Starting, answer: Answer) -> None:
        plane, turns = self._plane, self._plane.turns
        try:
            async with asyncio.timeout(ADMIT_TIMEOUT_S):
                lease = await self._lease(starting)
        except Refusal as refusal:
            answer(refusal.deny)
            return
        except (StoreError, TimeoutError):
            plane.meter.count("store_errors")
            answer(store_down())
            return
        turns.take(starting.name, lease, self._holder, _now())
        self._awaited[starting.call_id] = starting
        if not answer(None):
            # The connection ended while it waited: nothing was started.
            del self._awaited[starting.call_id]
            turns.answered(starting.name, _now(), failed=True)

    async def _lease(self, starting: Starting) -> str:
        """Take a slot; empty where the turn holds one: a session runs one turn at a time."""
        plane, exchange = self._plane, self._exchange
        await limit_rate(plane, plane.generation, exchange)
        if not plane.turns.holds(starting.name):
            return (await take_slot(plane, plane.generation, exchange.principal, starting.turn)).give()
        if not plane.lifecycle.ready:
            # It would wait for the turn that runs, and start when the gate is gone.
            raise Refusal(draining())
        return ""

    async def _count(self, name: str) -> None:
        """Count a turn that the agent began by itself: no cap holds for what runs already."""
        principal = self._exchange.principal
        asked = Ask(principal.name if principal else "", Turn.OPEN, cap=0)
        try:
            async with asyncio.timeout(ADMIT_TIMEOUT_S):
                lease = await self._plane.store.admit(asked)
        except (StoreError, TimeoutError):
            self._plane.meter.count("store_errors")
            return
        if isinstance(lease, Lease):
            self._plane.turns.count(name, lease.id)


@asynccontextmanager
async def turns_of(plane: Plane, exchange: Exchange, events: TurnEvents | None) -> AsyncIterator[SocketTurns]:
    """Hand over the turns of a connection for as long as it lasts."""
    turns = SocketTurns(plane, exchange, events)
    # Held here until the connection ends; in a task group a refusal of the exchange would come out wrapped.
    task = asyncio.get_running_loop().create_task(turns.run())
    try:
        yield turns
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        turns.left()


async def sweep(plane: Plane, now: float) -> None:
    """Give back the slots of turns that are over."""
    for lease in plane.turns.due(now):
        try:
            await plane.store.release(lease)
        except StoreError:
            # Whoever keeps the state gives back what a worker that lost it held.
            plane.meter.count("store_errors")


def _now() -> float:
    return asyncio.get_running_loop().time()
