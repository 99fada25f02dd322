"""Platforms by their hosts, and what is in use at them."""

import pytest

from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.platform import InUse, Platform, PlatformRoute, Platforms

CHAT = Platform(
    "chat",
    "Chat",
    (HostPattern.parse("*.chat.example"), HostPattern.parse("chat.example:8443")),
    in_use=("/token",),
    routes=(
        PlatformRoute("/bot{token}/send", ("/files/*/id",)),
        PlatformRoute("/rooms/**", ("/**/room_id",)),
    ),
)


def test_a_platform_is_found_by_its_hosts() -> None:
    """With the port where one is named."""
    platforms = Platforms([CHAT])
    assert platforms.at("api.chat.example", 443) is CHAT
    assert platforms.at("chat.example", 8443) is CHAT
    assert platforms.at("chat.example", 443) is None


@pytest.mark.parametrize(
    ("path", "pointer", "covered"),
    [
        ("/", "/token", True),
        ("/", "/token/more", False),
        ("/", "/files/0/id", False),
        ("/bot123/send", "/files/0/id", True),
        ("/bot123/send", "/files/id", False),
        ("/bot123/x/send", "/files/0/id", False),
        ("/rooms/a/b", "/content/of/room_id", True),
        ("/rooms/a/b", "/room_id", True),
        ("/rooms/a/b", "/text", False),
    ],
)
def test_what_is_in_use_depends_on_the_path(path: str, pointer: str, *, covered: bool) -> None:
    """Everywhere, and at some paths more."""
    platforms = Platforms([CHAT])
    assert platforms.in_use(CHAT, path).covers(pointer) is covered


def test_without_platforms_none_is_made() -> None:
    """Nothing would be masked."""
    with pytest.raises(ValueError, match="no message"):
        Platforms([])


@pytest.mark.parametrize("place", ["", "token", "/", "/a~2", "/a//b"])
def test_a_place_that_is_no_pointer_is_refused(place: str) -> None:
    """It would cover nothing, or everything."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        InUse([place])


def test_a_route_is_read_when_it_is_made() -> None:
    """Its path as well as its places."""
    with pytest.raises(ValueError, match="slash"):
        PlatformRoute("bot", ())
    with pytest.raises(ValueError, match="JSON Pointer"):
        PlatformRoute("/bot", ("token",))
