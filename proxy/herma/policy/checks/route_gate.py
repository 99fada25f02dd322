"""Which routes there are: strict mode refuses what the profile does not name."""

from typing import ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase

__all__ = ["RouteGate"]


class RouteGate:
    """Refuses closed routes always, and unknown ones in strict mode."""

    id: ClassVar[str] = "route_gate"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_HEAD})

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge the route that was matched."""
        shut = exchange.match.route.shut
        if shut is not None:
            return shut
        if exchange.match.known:
            return Allow()
        finding = Finding("route-unknown", Level.INFORMATIONAL, "path")
        if self._strict:
            return Deny(404, "herma.route.unknown", "The gate does not know this route.", (finding,))
        return Allow((finding,))
