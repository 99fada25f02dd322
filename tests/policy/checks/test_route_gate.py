"""Claims about `herma.policy.checks.route_gate`."""

from herma.policy.checks.route_gate import RouteGate
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Phase
from support.exchanges import exchange, match


def test_an_unknown_route_is_refused_in_strict_mode_only() -> None:
    """Otherwise it is reported, and the other checks look at it."""
    unknown = exchange(route=match("unknown", known=False))
    passed = RouteGate(strict=False).decide(unknown, Phase.REQUEST_HEAD)
    assert isinstance(passed, Allow)
    assert [finding.rule_id for finding in passed.findings] == ["route-unknown"]
    denied = RouteGate(strict=True).decide(unknown, Phase.REQUEST_HEAD)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (404, "herma.route.unknown")


def test_a_closed_route_is_refused_always() -> None:
    """A known and open one passes."""
    denied = RouteGate(strict=False).decide(exchange(route=match(closed=True)), Phase.REQUEST_HEAD)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (403, "herma.route.closed")
    assert RouteGate(strict=True).decide(exchange(), Phase.REQUEST_HEAD) == Allow()
