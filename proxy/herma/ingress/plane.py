"""What the ingress works with: the generation that configuration makes, and what outlives it."""

import asyncio
import itertools
import secrets
import ssl
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field

from herma.config.settings import Settings
from herma.identity import Accounts, Keyring, PasswordChecker
from herma.ingress.record import AuditSink, Meter, Record
from herma.policy.limits.lifecycle import Lifecycle
from herma.policy.message.host import HostPolicy
from herma.policy.pipeline import Pipeline
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.secret import Secret
from herma.store import Store
from herma.wire import Pool

__all__ = ["Generation", "Plane"]


@dataclass(frozen=True, slots=True)
class Generation:
    """Everything that one version of the configuration decides; a reload makes a new one.

    An exchange keeps the generation it began with, so that a reload never changes the rules in the middle of a stream.
    `hosts` has one policy per listener, in the order of the configuration; so has `contexts` its TLS, None where it speaks none.
    """

    settings: Settings
    profile: Profile
    pipeline: Pipeline
    keyring: Keyring
    accounts: Accounts
    redactor: Redactor
    pool: Pool
    authority: bytes
    upstream_key: Secret | None
    hosts: tuple[HostPolicy, ...]
    contexts: tuple[ssl.SSLContext | None, ...]


def _ids() -> Iterator[str]:
    """Name exchanges: unique, not secret. A random part for each process and start, then a number."""
    start = secrets.token_hex(4)
    for number in itertools.count():
        yield f"{start}{number:08x}"


@dataclass(slots=True)
class Plane:
    """The parts of the data plane that outlive a reload; `generation` is the one that new exchanges get.

    `known` remembers when the store was last told that an address can authenticate. `passwords` verifies them, and `attempts` are the addresses that have one verified now. `buffered` counts request bytes held in memory by all exchanges of this process; `active` are the exchanges under way; `ids` names the next one.
    """

    generation: Generation
    store: Store
    lifecycle: Lifecycle
    audit: AuditSink
    meter: Meter
    known: dict[str, float] = field(default_factory=dict)
    passwords: PasswordChecker = field(default_factory=PasswordChecker)
    attempts: set[str] = field(default_factory=set)
    buffered: int = 0
    active: dict[str, Record] = field(default_factory=dict)
    ids: Iterator[str] = field(default_factory=_ids)
    _kept: set[asyncio.Task[object]] = field(default_factory=set)

    @property
    def busy(self) -> int:
        """How much is under way: exchanges, and work whose caller left."""
        return len(self.active) + len(self._kept)

    async def keep[T](self, work: Coroutine[object, object, T]) -> T:
        """Await work that goes on when the waiter is cancelled.

        A task group would end with its first failing member; here a failure reaches the waiter, or, when the waiter
        left, is counted and dropped.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._unheard)
            raise

    def _unheard(self, task: asyncio.Task[object]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.meter.count("kept_work_failed")
