"""Asks the core about destinations, for all hooks alike, and writes down what it says."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from herma.egress.judges import Judges
from herma.egress.record import Sending, Sink
from herma.egress.soundness import is_sound
from herma.policy.address import Address
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination, destination
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Outbound, Outward

__all__ = ["CANARY", "Asking", "place_of"]

CANARY: Final = Deny(403, "herma.egress.canary", "The canary of the start.", close=True)


# A value is cut at 63 letters to be a name, and may have dots itself.
MAX_LABELS: Final = 4
# Names whose judgement is remembered: an agent asks a few hosts again and again.
MAX_NAMES: Final = 256


def place_of(host: str, port: int) -> Destination | None:
    """Read where a connection or a request is to lead; None for what is no host."""
    return destination(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", port)


class Asking:
    """What is judged by, now. `canary` is a name that is refused in every mode: the start asks for it."""

    def __init__(self, judges: Judges, sink: Sink, clock: Callable[[], float] = time.monotonic) -> None:
        self._judges = judges
        self._sink = sink
        self._clock = clock
        self._named: dict[tuple[Destination, str], Allow | Deny] = {}
        self.canary = f"{uuid.uuid4().hex}.invalid"

    def swap(self, judges: Judges) -> None:
        """Judge by others from now on; what is being judged is judged by the old ones."""
        self._judges = judges
        self._named.clear()

    @property
    def outward(self) -> Outward:
        """What judges whole requests and messages."""
        return self._judges.outward

    @property
    def masker(self) -> Masker:
        """What masks."""
        return self._judges.masker

    def asked(self, place: Destination | None) -> Allow | Deny:
        """Judge a destination by its name."""
        if place is None:
            return self._judges.destinations.unreadable()
        if place.name == self.canary:
            return CANARY
        return self._judges.destinations.asked(place)

    def named(self, place: Destination, written: str) -> Allow | Deny:
        """Judge what a name itself tells whoever resolves it: `<secret>.example.com` is a way out, too."""
        if (known := self._named.get((place, written))) is not None:
            return known
        fields = ((b"host", part.encode("utf-8", "replace")) for part in _parts(written))
        judged = self.outward.request(Outbound(place, "CONNECT", b"", tuple(fields)))
        if len(self._named) >= MAX_NAMES:
            self._named.clear()
        return self._named.setdefault(
            (place, written), judged if isinstance(judged, Deny) else Allow(judged.findings)
        )

    def shown(self, place: Destination, written: str) -> str:
        """Write a destination for those who read the audit: without the labels of its name in which a secret stands."""
        if place.name == self.canary or self._is_plain(place, written):
            return place.name
        labels = place.name.split(".")
        ends = (".".join(labels[-count:]) for count in (3, 2) if count < len(labels))
        return next((f"-.{end}" for end in ends if self._is_plain(place, end)), "-")

    def _is_plain(self, place: Destination, written: str) -> bool:
        judged = self.named(place, written)
        return isinstance(judged, Allow) and not judged.findings

    def resolved(self, place: Destination, addresses: Sequence[Address]) -> Allow | Deny:
        """Judge a destination by its addresses."""
        return self._judges.destinations.resolved(place, addresses)

    def agreeing(self, place: Destination, told: str) -> Allow | Deny:
        """Judge another name that is given for it."""
        return self._judges.destinations.agreeing(place, told)

    def unread(self, place: Destination) -> bool:
        """Tell whether what goes there is not looked at."""
        return self._judges.unread(place)

    def begin(self, place: Destination | None, method: str, written: str = "") -> Sending:
        """Begin the record of a request, a tunnel or a message; `written` is the name as it was given."""
        sending = Sending(exchange=uuid.uuid4().hex[:16], started=self._clock(), method=method)
        if not is_sound(method.encode("utf-8", "replace"), (), ()):
            sending.method = "-"
        if place is not None:
            sending.host, sending.port = self.shown(place, written or place.name), place.port
            sending.kind = str(self.outward.kind(place))
            sending.platform = self._judges.platform(place)
        return sending

    def end(self, sending: Sending) -> None:
        """Write a record; the canary of the start is nobody's request."""
        if sending.host == self.canary:
            return
        self._sink.sent(sending, self._clock())

    def refuse(self, sending: Sending, deny: Deny) -> None:
        """Note in a record that it was refused."""
        sending.add(deny.findings)
        sending.status, sending.code, sending.outcome = deny.status, deny.code, "denied"

    def failed(self, hook: str, error: Exception) -> None:
        """Tell which hook failed."""
        self._sink.failed(hook, type(error).__name__)


def _parts(name: str) -> Iterator[str]:
    """Give a name, and some of its labels behind each other: with their dots, and as one word."""
    yield name
    labels = name.split(".")
    for at in range(len(labels) - 1):
        for end in range(at + 1, min(at + MAX_LABELS, len(labels)) + 1):
            yield ".".join(labels[at:end])
            if end > at + 1:
                yield "".join(labels[at:end])
