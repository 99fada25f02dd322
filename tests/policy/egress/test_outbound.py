"""A request on its way out."""

from herma.policy.egress.destination import Destination
from herma.policy.egress.outbound import Outbound


def test_of_several_types_none_is_known() -> None:
    """Two readers could each believe another one."""
    fields = ((b"Content-Type", b"text/plain"), (b"content-type", b"application/json"))
    request = Outbound(Destination("a.example", 443), "POST", b"/", fields)
    assert request.content_type == b"text/plain, application/json"
