"""What the session headers may hold."""

import pytest

from herma.policy.decision import Deny
from herma.policy.message.canonical import Head
from herma.policy.message.session_header import MAX_SESSION_CHARS, SessionHeaders, session_headers
from support.heads import make_head

ID, KEY = b"X-Hermes-Session-Id", b"X-Hermes-Session-Key"


def test_absent_and_empty_are_none() -> None:
    """No header and an empty one mean the same, as they do upstream."""
    assert session_headers(make_head()) == SessionHeaders(None, None)
    assert session_headers(make_head((ID, b""), (KEY, b" "))) == SessionHeaders(None, None)


def test_plain_values_are_read() -> None:
    """A key may look like a path, an id of exactly the limit is fine."""
    long = b"a" * MAX_SESSION_CHARS
    found = session_headers(make_head((ID, long), (KEY, b"agent:main/telegram:dm..42")))
    assert found == SessionHeaders(long.decode(), "agent:main/telegram:dm..42")


@pytest.mark.parametrize(
    "value", [b"a" * 257, b"a\tb", b"..", b"a/../b", b"a/b", b"a\\b", b"C:x", b"../../etc"]
)
def test_hostile_id_is_refused(value: bytes) -> None:
    """Length, controls and whatever could become a path are 400."""
    denied = session_headers(make_head((ID, value)))
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (400, "herma.request.session_id")
    assert value.decode() not in denied.message


@pytest.mark.parametrize("value", [b"k" * 257, b"a\tb"])
def test_hostile_key_is_refused(value: bytes) -> None:
    """Length and controls are 400."""
    denied = session_headers(make_head((KEY, value)))
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (400, "herma.request.session_key")


@pytest.mark.parametrize("value", [b"a\r\nb", b"a\0b", b"caf\xc3\xa9"])
def test_rule_does_not_lean_on_the_canonicaliser(value: bytes) -> None:
    """Even a head that was built past the canonicaliser cannot carry controls or bytes outside ASCII."""
    head = Head("GET", make_head().target, "localhost", None, "1.1", ((ID.lower(), value),))
    assert isinstance(session_headers(head), Deny)
