"""The caller's key stands in one place, once, in one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.message.canonical import Head
from herma.policy.message.credential import MAX_TOKEN_BYTES, bearer, credential_offered
from herma.policy.secret import Secret
from support.heads import make_head


def token_of(value: bytes, *more: tuple[bytes, bytes], target: bytes = b"/v1/runs") -> Secret | Deny | None:
    return bearer(make_head((b"Authorization", value), *more, target=target))


@pytest.mark.parametrize("token", [b"test-key-0123", b"a.b.c", b"A-._~+/9==", b"x" * MAX_TOKEN_BYTES])
def test_bearer_token_is_read(token: bytes) -> None:
    """A token of the RFC 6750 alphabet comes out as it was sent; blanks after it are not part of the header."""
    found = token_of(b"Bearer " + token + b"  ")
    assert isinstance(found, Secret)
    assert found.reveal() == token
    assert repr(found) == "Secret('***')"


@pytest.mark.parametrize(
    "value",
    [
        b"bearer x", b"BEARER x", b"Bearer  x", b"Bearer\tx", b"Bearer", b"Bearer ", b"", b"Basic dXNlcjpw", b"x", b"Bearerx",
        b"Bearer a b", b"Bearer a,b", b"Bearer a, Bearer b", b"Bearer =", b"Bearer a=b", b"Bearer \xe9", b'Bearer "x"',
        b"Token x", b"Negotiate x", b"Bearer " + b"x" * (MAX_TOKEN_BYTES + 1),
    ],
)  # fmt: skip
def test_malformed_credential_is_no_credential(value: bytes) -> None:
    """Every wrong spelling is the same as a wrong key: None, so a uniform 401."""
    assert token_of(value) is None
    assert credential_offered(make_head((b"Authorization", value)))


def test_missing_credential_is_none() -> None:
    """Without the header there is no token, whatever else claims to be one."""
    assert bearer(make_head()) is None
    assert bearer(make_head((b"X-API-Key", b"test-key"))) is None
    assert bearer(make_head((b"Proxy-Authorization", b"Bearer x"))) is None
    assert bearer(make_head((b"Cookie", b"token=x"))) is None
    assert not credential_offered(make_head((b"X-API-Key", b"test-key")))


@pytest.mark.parametrize(
    "other",
    [
        (b"X-API-Key", b"x"), (b"Api-Key", b"x"), (b"X-Auth-Token", b"x"), (b"Cookie", b"herma_session=x"),
        (b"Cookie", b"theme=dark; __host-herma=x"), (b"Cookie", b"__Host-herma=x; __Host-herma-2=x"), (b"Cookie", b"hermes_session=1"), (b"Cookie", b"ACCESS_TOKEN=1"), (b"Cookie", b"sid=1"),
    ],
)  # fmt: skip
def test_credential_in_two_places_is_refused(other: tuple[bytes, bytes]) -> None:
    """A bearer token beside another credential is 400: it is open whose request it is."""
    denied = token_of(b"Bearer x", other)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (400, "herma.auth.credential_twice")


def test_cookies_that_are_no_credentials_do_not_matter() -> None:
    """Preferences beside a token are no second credential."""
    assert isinstance(token_of(b"Bearer x", (b"Cookie", b"theme=dark; lang=en; _ga=1")), Secret)


def test_the_gates_own_session_is_no_second_answer() -> None:
    """A browser adds it to whatever a page sends; the key beside it decides."""
    assert isinstance(token_of(b"Bearer x", (b"Cookie", b"theme=dark; __Host-herma=x")), Secret)


def test_duplicate_authorization_is_refused_here_too() -> None:
    """Even a head that was built past the canonicaliser cannot carry two keys."""
    plain = make_head()
    twice = ((b"authorization", b"Bearer good"), (b"authorization", b"Bearer bad"))
    head = Head("GET", plain.target, "localhost", None, "1.1", twice)
    denied = bearer(head)
    assert isinstance(denied, Deny)
    assert denied.status == 400


@pytest.mark.parametrize(
    "query",
    [
        b"token=x", b"access_token=x", b"api_key=x", b"apikey=x", b"api-key=x", b"key=x", b"auth=x", b"authorization=Bearer%20x",
        b"ticket=x", b"TOKEN=x", b"ToKeN", b"%74oken=x", b"%54%4f%4b%45%4e=x", b"a=1&token=", b"a=1;token=x", b"token[]=x",
        b"auth[token]=x", b"x-api-key=x", b"+token=x", b"password=x", b"id_token=x", b"jwt=x", b"client_secret=x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("headers", [(), ((b"Authorization", b"Bearer x"),)])
def test_credential_in_the_query_is_refused(query: bytes, headers: tuple[tuple[bytes, bytes], ...]) -> None:
    """Alone or beside a header, in any spelling, it is 400, and the answer does not repeat it."""
    denied = bearer(make_head(*headers, target=b"/v1/models?" + query))
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (400, "herma.auth.credential_in_query")
    assert denied.close


@pytest.mark.parametrize(
    "query",
    [
        b"limit=5&offset=0",
        b"include_disabled=true",
        b"order=desc&after=tokenizer",
        b"monkey=1",
        b"x=token",
        b"token=held-by-the-gate",
    ],
)
def test_ordinary_parameters_pass(query: bytes) -> None:
    """A parameter is judged by its whole name, never by its value or a part of a word."""
    assert isinstance(token_of(b"Bearer x", target=b"/v1/models?" + query), Secret)


@given(st.binary(max_size=30))
def test_any_value_is_read_without_raising(value: bytes) -> None:
    """Whatever stands in the header, the answer is a token of the alphabet or nothing."""
    head = make_head()
    found = bearer(Head("GET", head.target, "localhost", None, "1.1", ((b"authorization", value),)))
    assert found is None or (isinstance(found, Secret) and value == b"Bearer " + found.reveal())
