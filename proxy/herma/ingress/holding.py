"""Whether a caller who came in may still be here: asked of streams and sockets, which outlive credentials."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from herma.errors import StoreError
from herma.identity import by_session
from herma.ingress.plane import Plane
from herma.ingress.recognition import still
from herma.ingress.session import find_session, ident_of
from herma.policy.browser.cookie import session_cookie
from herma.policy.decision import Allow
from herma.policy.exchange import Exchange, Phase
from herma.policy.routing.profile import Match
from herma.wire import Peer

__all__ = ["LOOK_EVERY_S", "Stay", "holding"]

# What lasts ends this long after its credential, and a look more, at the latest.
LOOK_EVERY_S = 2.0


class Stay:
    """Tells, whenever it is called, whether the caller would still come in; is told what the caller does meanwhile."""

    def __init__(self, may: Callable[[], bool]) -> None:
        self._may = may
        self._used = False

    def __call__(self) -> bool:
        """Ask."""
        return self._may()

    def use(self) -> None:
        """Note that somebody did something: it counts as use of the session."""
        self._used = True

    def take_use(self) -> bool:
        """Tell whether somebody did something since the last time."""
        used, self._used = self._used, False
        return used


@asynccontextmanager
async def holding(plane: Plane, exchange: Exchange, peer: Peer) -> AsyncIterator[Stay]:
    """Hand over what tells, at any time, whether the caller would still come in.

    A reload may have taken the key away, given its name another secret or other scopes, or switched off what the caller is at; its
    time may be over; the person may have logged out.
    """
    principal = exchange.principal
    if principal is None:
        # Nobody came in who could be sent away.
        yield Stay(lambda: True)
    elif by_session(principal):
        async with _session_holding(plane, exchange) as stay:
            yield stay
    else:
        # What was sent is verified once more: a name may have another secret by now, and a token an end.
        yield Stay(lambda: still(plane, exchange, peer) and _may_go_on(plane, exchange))


def _may_go_on(plane: Plane, exchange: Exchange) -> bool:
    """Ask whether the request would be let in by the rules of the moment."""
    generation, head = plane.generation, exchange.head
    match = generation.profile.match(head.method, head.target)
    return isinstance(match, Match) and isinstance(
        generation.pipeline.decide(replace(exchange, match=match), Phase.REQUEST_HEAD), Allow
    )


@asynccontextmanager
async def _session_holding(plane: Plane, exchange: Exchange) -> AsyncIterator[Stay]:
    """Ask after the session from time to time, which alone is no use of it. Shared state that cannot be asked ends it here."""
    cookie = session_cookie(exchange.head)
    holds = cookie is not None
    stay = Stay(lambda: holds and _may_go_on(plane, exchange))

    async def look(ident: str) -> None:
        nonlocal holds
        while holds:
            await asyncio.sleep(LOOK_EVERY_S)
            generation = plane.generation
            login = generation.settings.auth.login
            try:
                holds = (
                    login is not None
                    and await find_session(plane, generation, login, ident, touch=stay.take_use()) is not None
                )
            except StoreError:
                holds = False

    # Held here until the exchange ends; in a task group a refusal of the exchange would come out wrapped.
    task = asyncio.get_running_loop().create_task(look(ident_of(cookie))) if cookie else None
    try:
        yield stay
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
