"""What strangers and services are told."""

import pytest

from herma.policy.egress.destination import Destination
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.outbound import Outbound
from herma.policy.egress.told import Told
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor

TOLD = Told(Exfiltration(redactor(), Watched.of(KEY, ["SERVICE_KEY=Q7k3yF0rTh3t3stOfIt0\n"])))


@pytest.mark.parametrize(
    ("target", "body", "place"),
    [
        (f"/{GITHUB}", "", "path"),
        (f"/?q={GITHUB}", "", "query"),
        (f"/?sig={GITHUB}", "", "query"),
        ("/", GITHUB, "body"),
    ],
)
def test_each_place_is_looked_at(target: str, body: str, place: str) -> None:
    """And named."""
    request = Outbound(Destination("a.example", 443), "POST", target.encode(), (), body.encode())
    assert {finding.place for finding in TOLD.request(request, None)} == {place}


def test_nothing_is_found_in_nothing() -> None:
    """An empty message is no work."""
    assert list(TOLD.held(("body", b""))) == []
