"""The small values."""

import hashlib

import pytest

from herma.config.values import KeyHash, PublicName, Tcp, Unix, UpstreamUrl

SALT = bytes(range(16))
TEXT = f"sha256:{SALT.hex()}:{hashlib.sha256(SALT + b'fake-key').hexdigest()}"

AUTHORITIES = {
    "http": (UpstreamUrl(Tcp("a", 80)), "a"),
    "http elsewhere": (UpstreamUrl(Tcp("a", 8642)), "a:8642"),
    "https": (UpstreamUrl(Tcp("a", 443), tls=True), "a"),
    "https on 80": (UpstreamUrl(Tcp("a", 80), tls=True), "a:80"),
    "IPv6": (UpstreamUrl(Tcp("::1", 8642)), "[::1]:8642"),
    "unix": (UpstreamUrl(Unix("/a")), "localhost"),
}


@pytest.mark.parametrize(("url", "authority"), AUTHORITIES.values(), ids=AUTHORITIES)
def test_authority_leaves_the_usual_port_out(url: UpstreamUrl, authority: str) -> None:
    """`Host` has the form that servers compare with."""
    assert url.authority == authority


def test_values_write_themselves_as_they_are_configured() -> None:
    """Messages show addresses as a person writes them."""
    assert str(Tcp("::1", 80)) == "[::1]:80"
    assert str(PublicName("::1", 80)) == "[::1]:80"
    assert str(PublicName("a")) == "a"
    assert str(UpstreamUrl(Tcp("a", 443), tls=True)) == "https://a:443"
    assert str(UpstreamUrl(Unix("/a"))) == "unix:/a"


def test_hash_knows_its_key_and_hides_itself() -> None:
    """The stored form is read and written unchanged, and does not show in a debug print."""
    stored = KeyHash.parse(TEXT)
    assert stored.is_of(b"fake-key")
    assert not stored.is_of(b"fake-kez")
    assert str(stored) == TEXT
    assert SALT.hex() not in repr(stored)


BROKEN = {
    "empty": "",
    "other algorithm": TEXT.replace("sha256", "md5"),
    "short salt": f"sha256:{'ab' * 15}:{'0' * 64}",
    "long salt": f"sha256:{'ab' * 65}:{'0' * 64}",
    "half a byte": f"sha256:{'a' * 33}:{'0' * 64}",
    "short digest": TEXT[:-1],
    "upper case": TEXT.upper(),
    "line end": TEXT + "\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_other_form_of_hash_is_refused(text: str) -> None:
    """A hash that was cut or made by hand is told, and not repeated."""
    with pytest.raises(ValueError, match="`herma key hash`") as caught:
        KeyHash.parse(text)
    assert not text or text not in str(caught.value)
