"""Asks the core about destinations, for all hooks alike, and writes down what it says."""

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from herma.egress.record import Sending, Sink
from herma.policy.address import Address
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination, Destinations, destination
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.outward import Kind, Outward

__all__ = ["Asking", "place_of"]

_CANARY: Final = Deny(403, "herma.egress.canary", "The canary of the start.", close=True)


def place_of(host: str, port: int) -> Destination | None:
    """Read where a connection or a request is to lead; None for what is no host."""
    return destination(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", port)


class Asking:
    """What is known of destinations. `canary` is a name that is refused in every mode: the start asks for it.

    `pinned` are hosts whose programs trust no authority but their own.
    """

    def __init__(
        self,
        destinations: Destinations,
        outward: Outward,
        sink: Sink,
        pinned: Sequence[HostPattern] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._destinations = destinations
        self._outward = outward
        self._sink = sink
        self._pinned = tuple(pinned)
        self._clock = clock
        self.canary = f"{uuid.uuid4().hex}.invalid"

    def asked(self, place: Destination | None) -> Allow | Deny:
        """Judge a destination by its name."""
        if place is None:
            return self._destinations.unreadable()
        if place.name == self.canary:
            return _CANARY
        return self._destinations.asked(place)

    def resolved(self, place: Destination, addresses: Sequence[Address]) -> Allow | Deny:
        """Judge a destination by its addresses."""
        return self._destinations.resolved(place, addresses)

    def agreeing(self, place: Destination, told: str) -> Allow | Deny:
        """Judge another name that is given for it."""
        return self._destinations.agreeing(place, told)

    def unread(self, place: Destination) -> bool:
        """Tell whether what goes there is not looked at."""
        return self._outward.kind(place) is Kind.MODEL or covered(self._pinned, place.name, place.port)

    def begin(self, place: Destination | None, method: str) -> Sending:
        """Begin the record of a request, a tunnel or a message."""
        sending = Sending(exchange=uuid.uuid4().hex[:16], started=self._clock(), method=method)
        if place is not None:
            sending.host, sending.port = place.name, place.port
            sending.kind = str(self._outward.kind(place))
        return sending

    def end(self, sending: Sending) -> None:
        """Write a record."""
        self._sink.sent(sending, self._clock())

    def refuse(self, sending: Sending, deny: Deny) -> None:
        """Note in a record that it was refused."""
        sending.add(deny.findings)
        sending.status, sending.code, sending.outcome = deny.status, deny.code, "denied"

    def failed(self, hook: str, error: Exception) -> None:
        """Tell which hook failed."""
        self._sink.failed(hook, type(error).__name__)
