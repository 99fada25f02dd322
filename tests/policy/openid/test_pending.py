"""A login that waits for the browser to come back."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.openid.pending import (
    LOGIN_FOR_S,
    MAX_COOKIE_CHARACTERS,
    RANDOM_BYTES,
    begun,
    resumed,
)
from herma.policy.secret import Secret

KEY = Secret(b"fake key of the gate, 32 bytes ..")
RANDOM = bytes(range(RANDOM_BYTES))
NOW = 1_800_000_000.0
FOR = "https://id.example.com agent https://agent.example.com/.herma/login/callback"


def test_the_browser_comes_back_to_the_login_that_was_begun() -> None:
    """With the same state, nonce and verifier, and to where it wanted to go."""
    pending, cookie = begun(KEY, FOR, RANDOM, "/chat?x=1", NOW)
    assert resumed(KEY, FOR, cookie, NOW + 1) == pending
    assert pending.back == "/chat?x=1"
    assert pending.is_state(pending.state)
    assert not pending.is_state(pending.nonce)
    assert not pending.is_state("\u00e9")


def test_each_part_is_another_and_none_can_be_had_from_the_cookie() -> None:
    """43 characters, as PKCE asks for; the challenge is the digest of the verifier."""
    pending, cookie = begun(KEY, FOR, RANDOM, "/", NOW)
    parts = (pending.ident, pending.state, pending.nonce, pending.verifier)
    assert len(set(parts)) == 4
    for part in parts:
        assert len(part) == 43
        assert part.encode() not in cookie.reveal()
    digest = hashlib.sha256(pending.verifier.encode()).digest()
    assert pending.challenge == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert not any(part in repr(pending) for part in parts[1:])


def test_another_random_value_is_another_login() -> None:
    """Nothing of one says anything of the other."""
    first, _ = begun(KEY, FOR, RANDOM, "/", NOW)
    second, _ = begun(KEY, FOR, bytes(RANDOM_BYTES), "/", NOW)
    assert {first.state, first.nonce, first.verifier, first.ident}.isdisjoint(
        {second.state, second.nonce, second.verifier, second.ident}
    )


@pytest.mark.parametrize("later_s", [-6, LOGIN_FOR_S + 1, 10**9, -(10**9)])
def test_a_login_waits_ten_minutes(later_s: float) -> None:
    """And not before it began, but for the clocks of two processes."""
    _, cookie = begun(KEY, FOR, RANDOM, "/", NOW)
    assert resumed(KEY, FOR, cookie, NOW + LOGIN_FOR_S) is not None
    assert resumed(KEY, FOR, cookie, NOW - 5) is not None
    assert resumed(KEY, FOR, cookie, NOW + later_s) is None


def test_a_login_resumes_only_for_what_it_was_begun_for() -> None:
    """Another issuer, client or address of the gate ends it; so does a restart, which makes another key."""
    _, cookie = begun(KEY, FOR, RANDOM, "/", NOW)
    for purpose in ("", FOR + " ", FOR.replace("id.", "evil."), FOR[:-1]):
        assert resumed(KEY, purpose, cookie, NOW) is None
    assert resumed(Secret(b"another fake key of the gate ...."), FOR, cookie, NOW) is None


def test_a_place_that_does_not_fit_into_the_cookie_is_left_out() -> None:
    """The login leads to the first page then; the cookie keeps below what browsers take."""
    long = "/" + "x" * 2500
    pending, cookie = begun(KEY, FOR, RANDOM, long, NOW)
    assert pending.back == "/"
    _, longest = begun(KEY, FOR, RANDOM, "/" + "x" * 2047, NOW)
    assert max(len(cookie.reveal()), len(longest.reveal())) <= MAX_COOKIE_CHARACTERS


def test_where_it_leads_is_read_again() -> None:
    """Even what the gate sealed becomes a target only by being read as a path of this host."""
    _, cookie = begun(KEY, FOR, RANDOM, "//evil.example", NOW)
    found = resumed(KEY, FOR, cookie, NOW)
    assert found is not None
    assert found.back == "/"


@given(st.binary(max_size=200))
def test_no_other_value_is_a_login(value: bytes) -> None:
    """Whatever bytes a cookie holds."""
    assert resumed(KEY, FOR, Secret(value), NOW) is None
    assert resumed(KEY, FOR, Secret(base64.urlsafe_b64encode(value)), NOW) is None


@given(st.data())
def test_a_cookie_that_was_changed_is_none(data: st.DataObject) -> None:
    """In any byte."""
    _, cookie = begun(KEY, FOR, RANDOM, "/chat", NOW)
    raw = bytearray(base64.urlsafe_b64decode(cookie.reveal() + b"=" * (-len(cookie.reveal()) % 4)))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    assert resumed(KEY, FOR, Secret(base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=")), NOW) is None
    assert resumed(KEY, FOR, Secret(cookie.reveal()[:at]), NOW) is None
