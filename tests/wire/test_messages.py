"""What travels."""

from dataclasses import FrozenInstanceError

import pytest

from herma.wire import RequestHead, TcpAddress, UnixAddress


def test_addresses_name_themselves() -> None:
    """For logs and status pages, IPv6 in brackets."""
    assert str(TcpAddress("a", 1)) == "a:1"
    assert str(TcpAddress("::1", 1)) == "[::1]:1"
    assert str(UnixAddress("/x")) == "unix:/x"


def test_a_head_that_was_judged_cannot_change() -> None:
    """What is judged is what is sent."""
    head = RequestHead(b"GET", b"/", "1.1", ())
    with pytest.raises(FrozenInstanceError):
        head.target = b"/admin"  # type: ignore[misc] # the mistake under test
