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


def test_what_a_program_logs_in_with_is_judged_without_its_name() -> None:
    """One that is told by its own shape is refused."""
    form = ((b"content-type", b"application/x-www-form-urlencoded"),)
    place = Destination("a.example", 443)
    login = Outbound(place, "POST", b"/token", form, b"client_secret=Zq80123456789abcdefXy")
    assert list(TOLD.request(login, None)) == []
    stolen = Outbound(place, "POST", b"/token", form, b"client_secret=" + GITHUB.encode())
    assert [finding.rule_id for finding in TOLD.request(stolen, None)] == ["egress-secret"]
