"""The word of a proxy."""

from ipaddress import ip_network

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.identity.vouching import Unvouched, VouchedRole, Vouching
from herma.policy.browser.role import Role
from herma.policy.decision import Deny
from herma.policy.grant import Principal
from herma.policy.secret import Secret
from support.heads import make_head

SECRET = b"fakeQ4mZt8Lw2Vr6Yc1Hs9Kd"
PROXY = "192.0.2.10"
VOUCHING = Vouching(
    peers=(ip_network("192.0.2.10/32"), ip_network("2001:db8::/64")),
    secret=Secret(SECRET),
    secret_header=b"x-herma-proxy-secret",
    user_header=b"x-forwarded-user",
    groups_header=b"x-forwarded-groups",
    roles=(VouchedRole(Role.ADMIN, user="alice"), VouchedRole(Role.OPERATOR, group="ops team")),
)
KNOWN = (b"X-Herma-Proxy-Secret", SECRET)


def user(name: bytes) -> tuple[bytes, bytes]:
    return (b"X-Forwarded-User", name)


def groups(listed: bytes) -> tuple[bytes, bytes]:
    return (b"X-Forwarded-Groups", listed)


def said(*headers: tuple[bytes, bytes], peer: str = PROXY, vouching: Vouching = VOUCHING) -> object:
    return vouching.caller(peer, make_head(*headers))


def principal(name: str, role: Role | None = None) -> Principal:
    return Principal(name, role.scopes if role else frozenset())


def test_the_proxy_names_the_user() -> None:
    """Whose role comes from the first entry that fits, by user or by group."""
    assert said(KNOWN, user(b"alice")) == principal("proxy:alice", Role.ADMIN)
    assert said(KNOWN, user(b"bob"), groups(b"dev, ops team")) == principal("proxy:bob", Role.OPERATOR)
    assert said(KNOWN, user(b"alice"), groups(b"ops team")) == principal("proxy:alice", Role.ADMIN)
    assert said(KNOWN, user(b"alice"), peer="2001:db8::7") == principal("proxy:alice", Role.ADMIN)
    assert said(KNOWN, user(b"alice"), peer="::ffff:192.0.2.10") == principal("proxy:alice", Role.ADMIN)


@pytest.mark.parametrize(
    "listed", [b"", b",", b"ops", b"ops  team", b"Ops team", b"ops teams", "öps".encode()]
)
def test_whom_no_entry_fits_may_do_nothing(listed: bytes) -> None:
    """Unless there is a role for everybody; groups are compared whole."""
    assert said(KNOWN, user(b"bob"), groups(listed)) == principal("proxy:bob")
    assert said(KNOWN, user(b"Alice")) == principal("proxy:Alice")
    wide = Vouching(
        (ip_network("192.0.2.10/32"),), Secret(SECRET), b"x-herma-a", b"x-forwarded-user", default=Role.VIEWER
    )
    assert said((b"X-Herma-A", SECRET), user(b"bob"), vouching=wide) == principal("proxy:bob", Role.VIEWER)
    assert said((b"X-Herma-A", SECRET), user(b"bob"), groups(b"ops team"), vouching=wide) == principal(
        "proxy:bob", Role.VIEWER
    )


@pytest.mark.parametrize("peer", ["192.0.2.11", "127.0.0.1", "2001:db8:0:1::7", "", "proxy", "0.0.0.0"])
def test_the_word_of_another_peer_does_not_count(peer: str) -> None:
    """Though it knows the secret; and it is not told whether it does."""
    assert said(KNOWN, user(b"alice"), peer=peer) is None
    assert said(KNOWN, KNOWN, user(b"alice"), user(b"bob"), peer=peer) is None


@pytest.mark.parametrize("secret", [b"", SECRET[:-1], SECRET + b"x", SECRET.lower(), b"\xff", b"x" * 5000])
def test_without_the_secret_the_proxy_is_anybody(secret: bytes) -> None:
    """Somebody else may have its address."""
    assert said((b"X-Herma-Proxy-Secret", secret), user(b"alice")) is Unvouched.WRONG_SECRET
    assert said(user(b"alice")) is Unvouched.WRONG_SECRET


def test_a_proxy_may_name_nobody() -> None:
    """For strangers that it lets through."""
    assert said() is None
    assert said(KNOWN) is None
    assert said(KNOWN, user(b"")) is None
    assert said(KNOWN, groups(b"ops team")) is None


@pytest.mark.parametrize(
    "headers",
    [
        (KNOWN, user(b"alice"), user(b"alice")),
        (KNOWN, user(b"bob"), (b"x-forwarded-USER", b"alice")),
        (KNOWN, KNOWN, user(b"alice")),
        (KNOWN, (b"X-Herma-Proxy-Secret", b"wrong"), user(b"alice")),
        (KNOWN, user(b"bob"), groups(b"a"), groups(b"ops team")),
        (KNOWN, user(b"bob, alice")),
        (KNOWN, user(b"bob;alice")),
        (KNOWN, user(b"a b")),
        (KNOWN, user(b"a\tb")),
        (KNOWN, user("älice".encode())),
        (KNOWN, user(b"x" * 256)),
        (KNOWN, user(b"bob"), groups(b"\xff")),
        (KNOWN, user(b"bob"), groups(b",".join([b"g"] * 1001))),
    ],
)
def test_what_has_two_meanings_is_refused(headers: tuple[tuple[bytes, bytes], ...]) -> None:
    """A client's header that the proxy let through stands beside the proxy's own."""
    found = said(*headers)
    assert isinstance(found, Deny)
    assert (found.status, found.code) == (400, "herma.auth.proxy_headers")


@given(st.binary(max_size=40).filter(lambda raw: not set(raw) & set(range(32)) and 127 not in raw))
def test_a_user_has_one_short_name(name: bytes) -> None:
    """Whatever the proxy writes, it is a name that can stand anywhere, nobody, or refused."""
    found = said(KNOWN, user(name))
    assert found is None or isinstance(found, Deny | Principal)
    if isinstance(found, Principal):
        assert found.name.isascii()
        assert found.name.isprintable()
        assert " " not in found.name
