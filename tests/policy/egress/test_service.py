"""Who is shown the agent's key, and where."""

import json

import pytest

from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.platform import InUse
from herma.policy.egress.service import FORM, MAX_KEY_BYTES, Apart, Service, Services, kept_apart

HOST = HostPattern.parse("api.search.example")
PLACES = (InUse(("/key",)), InUse(("/auth/api_key",)))


def test_a_host_that_nobody_named_is_shown_nothing() -> None:
    """It is a stranger."""
    services = Services([Service("search", (HOST,))])
    assert services.at("evil-api.search.example", 443) is None
    assert Services().at("api.search.example", 443) is None
    assert services.at("api.search.example", 443) is not None


def test_fields_are_those_that_every_service_of_a_host_names() -> None:
    """One that names none is shown the key in any field for credentials."""
    headers = [(b"Authorization", b"a"), (b"X-Api-Key", b"b")]
    one = Service("one", (HOST,), fields=(b"authorization",))
    shown = Services([one]).at("api.search.example", 443)
    both = Services([one, Service("own", (HOST,), ("/key",))]).at("api.search.example", 443)
    assert shown is not None
    assert both is not None
    assert shown.others(headers) == [(b"X-Api-Key", b"b")]
    assert both.others(headers) == []
    assert (len(shown.places), len(both.places)) == (0, 1)


@pytest.mark.parametrize(
    ("raw", "rest", "keys"),
    [
        (b"q=x&key=k3y-1", b"q=x", (b"k3y-1",)),
        (b"k%65y=k3y%2D1", b"", (b"k3y-1",)),
        (b"key=a+b", b"key=a+b", ()),
        (b"key=A%3D1%2CB%3D2", b"key=A%3D1%2CB%3D2", ()),
        (b"key=", b"key=", ()),
        (b"keys=k3y-1&key", b"keys=k3y-1&key", ()),
        (b"key=" + b"k" * MAX_KEY_BYTES, b"", (b"k" * MAX_KEY_BYTES,)),
        (b"key=" + b"k" * (MAX_KEY_BYTES + 1), b"key=" + b"k" * (MAX_KEY_BYTES + 1), ()),
    ],
)
def test_keys_are_taken_out_of_pairs(raw: bytes, rest: bytes, keys: tuple[bytes, ...]) -> None:
    """Only what looks like one, where one is in use."""
    assert kept_apart(raw, FORM, PLACES) == Apart(rest, keys)


@pytest.mark.parametrize(
    ("said", "rest", "keys"),
    [
        ({"key": "k3y-1", "q": "x"}, b'{"key": "", "q": "x"}', (b"k3y-1",)),
        ({"auth": {"api_key": "k"}, "key": "é"}, None, (b"k",)),
        ({"auth": {"key": "k3y-1"}}, None, ()),
        ({"key": "A=1\nB=2"}, None, ()),
        ({"key": ["k3y-1"]}, None, ()),
    ],
)
def test_keys_are_taken_out_of_json(said: object, rest: bytes | None, keys: tuple[bytes, ...]) -> None:
    """By their place, and never one with an escape in it."""
    raw = json.dumps(said).encode()
    apart = kept_apart(raw, b"application/json", PLACES)
    assert apart.keys == keys
    if rest is not None:
        assert apart.rest == rest
    if not keys:
        assert apart.rest is raw


@pytest.mark.parametrize("raw", [b"key=k3y-1", b"\xff\xfe", b"{"])
def test_what_is_neither_stays_whole(raw: bytes) -> None:
    """It is judged as it is."""
    assert kept_apart(raw, b"text/plain", PLACES) == Apart(raw)


def test_without_places_nothing_is_read() -> None:
    """The same bytes, whatever they are."""
    raw = b'{"key": "k3y-1"}'
    assert kept_apart(raw, b"application/json", ()).rest is raw


def test_a_key_is_not_shown_by_accident() -> None:
    """Neither by what was taken apart nor by the rest of it."""
    assert "k3y-1" not in repr(kept_apart(b"q=k3y-1&key=k3y-1", FORM, PLACES))
