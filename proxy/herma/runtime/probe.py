"""What the gate finds out about its upstream by asking it: is it up, what does it offer, how much is running.

Questions go through the same pool as requests, so that a probe sees what a request would see. Every answer is read up to
a bound and treated as a stranger's: only the fields that the profile names are looked at.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from herma.errors import StoreError
from herma.ingress import Generation, question
from herma.policy.jsondoc import JsonError, find, parse
from herma.policy.routing.profile import Readout, undeclared
from herma.wire import UpstreamError

__all__ = ["UpstreamState", "UpstreamWatch", "ask"]

# An upstream that went away has to show on /readyz in less than ten seconds.
INTERVAL_S = 3.0
TIMEOUT_S = 3.0
# Between two questions to an upstream that is up; in between, and while answers come to requests, it is enough that it
# accepts connections. Questions fill its log, and some upstreams count them.
ASK_INTERVAL_S = 30.0
MAX_ANSWER_BYTES = 1024 * 1024
# Routes are shown on /status: enough to see what is new, not a wall of text.
MAX_DRIFT = 50
MAX_ROUTE_CHARS = 120
# Any HTTP answer to this shows that the upstream is there; a profile's server need not have the route.
LIVENESS_PATH = "/health"
_UP = ("upstream.up", "the upstream answers")


@dataclass(slots=True)
class UpstreamState:
    """What is known of the upstream; `drift` lists routes that it announces and the profile does not know.

    `own_login` tells that it asks for a login of its own, which no caller of the gate can give.
    """

    up: bool = False
    reason: str = "not asked yet"
    drift: tuple[str, ...] = ()
    running: int | None = None
    key_accepted: bool | None = None
    own_login: bool = False


async def ask(generation: Generation, path: str) -> tuple[int, Any]:
    """GET `path` from the upstream with its own key; return the status and the parsed JSON body (None if it is none).

    Raises:
        UpstreamError: no usable answer.
        TimeoutError: none in time.
    """
    status, body = await question(generation, path.encode(), max_bytes=MAX_ANSWER_BYTES, timeout_s=TIMEOUT_S)
    try:
        return status, parse(body, max_depth=32, max_keys=20_000).value
    except JsonError:
        return status, None


class UpstreamWatch:
    """Looks at one upstream again and again, and more closely after it came back; `seed` hears that `state.running` changed."""

    def __init__(
        self,
        current: Callable[[], Generation],
        seed: Callable[[], Awaitable[None]],
        log: Callable[[str, str], None],
        ask_interval_s: float = ASK_INTERVAL_S,
    ) -> None:
        self._current = current
        self._seed_slots = seed
        self._log = log
        self._ask_interval_s = ask_interval_s
        self._asked = 0.0
        # The generation that the upstream was last looked at closely for; None when it has to be done again.
        self._known: Generation | None = None
        self.state = UpstreamState()

    async def run(self) -> None:
        """Look every few seconds until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(INTERVAL_S)

    async def look(self) -> None:
        """Ask once; compare its routes and count what it runs when it came (back) up or the configuration changed."""
        generation = self._current()
        was_up = self.state.up
        try:
            if was_up and self._heard_lately(generation):
                async with asyncio.timeout(TIMEOUT_S):
                    await generation.pool.reach()
            else:
                status, _ = await ask(generation, LIVENESS_PATH)
                self._asked = asyncio.get_running_loop().time()
                self.state.up, self.state.reason = status < 500, f"the upstream answered {status}"
        except (UpstreamError, TimeoutError) as error:
            self.state.up = False
            self.state.reason = f"the upstream does not answer ({getattr(error, 'kind', 'timeout')})"
        if self.state.up is not was_up:
            self._log(*(_UP if self.state.up else ("upstream.down", self.state.reason)))
        if not self.state.up:
            self._known = None
        elif self._known is not generation:
            await self._look_closely(generation)
        elif self.state.running and generation.profile.running is not None:
            await self._count_down(generation, generation.profile.running, self.state.running)

    def _heard_lately(self, generation: Generation) -> bool:
        heard = max(self._asked, generation.pool.answered_at)
        return asyncio.get_running_loop().time() - heard < self._ask_interval_s

    async def _look_closely(self, generation: Generation) -> None:
        profile = generation.profile
        # What was found with another profile or key says nothing about this one.
        self.state.key_accepted, self.state.drift, self.state.own_login = None, (), False
        try:
            if profile.running is not None:
                status, value = await ask(generation, profile.running.path)
                self.state.key_accepted = status not in {401, 403}
                await self._seed(_first_count(value, profile.running.pointer))
            elif profile.guarded:
                status, _ = await ask(generation, profile.guarded)
                self.state.key_accepted = {200: True, 401: False, 403: False}.get(status)
            if profile.own_login is not None:
                _, value = await ask(generation, profile.own_login.path)
                self.state.own_login = any(said is True for _, said in find(value, profile.own_login.pointer))
            if profile.capabilities is not None:
                _, value = await ask(generation, profile.capabilities.path)
                self.state.drift = undeclared(profile, _announced(value, profile.capabilities.pointer))[
                    :MAX_DRIFT
                ]
        except (UpstreamError, TimeoutError, StoreError):
            return
        self._known = generation
        self._say()

    def _say(self) -> None:
        """Tell what the operator has to know."""
        if self.state.own_login:
            message = "the upstream asks for a login of its own, and nobody gets in: start it on 127.0.0.1, without public_url"
            self._log("upstream.own_login", message)
        elif self.state.key_accepted is False:
            self._log("upstream.key", "the upstream refuses the key that is configured for it (upstream.key)")
        if self.state.drift:
            named = ", ".join(self.state.drift)
            self._log(
                "upstream.drift", f"the upstream announces routes that the profile does not know: {named}"
            )

    async def _count_down(self, generation: Generation, readout: Readout, before: int) -> None:
        """Follow the turns that ran before this start until they are over.

        The count only falls here: turns of this gate's own are in it too, and have their own slots.
        """
        try:
            _, value = await ask(generation, readout.path)
            count = _first_count(value, readout.pointer)
            await self._seed(None if count is None else min(count, before))
        except (UpstreamError, TimeoutError, StoreError):
            return

    async def _seed(self, running: int | None) -> None:
        self.state.running = running
        if running is not None:
            await self._seed_slots()


def _announced(capabilities: Any, pointer: str) -> set[tuple[str, str]]:
    # The pointer names the table of routes; its keys are names that nobody else uses.
    return {
        (endpoint["method"][:MAX_ROUTE_CHARS], endpoint["path"][:MAX_ROUTE_CHARS])
        for _, endpoint in find(capabilities, f"{pointer}/*")
        if isinstance(endpoint, dict)
        and isinstance(endpoint.get("method"), str)
        and isinstance(endpoint.get("path"), str)
    }


def _first_count(value: Any, pointer: str) -> int | None:
    for _, count in find(value, pointer):
        if isinstance(count, int) and not isinstance(count, bool):
            return max(0, count)
    return None
