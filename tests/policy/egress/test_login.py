"""What a program logs in with, and what signs one request."""

import pytest

from herma.policy.egress.login import MAX_LOGIN_BYTES, SCOPE, login_apart, signed_apart

FORM = b"application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("body", "kind", "keys"),
    [
        (b"grant_type=client_credentials&client_secret=Zq8Xy", FORM, (b"Zq8Xy",)),
        (b'{"user": "agent", "password": "Zq8Xy"}', b"application/json", (b"Zq8Xy",)),
        (b'{"role_id": "r", "secret_id": "Zq8Xy"}', b"application/json; charset=utf-8", (b"Zq8Xy",)),
    ],
)
def test_a_login_is_taken_apart(body: bytes, kind: bytes, keys: tuple[bytes, ...]) -> None:
    """The key alone; the rest is judged with its names."""
    apart = login_apart(body, kind)
    assert apart.keys == keys
    assert keys[0] not in apart.rest


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"client_secret=Zq8Xy", b"text/plain"),
        (b"DB_PASSWORD=Zq8Xy", FORM),
        (b'{"a": {"password": "Zq8Xy"}}', b"application/json"),
        (b"password=Zq8Xy\nTOKEN=x y", FORM),
        (b"password=Zq8Xy&x=" + b"x" * MAX_LOGIN_BYTES, FORM),
    ],
)
def test_what_is_no_login_stays_whole(body: bytes, kind: bytes) -> None:
    """A text, a file of settings, the state of a program."""
    assert login_apart(body, kind).keys == ()


def test_what_signs_a_request_is_taken_apart() -> None:
    """The name of a key is told from its secret."""
    apart = signed_apart(b"AWSAccessKeyId=AKIAQWERTYUIOPASDFGH&Signature=abc&x=1")
    assert apart.rest == b"x=1"
    assert [SCOPE.fullmatch(key) is not None for key in apart.keys] == [True, False]
