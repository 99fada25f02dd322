"""What the ingress works with: the generation that configuration makes for an upstream, and what outlives it."""

import asyncio
import itertools
import secrets
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace

from herma.config.settings import Settings
from herma.config.upstream import Upstream
from herma.identity import Accounts, Credentials, Fires, Keyring, KeySets, KeySource, PasswordChecker
from herma.ingress.record import AuditSink, Meter, Record
from herma.ingress.upstream_key import UpstreamKey
from herma.policy.limits.lifecycle import Lifecycle
from herma.policy.message.host import HostPolicy
from herma.policy.pipeline import Pipeline
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.secret import Secret
from herma.policy.socket.held_turns import HeldTurns
from herma.store import Store
from herma.wire import Pool

__all__ = ["Generation", "Plane", "Planes"]


@dataclass(frozen=True, slots=True)
class Generation:
    """Everything that one version of the configuration decides for one upstream; a reload makes a new one.

    `name` is the upstream's in the configuration. An exchange keeps the generation it began with, so that a reload never changes the rules in the middle of a stream.
    `hosts` has one policy per listener, in the order of the configuration, None where the listener does not lead to this upstream.
    `fires` are those who may start a job there; None where nobody may. `authorities` are those whose certificates of callers are taken.
    """

    name: str
    settings: Settings
    upstream: Upstream
    profile: Profile
    pipeline: Pipeline
    keyring: Keyring
    credentials: Credentials
    accounts: Accounts
    redactor: Redactor
    pool: Pool
    authority: bytes
    key: UpstreamKey
    hosts: tuple[HostPolicy | None, ...]
    fires: Fires | None = None
    authorities: frozenset[bytes] = frozenset()

    @property
    def key_sources(self) -> frozenset[KeySource]:
        """Where the keys are that tokens are verified with."""
        return self.credentials.tokens.sources | (
            self.fires.sources if self.fires is not None else frozenset()
        )

    @property
    def upstream_key(self) -> Secret | None:
        """The upstream's own key as it is now; None before there is one."""
        return self.key.value


def _ids() -> Iterator[str]:
    """Name exchanges: unique, not secret. A random part for each process and start, then a number."""
    start = secrets.token_hex(4)
    for number in itertools.count():
        yield f"{start}{number:08x}"


@dataclass(slots=True)
class Held:
    """Bytes of request bodies in memory."""

    total: int = 0


@dataclass(slots=True)
class Plane:
    """The parts of the data plane of one upstream that outlive a reload; `generation` is the one that new exchanges get.

    All but `generation`, `store` and `turns` is shared with the planes of other upstreams. `known` remembers when the store was last told
    that an address can authenticate. `passwords` verifies them, and `attempts` are the addresses that have one verified now.
    `key_sets` are the keys of issuers of tokens. `turns` are those that calls over WebSockets started.
    `buffered` counts request bytes held in memory by all exchanges of this process; `active` are the exchanges under way, by name; `ids`
    names the next one.
    """

    generation: Generation
    store: Store
    lifecycle: Lifecycle
    audit: AuditSink
    meter: Meter
    known: dict[str, float] = field(default_factory=dict)
    passwords: PasswordChecker = field(default_factory=PasswordChecker)
    key_sets: KeySets = field(default_factory=KeySets)
    attempts: set[str] = field(default_factory=set)
    turns: HeldTurns = field(default_factory=HeldTurns)
    buffered: Held = field(default_factory=Held)
    active: dict[str, Record] = field(default_factory=dict)
    ids: Iterator[str] = field(default_factory=_ids)
    _kept: set[asyncio.Task[object]] = field(default_factory=set)

    def beside(self, generation: Generation, store: Store) -> "Plane":
        """Return the plane of another upstream of this process."""
        return replace(self, generation=generation, store=store, turns=HeldTurns())

    @property
    def busy(self) -> int:
        """How much is under way: exchanges, and work whose caller left."""
        return len(self.active) + len(self._kept)

    async def keep[T](self, work: Coroutine[object, object, T]) -> T:
        """Await work that goes on when the waiter is cancelled.

        A task group would end with its first failing member; here a failure reaches the waiter, or, when the waiter
        left, is counted and dropped.
        """
        task = self._keep(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._unheard)
            raise

    def start(self, work: Coroutine[object, object, object]) -> None:
        """Begin work that nobody waits for, but the gate before it stops; a failure is counted."""
        self._keep(work).add_done_callback(self._unheard)

    def _keep[T](self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        return task

    def _unheard(self, task: asyncio.Task[object]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.meter.count("kept_work_failed")


class Planes:
    """The planes of all upstreams of this process; the first is the one that names which lead nowhere else lead to."""

    def __init__(self, planes: Sequence[Plane]) -> None:
        self.default = planes[0]
        # A name that an upstream has for itself is looked at first.
        self._order = (*planes[1:], planes[0])

    def door(self, listener: int, host: str, port: int | None) -> tuple[Plane, HostPolicy] | None:
        """Return the upstream that a `Host` leads to at a listener, and the names it has there; None when it leads to none."""
        for plane in self._order:
            hosts = plane.generation.hosts[listener]
            if hosts is not None and hosts.allows(host, port):
                return plane, hosts
        return None
