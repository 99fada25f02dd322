"""The refusals that the ingress itself decides."""

import pytest

from herma.ingress.refusal import (
    Refusal,
    body_too_large,
    draining,
    full,
    slow_down,
    store_down,
    upstream_failed,
)
from herma.policy.decision import Deny
from herma.wire import UpstreamFailure

UPSTREAM = {
    "connect": (503, "herma.upstream.unreachable"),
    "busy": (503, "herma.upstream.busy"),
    "timeout": (504, "herma.upstream.timeout"),
    "too_large": (502, "herma.upstream.too_large"),
    "unjudged": (502, "herma.upstream.unjudged"),
    "protocol": (502, "herma.upstream.failed"),
    "closed": (502, "herma.upstream.failed"),
    "unasked_upgrade": (502, "herma.upstream.failed"),
}


def test_a_refusal_carries_its_denial() -> None:
    """What is raised is what is answered; its text is the code, which repeats nothing of the request."""
    deny = Deny(418, "herma.test", "a message")
    refusal = Refusal(deny)
    assert refusal.deny is deny
    assert str(refusal) == "herma.test"


def test_a_body_over_the_limit_names_the_limit() -> None:
    """The caller learns how much is taken, and the connection closes over the rest of the body."""
    deny = body_too_large(1024)
    assert deny.status == 413
    assert "1024" in deny.message
    assert deny.close
    assert not deny.retryable


@pytest.mark.parametrize(
    "deny", [draining(), full(3, "all"), slow_down(2.1), store_down()], ids=lambda d: d.code
)
def test_what_passes_may_be_repeated_later(deny: Deny) -> None:
    """A state that passes tells when to come again."""
    assert deny.retryable
    assert deny.retry_after_s is not None
    assert deny.retry_after_s >= 1


@pytest.mark.parametrize(("wait_s", "told"), [(0.001, 1), (1.0, 1), (1.2, 2), (30.0, 30)])
def test_a_wait_is_rounded_up(wait_s: float, told: int) -> None:
    """Who waits as long as told is not sent away again."""
    assert slow_down(wait_s).retry_after_s == told


def test_a_throttled_guess_is_not_to_be_repeated() -> None:
    """SDKs repeat a 429 on their own, which for a wrong key would only prolong the wait."""
    assert not slow_down(1.0, "herma.auth.throttled").retryable


@pytest.mark.parametrize(("which", "whose"), [("principal", "this key"), ("all", "the agent")])
def test_a_full_gate_says_whose_cap_is_reached(which: str, whose: str) -> None:
    """The caller's own cap and the common one are told apart, and nobody is told to wait no time at all."""
    deny = full(0, which)
    assert whose in deny.message
    assert deny.retry_after_s == 1


def test_every_failure_of_the_upstream_has_its_row() -> None:
    """The table below misses none."""
    assert {kind.value for kind in UpstreamFailure} <= set(UPSTREAM)


@pytest.mark.parametrize("kind", UPSTREAM)
@pytest.mark.parametrize("safe", [True, False])
def test_a_failing_upstream_is_a_gateway_error(kind: str, safe: bool) -> None:
    """502, 503 or 504 with a stable code; only what cannot start work twice may be repeated."""
    deny = upstream_failed(kind, safe=safe)
    assert (deny.status, deny.code) == UPSTREAM[kind]
    assert deny.retryable is safe
    assert (deny.retry_after_s is not None) is (deny.status == 503)
