"""Secrets that a platform is told to show to an address."""

import pytest

from herma.policy.egress.handed_on import handed_on
from herma.policy.egress.platform import HandedOn, InUse

HANDED = (HandedOn(InUse(("/secret_token",)), "/url"),)
FORM = b"application/x-www-form-urlencoded"
MULTIPART = b"multipart/form-data; boundary=cut"
PARTS = (
    b'--cut\r\nContent-Disposition: form-data; name="url"\r\n\r\nhttps://%s/x\r\n'
    b'--cut\r\nContent-Disposition: form-data; name="secret_token"\r\n\r\ns3cret\r\n--cut--\r\n'
)


def named(name: str, port: int) -> bool:
    """Know one host."""
    return (name, port) == ("own.example", 443)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"url": "https://other.example/", "secret_token": "s3cret"}', b"application/json"),
        (b'{"url": "https://own.example:8443/", "secret_token": "s3cret"}', b"application/json"),
        (b'{"url": "https://own.example@other.example/", "secret_token": "s3cret"}', b"application/json"),
        (b'{"\\u0075rl": "https://other.example/", "secret_token": "s3cret"}', b"application/json"),
        (b"url=https%3A%2F%2Fother.example&secret_token=s3cret", FORM),
        (b"url=https://own.example/&url=https://other.example/&secret_token=s3cret", FORM),
        (b"secret_token=s3cret", FORM),
        (PARTS % b"other.example", MULTIPART),
    ],
)
def test_a_secret_to_a_stranger_is_given(raw: bytes, kind: bytes) -> None:
    """However the two are written."""
    assert list(handed_on(raw, kind, HANDED, named)) == [b"s3cret"]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (rb'{"url": "https:\/\/OWN.example\/x", "secret_token": "s3cret"}', b"application/json"),
        (b"url=https://own.example&secret_token=s3cret", FORM),
        (b"url=&secret_token=s3cret", FORM),
        (PARTS % b"own.example", MULTIPART),
        (b"url=https://other.example", FORM),
    ],
)
def test_a_secret_to_a_named_host_is_not(raw: bytes, kind: bytes) -> None:
    """Nor where a web hook is taken away."""
    assert list(handed_on(raw, kind, HANDED, named)) == []


def test_other_calls_hand_nothing_on() -> None:
    """And are not read."""
    assert list(handed_on(b"secret_token=x", FORM, (), named)) == []
