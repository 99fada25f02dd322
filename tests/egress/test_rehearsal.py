"""What was recorded is judged as the gate judges what is sent."""

import gzip
import json
from functools import cache
from typing import Any

import pytest

from herma.config.egress import Beyond, Egress
from herma.config.values import Bytes
from herma.content.library import Library
from herma.egress.judges import Judges
from herma.egress.recorded import Recorded, at_url
from herma.egress.rehearsal import Rehearsal
from herma.policy.address import parse_address
from herma.policy.decision import Deny
from herma.policy.egress.destination import Destinations, EgressMode
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Outward, Sent
from herma.policy.egress.platform import Platforms
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor


@cache
def judges(mode: EgressMode = EgressMode.BLOCK_KNOWN_BAD) -> Judges:
    platforms, masker = Platforms(Library().platforms()), Masker(redactor())
    models = (HostPattern.parse("model.example.com"),)
    return Judges(
        destinations=Destinations(mode, Library().indicators()),
        outward=Outward(platforms, models, masker, Exfiltration(redactor(), Watched(KEY))),
        platforms=platforms,
        masker=masker,
        pinned=(HostPattern.parse("pinned.example.com"),),
    )


def rehearsal(egress: Egress | None = None) -> Rehearsal:
    return Rehearsal(judges(), egress or Egress())


def request(url: str, body: bytes | None = b"", **rest: Any) -> Recorded:
    authority, port, target = at_url(url)
    return Recorded(authority, port, rest.pop("method", "POST"), target, body=body, **rest)


SECRET = f"token is {GITHUB}".encode()
TELEGRAM = "https://api.telegram.org/bot1:a/sendMessage"
JSON = ((b"Content-Type", b"application/json"),)
REFUSED: dict[str, tuple[Recorded, str]] = {
    "a secret to a stranger": (request("https://a.example.com/", SECRET), "herma.egress.secret"),
    "one in the name": (request(f"https://{GITHUB}.example.com/"), "herma.egress.secret"),
    "one that is packed": (
        request(
            "https://a.example.com/",
            gzip.compress(SECRET),
            headers=((b"content-encoding", b"gzip"),),
            packed=True,
        ),
        "herma.egress.secret",
    ),
    "packed as nobody reads": (
        request("https://a.example.com/", b"x", headers=((b"content-encoding", b"br"),), packed=True),
        "herma.egress.encoding",
    ),
    "said to be packed": (
        request(
            "https://a.example.com/", b"plain", headers=((b"content-encoding", b"deflate"),), packed=True
        ),
        "herma.body.encoding_malformed",
    ),
    "larger than what is looked at": (request("https://a.example.com/", b"x" * 70_000), "herma.egress.too_large"),
    "a metadata service": (request("http://169.254.169.254/latest"), "herma.egress.metadata"),
    "a name that leads to one": (
        request("https://a.example.com/", addresses=(parse_address("169.254.169.254"),)),
        "herma.egress.metadata",
    ),
    "another name in Host": (
        request("https://a.example.com/", headers=((b"Host", b"b.example.com"),)),
        "herma.egress.fronting",
    ),
    "a field with an end of line in it": (
        request("https://a.example.com/", headers=((b"X-A", b"a\r\nX-B: b"),)),
        "herma.egress.malformed",
    ),
    "no host": (Recorded("[::1", 443, "GET", b"/"), "herma.egress.destination"),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "code"), REFUSED.values(), ids=REFUSED)
def test_what_the_gate_refuses_is_refused(recorded: Recorded, code: str) -> None:
    """With the code that the audit has."""
    found = rehearsal(Egress(max_body_bytes=Bytes(65_536))).of(recorded)
    assert isinstance(found.judged, Deny)
    assert found.judged.code == code
    assert not found.unread


def test_what_goes_to_people_is_masked() -> None:
    """As a request and as a message."""
    body = json.dumps({"chat_id": 1, "text": SECRET.decode()}).encode()
    for recorded in (
        request(TELEGRAM, body, headers=JSON),
        request("wss://gateway.discord.gg/?v=10", body, method="MESSAGE", message=True),
    ):
        found = rehearsal().of(recorded)
        assert isinstance(found.judged, Sent)
        assert GITHUB.encode() not in found.judged.body
        assert [finding.place for finding in found.findings] == ["/text"]
        assert found.asked is not None
        assert found.asked.body == body


def test_a_body_that_was_written_down_plain_is_taken_as_it_is() -> None:
    """Whatever its header says of how it travelled."""
    recorded = request(TELEGRAM, b'{"text": "hello"}', headers=(*JSON, (b"content-encoding", b"gzip")))
    assert isinstance(rehearsal().of(recorded).judged, Sent)


@pytest.mark.parametrize("name", ["model", "pinned"])
def test_what_is_not_looked_at_is_told(name: str) -> None:
    """Models get what the agent tells them."""
    found = rehearsal().of(request(f"https://{name}.example.com/", SECRET))
    assert found.unread
    assert found.judged == Sent(b"/", SECRET)


def test_a_larger_body_may_pass_unread() -> None:
    """Where the configuration says so."""
    egress = Egress(max_body_bytes=Bytes(65_536), beyond=Beyond.PASS)
    found = rehearsal(egress).of(request("https://a.example.com/", SECRET + b" " * 70_000))
    assert found.unread
    assert isinstance(found.judged, Sent)


def test_what_is_only_reported_is_in_the_findings() -> None:
    """Mode `observe`: it would pass, and be in the audit."""
    observing = Rehearsal(judges(EgressMode.OBSERVE), Egress())
    found = observing.of(request("http://169.254.169.254/"))
    assert isinstance(found.judged, Sent)
    assert "egress-metadata" in {finding.rule_id for finding in found.findings}


def test_a_request_without_a_recorded_body_is_judged_by_the_rest() -> None:
    """Its head alone may be refused."""
    assert isinstance(rehearsal().of(request("https://a.example.com/", None)).judged, Sent)
