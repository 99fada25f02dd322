"""Who may see the console."""

from pathlib import Path

import pytest

from herma.console.access import (
    IDLE_S,
    LIFETIME_S,
    LOCAL,
    MAX_SESSIONS,
    TOKEN_LIFE_S,
    TOKEN_REST_S,
    Access,
    Offer,
)
from herma.console.token_file import TokenDirectory, read_token
from herma.policy.secret import Secret
from support.shared_state import Clock

KEY = Secret(b"fake-admin-key")


class Keys:
    """One key; the test says whether it holds and whether keys are looked at."""

    def __init__(self) -> None:
        self.name = "laptop"
        self.wait = 0.0
        self.failures = 0

    def admin(self, key: Secret, address: str) -> str:
        return self.name if key.reveal() == KEY.reveal() and address == "127.0.0.1" else ""

    async def wait_s(self) -> float:
        return self.wait

    async def failed(self) -> None:
        self.failures += 1


class Entrance:
    """An access with its keys and its clock."""

    def __init__(self, directory: Path) -> None:
        self.keys = Keys()
        self.clock = Clock()
        self.directory = directory
        self.access = Access(self.keys, TokenDirectory({"RUNTIME_DIRECTORY": str(directory)}), self.clock)

    def token(self, offer: Offer | None = None) -> Secret:
        found = read_token((offer or self.access.offer()).path)
        assert found is not None
        return found

    def files(self) -> int:
        return sum(path.is_file() for path in self.directory.rglob("*"))

    async def inside(self) -> Secret:
        cookie = await self.access.enter(self.token(), "127.0.0.1")
        assert cookie is not None
        return cookie


@pytest.fixture
def entrance(tmp_path: Path) -> Entrance:
    return Entrance(tmp_path)


async def test_a_token_opens_once(entrance: Entrance) -> None:
    """Whoever finds it in a terminal's history gains nothing; its file is gone too."""
    token = entrance.token()
    cookie = await entrance.access.enter(token, "127.0.0.1")
    assert cookie is not None
    assert entrance.access.who(cookie, "127.0.0.1") == LOCAL
    assert await entrance.access.enter(token, "127.0.0.1") is None
    assert entrance.files() == 0


async def test_a_token_ends(entrance: Entrance) -> None:
    """Unused, it is worth nothing after minutes."""
    token = entrance.token()
    entrance.clock.now += TOKEN_LIFE_S
    assert await entrance.access.enter(token, "127.0.0.1") is None
    assert entrance.files() == 0


async def test_asking_again_takes_nothing_away(entrance: Entrance) -> None:
    """A fresh token stays; near its end there is a new one, and the old one is good to its end."""
    first = entrance.access.offer()
    token = entrance.token(first)
    assert entrance.access.offer().path == first.path
    entrance.clock.now += TOKEN_LIFE_S - TOKEN_REST_S + 1
    second = entrance.access.offer()
    assert second.path != first.path
    assert second.left_s == TOKEN_LIFE_S
    assert entrance.files() == 2
    assert await entrance.access.enter(token, "127.0.0.1") is not None


def test_a_token_whose_file_was_taken_away_is_replaced(entrance: Entrance) -> None:
    """Whoever asks is never led to a file that is not there."""
    first = entrance.access.offer()
    Path(first.path).unlink()
    second = entrance.access.offer()
    assert second.path != first.path
    assert read_token(second.path) is not None


def test_there_are_never_many_tokens(entrance: Entrance) -> None:
    """However long somebody goes on asking."""
    for _ in range(20):
        entrance.access.offer()
        entrance.clock.now += TOKEN_LIFE_S - TOKEN_REST_S + 1
        assert entrance.files() <= 2


async def test_a_key_opens_for_as_long_as_it_holds(entrance: Entrance) -> None:
    """A key that is taken back ends the sessions that it opened."""
    cookie = await entrance.access.enter(KEY, "127.0.0.1")
    assert cookie is not None
    assert entrance.access.who(cookie, "127.0.0.1") == "laptop"
    entrance.keys.name = ""
    assert entrance.access.who(cookie, "127.0.0.1") == ""
    entrance.keys.name = "laptop"
    assert entrance.access.who(cookie, "127.0.0.1") == ""


async def test_wrong_keys_are_counted_and_then_not_looked_at(entrance: Entrance) -> None:
    """While they are not, not even the right one opens; a token does."""
    assert await entrance.access.enter(Secret(b"wrong"), "127.0.0.1") is None
    assert await entrance.access.named(Secret(b"wrong"), "127.0.0.1") == ""
    assert entrance.keys.failures == 2
    entrance.keys.wait = 60
    assert await entrance.access.enter(KEY, "127.0.0.1") is None
    assert await entrance.access.named(KEY, "127.0.0.1") == ""
    assert entrance.keys.failures == 2
    assert await entrance.access.enter(entrance.token(), "127.0.0.1") is not None


async def test_a_session_ends_without_use(entrance: Entrance) -> None:
    """Use keeps it, up to its longest life."""
    cookie = await entrance.inside()
    entrance.clock.now += IDLE_S - 1
    assert entrance.access.who(cookie, "127.0.0.1") == LOCAL
    entrance.clock.now += IDLE_S
    assert entrance.access.who(cookie, "127.0.0.1") == ""


async def test_a_session_does_not_live_for_ever(entrance: Entrance) -> None:
    """However often it is used."""
    cookie = await entrance.inside()
    used = 0.0
    while used < LIFETIME_S - 1:
        step = min(IDLE_S - 1, LIFETIME_S - 1 - used)
        entrance.clock.now += step
        used += step
        assert entrance.access.who(cookie, "127.0.0.1") == LOCAL
    entrance.clock.now += 1
    assert entrance.access.who(cookie, "127.0.0.1") == ""


async def test_leaving_ends_the_session(entrance: Entrance) -> None:
    """A copy of the cookie is worth nothing afterwards."""
    cookie = await entrance.inside()
    entrance.access.leave(cookie)
    assert entrance.access.who(cookie, "127.0.0.1") == ""
    entrance.access.leave(cookie)


async def test_the_session_that_was_used_least_lately_makes_room(entrance: Entrance) -> None:
    """There are few at a time."""
    first, second = await entrance.inside(), await entrance.inside()
    assert entrance.access.who(first, "127.0.0.1") == LOCAL
    for _ in range(MAX_SESSIONS - 1):
        await entrance.inside()
    assert entrance.access.who(first, "127.0.0.1") == LOCAL
    assert entrance.access.who(second, "127.0.0.1") == ""


async def test_closed_it_opens_to_nobody(entrance: Entrance) -> None:
    """Tokens, sessions and files are gone."""
    cookie, token = await entrance.inside(), entrance.token()
    entrance.access.close()
    assert entrance.access.who(cookie, "127.0.0.1") == ""
    assert await entrance.access.enter(token, "127.0.0.1") is None
    assert list(entrance.directory.iterdir()) == []


async def test_nothing_that_opens_is_shown(entrance: Entrance) -> None:
    """Neither a cookie nor a token stands in what is kept."""
    cookie, token = await entrance.inside(), entrance.token()
    kept = repr(entrance.access.__dict__)
    assert cookie.reveal().decode() not in kept
    assert token.reveal().decode() not in kept
