"""The session's cookie."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.browser.cookie import (
    ERASED,
    LOGIN_ERASED,
    login_cookie,
    login_planted,
    planted,
    session_cookie,
)
from herma.policy.secret import Secret
from support.heads import make_head

VALUE = b"fake" + b"A-_9" * 9 + b"xyz"
OURS = b"__Host-herma=" + VALUE


def held(*lines: bytes) -> bytes | None:
    found = session_cookie(make_head(*((b"Cookie", line) for line in lines)))
    return found.reveal() if found else None


@pytest.mark.parametrize(
    "line", [OURS, b"theme=dark; " + OURS, OURS + b";theme=dark", b" ;\t" + OURS + b" ; ;", b"a; " + OURS]
)
def test_the_one_cookie_is_found_among_others(line: bytes) -> None:
    """Blanks and other cookies do not matter."""
    assert held(line) == VALUE


@pytest.mark.parametrize(
    "line",
    [
        b"", b"herma=" + VALUE, b"__Secure-herma=" + VALUE, b"__host-herma=" + VALUE, b"__HOST-HERMA=" + VALUE,
        b"x__Host-herma=" + VALUE, b"__Host-herma", b"__Host-herma=", b'__Host-herma="' + VALUE + b'"', OURS + b"x", OURS[:-1],
        b"__Host-herma=" + VALUE[:-1] + b"%", b"theme=" + OURS, b"__Host-herma=" + b"A" * 8000, b"__Host-herma =" + b"!" * 43,
        b"__Host-herma==" + VALUE,
    ],
)  # fmt: skip
def test_what_is_not_exactly_it_is_none(line: bytes) -> None:
    """Another name, another form, quotes, or more than there is room for."""
    assert held(line) is None


@pytest.mark.parametrize(
    "line",
    [
        OURS + b"; __Host-herma=" + VALUE[::-1],
        OURS + b"; " + OURS,
        b"__Host-herma=; " + OURS,
        OURS + b";__Host-herma",
    ],
)
def test_two_cookies_are_none(line: bytes) -> None:
    """Whichever a reader takes, another could take the other one."""
    assert held(line) is None


def test_it_is_set_for_this_host_only_and_out_of_reach_of_scripts() -> None:
    """`__Host-` asks for Secure, the root path and no domain."""
    line = planted(Secret(VALUE))
    assert line.startswith(OURS + b"; ")
    assert set(line.split(b"; ")[1:]) == {b"Path=/", b"Secure", b"HttpOnly", b"SameSite=Lax"}
    assert set(ERASED.split(b"; ")) == {
        b"__Host-herma=", b"Path=/", b"Secure", b"HttpOnly", b"SameSite=Lax", b"Max-Age=0"
    }  # fmt: skip


@given(before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_no_cookie_line_yields_another_value(before: bytes, after: bytes) -> None:
    """Whatever stands around it, it is this value or none."""
    kept = bytes(byte for byte in before + b";" + OURS + b";" + after if 32 <= byte < 127)
    assert held(kept) in {VALUE, None}


@given(
    line=st.lists(st.sampled_from([OURS, b";", b" ", b"=", b"__Host-herma=", b'"', b"a", VALUE]), max_size=12)
)
def test_a_value_is_only_taken_from_exactly_one_pair(line: list[bytes]) -> None:
    """A line with the name in two pairs, or in none, holds no session."""
    text = b"".join(line)
    names = [pair.partition(b"=")[0].strip() for pair in text.split(b";")]
    if names.count(b"__Host-herma") != 1:
        assert held(text) is None


LOGIN = b"__Host-herma-login=" + b"A-_9" * 100


def test_a_login_waits_in_a_cookie_of_its_own() -> None:
    """Beside that of a session, which it is not; two of them are none."""
    head = make_head((b"Cookie", OURS + b"; " + LOGIN))
    found = login_cookie(head)
    assert found is not None
    assert found.reveal() == b"A-_9" * 100
    assert held(OURS + b"; " + LOGIN) == VALUE
    for line in (
        OURS,
        LOGIN + b"; " + LOGIN,
        LOGIN + b"=",
        b"__Host-herma-login=",
        b"__Host-herma-login=" + b"A" * 3001,
    ):
        assert login_cookie(make_head((b"Cookie", line))) is None


def test_a_login_is_forgotten_by_the_browser_when_the_gate_forgets_it() -> None:
    """As far as the session's cookie: for this host, out of reach of scripts."""
    attributes = {b"Path=/", b"Secure", b"HttpOnly", b"SameSite=Lax"}
    first, *rest = login_planted(Secret(b"abc")).split(b"; ")
    assert (first, set(rest)) == (b"__Host-herma-login=abc", attributes | {b"Max-Age=600"})
    first, *rest = LOGIN_ERASED.split(b"; ")
    assert (first, set(rest)) == (b"__Host-herma-login=", attributes | {b"Max-Age=0"})
