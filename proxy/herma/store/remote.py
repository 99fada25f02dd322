"""A worker's view of the shared state: each method is a call to the coordinator."""

import socket
from asyncio import get_running_loop
from collections.abc import Callable
from typing import Any, Self

from herma.errors import StoreError
from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import MAX_LEASES, MAX_RUN_ID_CHARS, Ask, Full, Lease, RunLease, Which
from herma.policy.ownership import Owner
from herma.policy.token.spent import Once, Spending
from herma.store.channel import CALL_WAIT_S, Channel
from herma.store.coordinator import RUNS_PER_PAGE
from herma.store.messages import Notice

__all__ = ["RemoteStore"]

# More pages than there can be runs: the loop over them ends, whatever the coordinator answers.
_MAX_PAGES = MAX_LEASES // RUNS_PER_PAGE + 1


def _ignore_notice(_notice: Notice) -> None:
    pass


def _ignore_loss() -> None:
    pass


class RemoteStore:
    """A `Store` over a channel to the coordinator; an answer of unknown form ends the connection."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @classmethod
    async def connect(
        cls,
        sock: socket.socket,
        on_notice: Callable[[Notice], None] = _ignore_notice,
        on_lost: Callable[[], None] = _ignore_loss,
        *,
        wait_s: float = CALL_WAIT_S,
    ) -> Self:
        """Take a connected socket and speak over it from now on; the callbacks are those of `Channel`."""
        _, channel = await get_running_loop().create_unix_connection(
            lambda: Channel(on_notice, on_lost, wait_s=wait_s), sock=sock
        )
        return cls(channel)

    def notify(self, topic: str, payload: Any = None) -> bool:
        """Tell the coordinator something; return False when it cannot be sent now."""
        return self._channel.notify(topic, payload)

    def close(self) -> None:
        """Leave; the coordinator gives this worker's slots back."""
        self._channel.close()

    async def admit(self, ask: Ask) -> Lease | Full:
        """Take a slot for a turn; a slot that comes too late, or for a caller who is gone, is given back."""
        value = await self._channel.call(
            "admit", ask.principal, ask.turn.value, ask.cap, ask.principal_cap, undo=self._give_back
        )
        match value:
            case ["lease", str(lease_id)]:
                return Lease(lease_id)
            case ["full", int(retry_after_s), ("all" | "principal") as which]:
                return Full(retry_after_s, Which(which))
            case _:
                raise self._malformed()

    async def release(self, lease_id: str) -> None:
        """Give a slot back; the call is on its way even if the caller is cancelled."""
        await self._channel.call("release", lease_id)

    async def attach(self, lease_id: str, run_id: str) -> None:
        """Hold the slot until the run's end."""
        # A longer id is not kept anyway, and must still fit into a message for the slot to be counted.
        await self._channel.call("attach", lease_id, run_id[: MAX_RUN_ID_CHARS + 1])

    async def run_ended(self, run_id: str) -> None:
        """Note that a run is over."""
        await self._channel.call("run_ended", run_id)

    async def open_runs(self) -> tuple[RunLease, ...]:
        """List the runs whose end was not seen yet, page by page."""
        runs: list[RunLease] = []
        after = ""
        for _ in range(_MAX_PAGES):
            page = self._page(await self._channel.call("open_runs", after))
            runs += page
            if len(page) < RUNS_PER_PAGE:
                break
            after = page[-1].lease_id
        return tuple(runs)

    async def seed(self, running: int) -> None:
        """Take upstream's own count of running turns."""
        await self._channel.call("seed", running)

    async def claim(self, kind: str, thing_id: str, owner: Owner) -> Owner:
        """Bind to `owner` if nobody holds it; return who does."""
        return self._owner(await self._channel.call("claim", kind, thing_id, owner.name, owner.group))

    async def owner(self, kind: str, thing_id: str) -> Owner | None:
        """Return who holds it, if anybody is known to."""
        value = await self._channel.call("owner", kind, thing_id)
        return None if value is None else self._owner(value)

    async def blocked(self, subjects: tuple[str, ...]) -> float:
        """Return the seconds until an attempt may be judged."""
        return self._seconds(await self._channel.call("blocked", subjects))

    async def failed(self, subjects: tuple[str, ...]) -> float:
        """Count a failed attempt; return the wait."""
        return self._seconds(await self._channel.call("failed", subjects))

    async def succeeded(self, subjects: tuple[str, ...]) -> None:
        """Note a successful attempt."""
        await self._channel.call("succeeded", subjects)

    async def take(self, bucket: str, rate_per_s: float, burst: float) -> float:
        """Take a token and return 0, or return the wait."""
        return self._seconds(await self._channel.call("take", bucket, float(rate_per_s), float(burst)))

    async def offer(self, run_id: str, choices: tuple[str, ...]) -> None:
        """Note the choices of an approval prompt."""
        await self._channel.call("offer", run_id, choices)

    async def offered(self, run_id: str) -> tuple[str, ...] | None:
        """Return the choices on offer."""
        match await self._channel.call("offered", run_id):
            case None:
                return None
            case [*choices] if all(isinstance(choice, str) for choice in choices):
                return tuple(choices)
            case _:
                raise self._malformed()

    async def withdraw(self, run_id: str, *, every: bool = False) -> None:
        """Note that a prompt was answered."""
        await self._channel.call("withdraw", run_id, every)

    async def open_session(self, ident: str, user: str, binding: str, limits: SessionLimits) -> None:
        """Begin a session of a person who logged in."""
        await self._channel.call(
            "open_session", ident, user, binding, float(limits.idle_s), float(limits.lifetime_s)
        )

    async def session(self, ident: str, limits: SessionLimits, *, touch: bool = True) -> LiveSession | None:
        """Return a session that holds, if there is one."""
        match await self._channel.call(
            "session", ident, float(limits.idle_s), float(limits.lifetime_s), touch
        ):
            case None:
                return None
            case [str(user), str(binding), float(left_s)]:
                return LiveSession(user, binding, left_s)
            case _:
                raise self._malformed()

    async def end_session(self, ident: str) -> None:
        """End a session."""
        await self._channel.call("end_session", ident)

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token; what the coordinator's own memory does not tell in time is not known."""
        value = await self._channel.call("spend", once.token_id, float(once.issued), float(once.expires))
        match value:
            case "first" | "again" | "outdated" | "full":
                return Spending(value)
            case "unknown":
                raise StoreError("the coordinator cannot reach the memory of used tokens")
            case _:
                raise self._malformed()

    def _give_back(self, value: Any) -> None:
        """Release the slot in an answer that nobody takes."""
        match value:
            case ["lease", str(lease_id)]:
                self._channel.tell("release", lease_id)
            case _:
                pass

    def _page(self, value: Any) -> list[RunLease]:
        match value:
            case [*forms]:
                return [self._run(form) for form in forms]
            case _:
                raise self._malformed()

    def _run(self, form: Any) -> RunLease:
        match form:
            case [str(lease_id), str(run_id), str(principal), float(age_s)]:
                return RunLease(lease_id, run_id, principal, age_s)
            case _:
                raise self._malformed()

    def _owner(self, form: Any) -> Owner:
        match form:
            case [str(name), str(group)]:
                return Owner(name, group)
            case _:
                raise self._malformed()

    def _seconds(self, value: Any) -> float:
        match value:
            case float():
                return value
            case _:
                raise self._malformed()

    def _malformed(self) -> StoreError:
        self._channel.close()
        return StoreError("the coordinator answered in an unknown form")
