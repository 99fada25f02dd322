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


@pytest.mark.parametrize(
    ("pointer", "value", "left"),
    [
        ("/token", "xoxb-1-a.b:c/d+e=", True),
        ("/token", "Bot a.b.c", True),
        ("/token", "", True),
        ("/id", "Bot a.b.c", False),
        ("/token", "see a-token", False),
        ("/token", "two\nlines", False),
        ("/token", "k\u00e4se", False),
        ("/text", "token", False),
        ("/auth/password", "correct horse b\u00e4ttery", True),
        ("/auth/password", "two\nlines", False),
        ("/auth/password", "a b " * 100, False),
    ],
)
def test_a_place_in_use_holds_a_token_and_no_text(pointer: str, value: str, left: bool) -> None:
    """Only a password is what somebody chose."""
    assert InUse(["/token", "/id", "/auth/password"]).leaves(pointer, value) is left


def test_credentials_are_told_from_handles() -> None:
    """By the last step."""
    for pointer in ("/token", "/auth/session", "/client_secret", "/**/ciphertext/pass", "/code_verifier"):
        assert InUse.is_credential(pointer), pointer
    for pointer in ("/file_id", "/nonce", "/token/id", "/blocks/0/block_id"):
        assert not InUse.is_credential(pointer), pointer


def test_places_go_on_in_a_text_that_is_json() -> None:
    """By the place of the text."""
    places = InUse(["/a", "/content#/**/key", "/*/x#/id"])
    assert places.within("/a") is None
    inner, other = places.within("/content"), places.within("/b/x")
    assert inner is not None
    assert inner.covers("/en/0/key")
    assert not inner.covers("/id")
    assert other is not None
    assert other.covers("/id")
    assert not places.covers("/content")
    with pytest.raises(ValueError, match="Pointer"):
        InUse(["/content#"])


def test_what_was_given_out_in_a_path_is_taken_out_of_it() -> None:
    """All else in it is judged."""
    platforms = Platforms([CHAT])
    assert platforms.unkeyed("chat.example", 8443, b"/bot1:AB/send") == b"/bot/send"
    assert platforms.unkeyed("chat.example", 8443, b"/x/1:AB") == b"/x/1:AB"
    assert platforms.unkeyed("other.example", 443, b"/bot1:AB/send") == b"/bot1:AB/send"


def test_what_is_handed_on_is_told_by_the_path() -> None:
    """With the place of the address."""
    route = PlatformRoute("/hook", ("/secret",), "/url")
    chat = Platform("chat", "Chat", CHAT.hosts, routes=(route, PlatformRoute("/x", ())))
    platforms = Platforms([chat])
    assert [one.address for one in platforms.handed_on(chat, "/hook")] == ["/url"]
    assert platforms.handed_on(chat, "/x") == ()


def test_an_address_stands_at_a_place() -> None:
    """As what is in use does."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        PlatformRoute("/hook", ("/secret",), "url")
