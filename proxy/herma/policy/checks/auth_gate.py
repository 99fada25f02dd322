"""Who is asking, and may they: before anything reads a body."""

from typing import ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase

__all__ = ["AuthGate"]


class AuthGate:
    """Refuses a caller that is not known, or whose key does not cover the operation.

    The ingress has taken the credential out of the head and verified it; here the result is judged. On a loopback
    listener without any key the ingress passes a local principal.
    """

    id: ClassVar[str] = "auth_gate"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_HEAD})

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge the principal against the route's scope."""
        route = exchange.match.route
        if route.public:
            return Allow()
        if exchange.principal is None:
            return Deny(401, "herma.auth.required", "A valid API key is required.")
        if not exchange.principal.may(route.scope):
            return Deny(
                403,
                "herma.auth.scope",
                f"This key may not do that; it needs the scope {route.scope.value}.",
                (Finding("auth-scope", Level.LOW),),
            )
        return Allow()
