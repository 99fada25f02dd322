"""The start-up law."""

import pytest

from herma.config.listen import judge, provably_loopback, resolve
from herma.config.scalar import parse_address
from herma.config.values import FileMode, Unix
from support.config_text import resolver

PRIVATE, PUBLIC, REFUSED = "private", "public", "refused"

# The address as it is written, and what it is.
LAW = {
    "127.0.0.1:80": PRIVATE,
    "127.0.0.2:80": PRIVATE,
    "127.1.2.3:80": PRIVATE,
    "127.255.255.254:80": PRIVATE,
    "[::1]:80": PRIVATE,
    "[0:0:0:0:0:0:0:1]:80": PRIVATE,
    "localhost:80": PRIVATE,
    "LOCALHOST:80": PRIVATE,
    "loop.example.com:80": PRIVATE,
    "0.0.0.0:80": PUBLIC,
    "[::]:80": PUBLIC,
    "[::0]:80": PUBLIC,
    "10.0.0.1:80": PUBLIC,
    "172.16.0.1:80": PUBLIC,
    "192.168.1.1:80": PUBLIC,
    "169.254.1.1:80": PUBLIC,
    "169.254.169.254:80": PUBLIC,
    "100.64.0.1:80": PUBLIC,
    "192.0.2.7:80": PUBLIC,
    "126.255.255.255:80": PUBLIC,
    "128.0.0.1:80": PUBLIC,
    "255.255.255.255:80": PUBLIC,
    "224.0.0.1:80": PUBLIC,
    "[::2]:80": PUBLIC,
    "[fe80::1]:80": PUBLIC,
    "[fc00::1]:80": PUBLIC,
    "[fd12:3456::1]:80": PUBLIC,
    "[2001:db8::1]:80": PUBLIC,
    "[::ffff:127.0.0.1]:80": PUBLIC,
    "[::ffff:7f00:1]:80": PUBLIC,
    "[0:0:0:0:0:ffff:127.0.0.1]:80": PUBLIC,
    "[::ffff:0.0.0.0]:80": PUBLIC,
    "[::127.0.0.1]:80": PUBLIC,
    "[64:ff9b::127.0.0.1]:80": PUBLIC,
    "[2002:7f00:1::]:80": PUBLIC,
    "agent.example.com:80": PUBLIC,
    "mixed.example.com:80": PUBLIC,
    "mapped.example.com:80": PUBLIC,
    "scoped.example.com:80": PUBLIC,
    "nothing.example.com:80": PUBLIC,
    "missing.example.com:80": PUBLIC,
    "localhost.localdomain:80": PUBLIC,
    "0:80": REFUSED,
    "127.1:80": REFUSED,
    "127.0.1:80": REFUSED,
    "0x7f000001:80": REFUSED,
    "0x7f.0.0.1:80": REFUSED,
    "127.0.0.0x1:80": REFUSED,
    "2130706433:80": REFUSED,
    "0177.0.0.1:80": REFUSED,
    "127.0.0.01:80": REFUSED,
    "127.0.0.256:80": REFUSED,
    "127.0.0.1.:80": REFUSED,
    "localhost.:80": REFUSED,
    "[::1%lo]:80": REFUSED,
    "[fe80::1%eth0]:80": REFUSED,
    "[127.0.0.1]:80": REFUSED,
    "::1:80": REFUSED,
    "*:80": REFUSED,
    ":80": REFUSED,
    "127.0.0.1": REFUSED,
    "\uff11\uff12\uff17.0.0.1:80": REFUSED,
    "127.0.0.1 :80": REFUSED,
    "127\u30020\u30020\u30021:80": REFUSED,
    "user@127.0.0.1:80": REFUSED,
}


@pytest.mark.parametrize(("text", "expected"), LAW.items(), ids=LAW)
def test_address_is_loopback_only_when_that_is_proven(text: str, expected: str) -> None:
    """Odd spellings are refused, everything that others might reach is public."""
    if expected == REFUSED:
        with pytest.raises(ValueError, match=r"expected|write|leave"):
            parse_address(text)
        return
    verdict = judge(parse_address(text), FileMode(0o600), resolver)
    assert verdict.public is (expected == PUBLIC)
    assert verdict.reason


@pytest.mark.parametrize(
    ("mode", "public"),
    [(0o600, False), (0o400, False), (0o660, True), (0o666, True), (0o601, True), (0o700, True)],
)
def test_unix_socket_is_private_up_to_0600(mode: int, public: bool) -> None:
    """One bit beyond owner's read and write makes it public."""
    verdict = judge(Unix("/run/herma.sock"), FileMode(mode), resolver)
    assert verdict.public is public
    assert verdict.binds == ()


def test_addresses_that_were_judged_are_the_ones_to_bind() -> None:
    """A name is not resolved a second time."""
    assert judge(parse_address("localhost:80"), FileMode(0o600), resolver).binds == ("127.0.0.1", "::1")
    assert judge(parse_address("[0:0::1]:80"), FileMode(0o600), resolver).binds == ("::1",)
    assert judge(parse_address("missing.example.com:80"), FileMode(0o600), resolver).binds == ()


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "::1%1", "127.0.0.1:80"])
def test_text_that_is_no_address_is_not_loopback(text: str) -> None:
    """Only an address in its one spelling proves anything."""
    assert not provably_loopback(text)


def test_system_resolves_addresses_to_themselves() -> None:
    """The resolver used outside tests answers with plain addresses."""
    assert resolve("127.0.0.1") == ("127.0.0.1",)


def test_name_that_cannot_be_encoded_does_not_resolve() -> None:
    """A label that is too long is a name that does not resolve, not a crash."""
    with pytest.raises(OSError, match="not a name"):
        resolve("é" * 70)
