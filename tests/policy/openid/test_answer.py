"""What the browser brings back from the issuer."""

from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.openid.answer import Answer, read_answer


def test_a_code_or_an_error_comes_with_the_state() -> None:
    """And perhaps with the issuer's name; what else issuers add is not looked at."""
    more = b"&session_state=x&authuser=0&scope=openid+email&hd=example.com"
    assert read_answer(b"state=s&code=c" + more) == Answer("s", "c")
    assert read_answer(b"code=a%2Fb&state=s&iss=https%3A%2F%2Fid.example.com") == Answer(
        "s", "a/b", issuer="https://id.example.com"
    )
    assert read_answer(b"error=access_denied&error_description=No+%3Cb%3E&state=s") == Answer(
        "s", error="access_denied"
    )


@pytest.mark.parametrize(
    "query",
    [
        b"", b"code=c", b"state=s", b"state=&code=c", b"state=s&code=", b"state=s&code=c&error=e", b"state=s&code=c&code=d", b"state=s&state=s&code=c",
        b"state=s&code=c&iss=a&iss=b", b"state=s&code=c&iss=", b"state=s&code=a%20b", b"state=s&code=%00", b"state=s&code=%C3%A9", b"state=s&code=a%0D%0Ab",
        b"state=s&error=x&error=y", b"state=s&code=" + b"x" * 4097, b"&".join(b"x=y" for _ in range(2000)),
    ],
)  # fmt: skip
def test_anything_else_is_no_answer(query: bytes) -> None:
    """Two of one, none of one, both, odd characters, too much."""
    assert read_answer(query) is None


def test_neither_code_nor_state_shows() -> None:
    """A code is worth a session to whoever is quick."""
    shown = repr(read_answer(b"state=secret-state&code=secret-code"))
    assert "secret" not in shown


@given(
    st.lists(
        st.tuples(st.sampled_from(["state", "code", "error", "iss", "x"]), st.text(max_size=5)), max_size=6
    )
)
def test_what_is_read_is_what_stands_there_once(fields: list[tuple[str, str]]) -> None:
    """Whatever the order."""
    found = read_answer("&".join(f"{name}={quote_plus(value)}" for name, value in fields).encode())
    if found is not None:
        assert ("state", found.state) in fields
        assert bool(found.code) != bool(found.error)
        for name in ("state", "code", "error", "iss"):
            assert [one for one, _ in fields].count(name) <= 1
