"""Claims about `herma.policy.checks.auth_gate`."""

from herma.policy.checks.auth_gate import AuthGate
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Phase
from herma.policy.grant import Scope
from support.exchanges import ADMIN, CALLER, exchange, match


def test_a_stranger_is_asked_for_a_key() -> None:
    """No principal, no passage, except to what is public."""
    denied = AuthGate().decide(exchange(principal=None), Phase.REQUEST_HEAD)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (401, "herma.auth.required")
    assert (
        AuthGate().decide(exchange(principal=None, route=match(public=True)), Phase.REQUEST_HEAD) == Allow()
    )


def test_a_key_is_held_to_its_scopes() -> None:
    """A scope that is missing is named; the one that covers passes, and admin covers all."""
    cron = match("cron.create", scope=Scope.CRON)
    denied = AuthGate().decide(exchange(principal=CALLER, route=cron), Phase.REQUEST_HEAD)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (403, "herma.auth.scope")
    assert "cron" in denied.message
    assert AuthGate().decide(exchange(principal=CALLER), Phase.REQUEST_HEAD) == Allow()
    assert AuthGate().decide(exchange(principal=ADMIN, route=cron), Phase.REQUEST_HEAD) == Allow()
