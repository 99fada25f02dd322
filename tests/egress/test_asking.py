"""What the hooks ask."""

from pathlib import Path

import pytest

from egress.test_judges import judges
from herma.egress.asking import CANARY, Asking, place_of
from herma.egress.line import Failed, Sent, decode
from herma.egress.voice import Voice
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination
from support.redactor import GITHUB


class Out:
    """Where the lines go."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, data: bytes, /) -> None:
        """Keep it."""
        self.lines.append(data)

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0


@pytest.fixture
def out() -> Out:
    """The lines."""
    return Out()


@pytest.fixture
def asking(tmp_path: Path, out: Out) -> Asking:
    """With the configuration of the judges' tests."""
    return Asking(judges(tmp_path), Voice(out))


def test_the_canary_is_refused_and_nobody_s_request(asking: Asking, out: Out) -> None:
    """It leaves no record."""
    place = place_of(asking.canary, 443)
    assert asking.asked(place) is CANARY
    asking.end(asking.begin(place, "CONNECT"))
    assert out.lines == []


def test_what_is_no_place_is_refused(asking: Asking) -> None:
    """There is nothing to connect to."""
    assert isinstance(asking.asked(place_of("a b", 443)), Deny)
    assert place_of("::1", 443) == place_of("0:0::1", 443)


def test_a_secret_in_a_name_is_refused(asking: Asking) -> None:
    """Whoever resolves it would read it."""
    place = Destination(f"{GITHUB.lower()}.listed.example.com", 443)
    assert isinstance(asking.named(place, f"{GITHUB}.listed.example.com"), Deny)
    assert isinstance(asking.named(place, "www.listed.example.com"), Allow)


def test_a_secret_that_is_cut_into_labels_is_refused(asking: Asking) -> None:
    """A label has 63 letters, and a value may have dots."""
    place = Destination("x.listed.example.com", 443)
    for name in (f"{GITHUB[:12]}.{GITHUB[12:]}", f"a.{GITHUB[:9]}.{GITHUB[9:20]}.{GITHUB[20:]}"):
        assert isinstance(asking.named(place, f"{name}.listed.example.com"), Deny), name


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("www.listed.example.com", "www.listed.example.com"),
        (f"{GITHUB}.listed.example.com", "-.listed.example.com"),
        (f"{GITHUB}.example.com", "-.example.com"),
        (GITHUB, "-"),
    ],
)
def test_no_record_holds_a_secret(asking: Asking, written: str, shown: str) -> None:
    """In the name of a host, or in the place of a method."""
    sending = asking.begin(Destination(written.lower(), 443), GITHUB, written)
    assert (sending.host, sending.method) == (shown, "-")


def test_a_judgement_of_a_name_is_kept_until_others_judge(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no more of them than some."""
    place = Destination("www.listed.example.com", 443)
    first = asking.named(place, place.name)
    assert asking.named(place, place.name) is first
    monkeypatch.setattr("herma.egress.asking.MAX_NAMES", 1)
    asking.named(place, "other.example.com")
    assert asking.named(place, place.name) is not first
    again = asking.named(place, place.name)
    asking.swap(judges(tmp_path))
    assert asking.named(place, place.name) is not again


def test_a_refusal_and_a_failure_are_written_down(asking: Asking, out: Out) -> None:
    """By name and code, with the platform."""
    sending = asking.begin(place_of("matrix.example.org", 443), "POST")
    asking.refuse(sending, CANARY)
    asking.end(sending)
    asking.failed("request", ValueError("text"))
    sent, failed = map(decode, out.lines)
    assert isinstance(sent, Sent)
    assert (sent.platform, sent.outcome, sent.status, sent.code) == ("matrix", "denied", 403, CANARY.code)
    assert failed == Failed("request", "ValueError")
