"""What may be held of a body."""

from mitmproxy.test import tflow

from herma.egress.body import Body, body_of, give_body
from herma.egress.held import Held


def test_the_right_to_hold_is_found_again() -> None:
    """Only where it was given."""
    flow = tflow.tflow()
    assert body_of(flow) is None
    body = Body(Held(10, 20).ticket(), refuse=lambda _: None, tells=lambda _: True)
    give_body(flow, body)
    assert body_of(flow) is body
    assert not body.passes
