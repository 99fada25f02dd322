"""What the gate would make of a request that was recorded: the same questions in the same order, and nothing is sent.

Names are not resolved. What was recorded of addresses is judged, and without any the addresses are left for the gate to judge.
"""

from dataclasses import dataclass
from typing import Final

from herma.config.egress import Beyond, Egress
from herma.egress.asking import Asking
from herma.egress.coding import CODING, decoded
from herma.egress.judges import Judges
from herma.egress.record import Sending
from herma.egress.recorded import Recorded
from herma.egress.soundness import is_sound
from herma.policy.decision import Allow, Deny, Finding
from herma.policy.egress.destination import Destination, destination
from herma.policy.egress.outward import Outbound, Sent

__all__ = ["Rehearsal", "Rehearsed"]

_TOO_LARGE: Final = Deny(413, "herma.egress.too_large", "The body is larger than what is looked at.")
_UNSOUND: Final = Deny(400, "herma.egress.malformed", "The request can be read in more than one way.")


class _Nowhere:
    """A rehearsal is in no audit."""

    def sent(self, sending: Sending, finished: float) -> None:
        """Write nothing."""

    def failed(self, hook: str, kind: str) -> None:
        """Write nothing."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What would happen: `judged` is what is sent or why nothing is, `asked` what was judged, without its content coding.

    `unread` says that nobody looks at what goes there, or at a body of this size.
    """

    place: Destination | None
    kind: str
    platform: str
    judged: Sent | Deny
    findings: tuple[Finding, ...]
    asked: Outbound | None = None
    unread: bool = False


class Rehearsal:
    """Judges what was recorded as the gate of a section judges what is sent."""

    def __init__(self, judges: Judges, egress: Egress) -> None:
        self._judges = judges
        self._asking = Asking(judges, _Nowhere())
        self._egress = egress

    def of(self, request: Recorded) -> Rehearsed:
        """Judge one request or message."""
        place = destination(request.authority, request.default_port)
        if place is None:
            unreadable = self._judges.destinations.unreadable()
            return Rehearsed(None, "", "", unreadable, unreadable.findings)
        begun = self._asking.begin(place, request.method)
        line = (request.target, request.authority.encode("utf-8", "surrogatepass"))
        if not is_sound(request.method.encode("utf-8", "surrogatepass"), line, request.headers):
            return Rehearsed(place, begun.kind, begun.platform, _UNSOUND, ())
        reached = self._reached(place, request)
        if isinstance(reached, Deny):
            return Rehearsed(place, begun.kind, begun.platform, reached, reached.findings)
        body = request.body or b""
        if self._asking.unread(place) or (len(body) > self._limit and self._egress.beyond is Beyond.PASS):
            sent = Sent(request.target, body)
            return Rehearsed(place, begun.kind, begun.platform, sent, reached.findings, unread=True)
        plain = self._plain(request, body)
        if isinstance(plain, Deny):
            return Rehearsed(place, begun.kind, begun.platform, plain, plain.findings)
        asked = Outbound(place, request.method, request.target, request.headers, plain)
        outward = self._asking.outward
        message = request.message
        judged = outward.message(place, request.target, plain) if message else outward.request(asked)
        findings = (*reached.findings, *judged.findings)
        return Rehearsed(place, begun.kind, begun.platform, judged, findings, asked)

    @property
    def _limit(self) -> int:
        return self._egress.max_body_bytes

    def _reached(self, place: Destination, request: Recorded) -> Allow | Deny:
        """Judge where it goes: by name, by what the name tells, by addresses, and by the other name it may give."""
        decisions = [self._asking.asked(place), self._asking.named(place, request.authority)]
        if request.addresses:
            decisions.append(self._asking.resolved(place, request.addresses))
        decisions += [
            self._asking.agreeing(place, value.decode("latin-1"))
            for name, value in request.headers
            if name.lower() == b"host"
        ]
        findings: tuple[Finding, ...] = ()
        for one in decisions:
            if isinstance(one, Deny):
                return one
            findings += one.findings
        return Allow(findings)

    def _plain(self, request: Recorded, body: bytes) -> bytes | Deny:
        if len(body) > self._limit:
            return _TOO_LARGE
        coding = request.header(b"content-encoding").decode("latin-1")
        if request.packed:
            return decoded(body, coding, self._limit)
        # Written down plain: it only matters whether the gate knows the coding.
        return CODING if decoded(b"", coding, 0) is CODING else body
