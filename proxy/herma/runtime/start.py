"""What every process of the gate is started with."""

from collections.abc import Mapping
from dataclasses import dataclass

from herma.config.settings import Settings
from herma.policy.limits.throttle import ThrottleLimits
from herma.policy.secret import Secret
from herma.runtime.generation import Content
from herma.runtime.log import Log
from herma.runtime.sockets import Bound
from herma.store import RunLease

__all__ = ["Start", "throttle_limits"]


@dataclass(frozen=True, slots=True)
class Start:
    """A valid configuration, its content, and the sockets that were bound for it.

    `fingerprint_key` is used where the configuration names none; it is made once, so that all workers mask alike.
    """

    settings: Settings
    content: Content
    fingerprint_key: Secret
    environ: Mapping[str, str]
    sockets: tuple[Bound, ...]
    log: Log

    @property
    def listeners(self) -> tuple[Bound, ...]:
        """The sockets that callers connect to."""
        return tuple(bound for bound in self.sockets if bound.listener >= 0)

    @property
    def admin(self) -> Bound:
        """The socket of the admin listener."""
        return next(bound for bound in self.sockets if bound.listener < 0)

    def dropped(self, run: RunLease) -> None:
        """Say that a run was given up: its end was never seen."""
        self.log(
            "run.dropped", f"a run of key {run.principal} has not ended for too long; its slot is free again"
        )

    def announce(self) -> None:
        """Say where requests are taken."""
        addresses = ", ".join(str(listener.address) for listener in self.settings.listen)
        self.log("serving", f"serving on {addresses}, admin on {self.settings.admin.address}")


def throttle_limits(settings: Settings) -> ThrottleLimits:
    """Return the configured delays after failed attempts."""
    failures = settings.auth.failures
    return ThrottleLimits(failures.free_attempts, failures.base_delay_s, failures.max_delay_s)
