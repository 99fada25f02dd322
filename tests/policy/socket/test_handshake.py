"""The target of a handshake towards the upstream."""

import pytest

from herma.policy.message.target import Target, canonical_target
from herma.policy.secret import Secret
from herma.policy.socket.handshake import handshake_target

KEY = Secret(b"a+b/c=")


def target(raw: bytes) -> Target:
    found = canonical_target(raw)
    assert isinstance(found, Target)
    return found


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        (b"/api/ws", b"/api/ws?token=a%2Bb%2Fc%3D"),
        (b"/api/ws?", b"/api/ws?token=a%2Bb%2Fc%3D"),
        (b"/api/ws?channel=a%20b&x", b"/api/ws?channel=a%20b&x&token=a%2Bb%2Fc%3D"),
        (b"/api/ws?token=mine&a=1", b"/api/ws?a=1&token=a%2Bb%2Fc%3D"),
        (b"/api/ws?t%6Fken=mine&TOKEN=x&token[]=y&a=1;token=z", b"/api/ws?token=a%2Bb%2Fc%3D"),
    ],
)
def test_the_key_stands_where_the_upstream_takes_it(raw: bytes, sent: bytes) -> None:
    """Once, and whatever the caller had there is gone, however it is spelled."""
    assert handshake_target(target(raw), "token", KEY) == sent


def test_without_a_key_the_callers_is_left_out_all_the_same() -> None:
    """It would be believed."""
    assert handshake_target(target(b"/api/ws?token=mine"), "token", None) == b"/api/ws"


def test_an_upstream_that_takes_it_in_a_header_gets_the_target_as_it_was_judged() -> None:
    """Byte for byte."""
    raw = b"/api/ws?token=x&"
    assert handshake_target(target(raw), "", KEY) == raw
