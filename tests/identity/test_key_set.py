"""The keys of one issuer, kept fresh."""

import asyncio

import pytest

from herma.identity import key_set as module
from herma.identity.jwks import KeySetError
from herma.identity.key_set import COOL_DOWN_S, REFRESH_S, STALE_S, KeySet
from support.tokens import key_set, signer

OLD, NEW = signer("ES256", "old"), signer("ES256", "new")


class Issuer:
    """Publishes keys, and counts how often it is asked."""

    def __init__(self, *keys: object) -> None:
        self.keys: tuple[object, ...] = keys
        self.asked = 0
        self.now = 1000.0
        self.failure = ""
        self.free = asyncio.Event()
        self.free.set()

    async def fetch(self) -> bytes:
        self.asked += 1
        await self.free.wait()
        if self.failure:
            raise KeySetError(self.failure)
        return key_set(*self.keys)  # type: ignore[arg-type] - signers and key sets' members alike

    def clock(self) -> float:
        return self.now


def made(*keys: object) -> tuple[Issuer, KeySet]:
    issuer = Issuer(*keys)
    return issuer, KeySet(issuer.fetch, clock=issuer.clock)


async def test_before_it_was_read_a_set_has_no_key() -> None:
    """Nobody comes in by a key that is not known, and it is read at once."""
    _issuer, keys = made(OLD)
    assert keys.lookup("old", "ES256") is None
    assert (keys.due_in(), keys.failure) == (0.0, "not read yet")
    await keys.refresh()
    found = keys.lookup("old", "ES256")
    assert found is not None
    assert found.kid == "old"
    assert (keys.due_in(), keys.failure) == (REFRESH_S, "")


async def test_a_key_is_found_by_its_name_and_algorithm() -> None:
    """A name is no path and no pattern; and another algorithm of a known key is no reason to ask the issuer."""
    _issuer, keys = made(OLD)
    await keys.refresh()
    assert keys.lookup("old", "RS256") is None
    assert keys.due_in() == REFRESH_S
    for kid in ("OLD", "old ", "", "../old", "old\0", "*", "0"):
        assert keys.lookup(kid, "ES256") is None


async def test_a_token_without_a_key_id_gets_the_only_key() -> None:
    """Of its algorithm; where there are two it would be a guess."""
    issuer, keys = made(OLD, signer("RS256", "rsa"))
    await keys.refresh()
    found = keys.lookup(None, "ES256")
    assert found is not None
    assert found.kid == "old"
    issuer.keys = (OLD, NEW)
    await keys.refresh()
    assert keys.lookup(None, "ES256") is None


async def test_two_keys_of_one_name_are_none() -> None:
    """It is open which is meant."""
    _issuer, keys = made(OLD, {**NEW.jwk(), "kid": "old"})
    await keys.refresh()
    assert keys.lookup("old", "ES256") is None


async def test_an_unknown_key_is_asked_for_once_per_cool_down() -> None:
    """However many tokens name however many keys."""
    issuer, keys = made(OLD)
    await keys.refresh()
    for number in range(1000):
        assert keys.lookup(f"made-up-{number}", "ES256") is None
    assert issuer.asked == 1
    assert keys.due_in() == COOL_DOWN_S
    issuer.now += COOL_DOWN_S
    assert keys.due_in() == 0.0
    await keys.refresh()
    assert keys.due_in() == REFRESH_S


async def test_a_key_that_the_issuer_took_back_opens_nothing() -> None:
    """From the next reading on."""
    issuer, keys = made(OLD)
    await keys.refresh()
    issuer.keys = (NEW,)
    await keys.refresh()
    assert keys.lookup("old", "ES256") is None
    assert keys.lookup("new", "ES256") is not None


async def test_an_issuer_may_be_away_for_a_while() -> None:
    """Its keys stay, it is asked again soon, and after a day they are void."""
    issuer, keys = made(OLD)
    await keys.refresh()
    issuer.failure = "no answer"
    issuer.now += REFRESH_S
    await keys.refresh()
    assert keys.failure == "no answer"
    assert keys.due_in() == COOL_DOWN_S
    assert keys.lookup("old", "ES256") is not None
    issuer.now += STALE_S - REFRESH_S
    assert keys.lookup("old", "ES256") is not None
    issuer.now += 1
    assert keys.lookup("old", "ES256") is None
    issuer.failure = ""
    await keys.refresh()
    assert keys.lookup("old", "ES256") is not None


async def test_a_set_that_is_none_changes_nothing() -> None:
    """An error page of the issuer does not lock everybody out."""
    issuer, keys = made(OLD)
    await keys.refresh()
    issuer.keys = ({"kty": "oct", "k": "AAAA"},)
    await keys.refresh()
    assert "no public key" in keys.failure
    assert keys.lookup("old", "ES256") is not None


async def test_nobody_waits_while_the_issuer_is_asked() -> None:
    """Who asks meanwhile is answered by the keys that are known."""
    issuer, keys = made(OLD)
    await keys.refresh()
    issuer.free.clear()
    reading = asyncio.get_running_loop().create_task(keys.refresh())
    while issuer.asked < 2:
        await asyncio.sleep(0)
    assert keys.lookup("old", "ES256") is not None
    assert keys.lookup("new", "ES256") is None
    issuer.keys = (NEW,)
    issuer.free.set()
    await reading
    assert keys.lookup("new", "ES256") is not None


async def test_it_is_read_again_when_it_is_due_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself after a while, and earlier where a key is missing."""
    monkeypatch.setattr(module, "COOL_DOWN_S", 0.0)
    issuer, keys = made(OLD)
    running = asyncio.get_running_loop().create_task(keys.run())
    async with asyncio.timeout(10):
        while issuer.asked < 1 or keys.failure:
            await asyncio.sleep(0)
        issuer.keys = (NEW,)
        assert keys.lookup("new", "ES256") is None
        while keys.lookup("new", "ES256") is None:
            await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()


async def test_what_is_due_by_time_is_read_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anybody asking; and what is asked for too early waits for the end of the cool-down."""
    monkeypatch.setattr(module, "REFRESH_S", 0.01)
    monkeypatch.setattr(module, "COOL_DOWN_S", 0.02)
    issuer = Issuer(OLD)
    keys = KeySet(issuer.fetch)
    running = asyncio.get_running_loop().create_task(keys.run())
    async with asyncio.timeout(10):
        while issuer.asked < 3:
            keys.lookup("made-up", "ES256")
            await asyncio.sleep(0.001)
        before = issuer.asked
        while issuer.asked < before + 2:
            await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert keys.lookup("old", "ES256") is not None


async def test_a_change_is_told_once() -> None:
    """That the keys cannot be read, and that they can again; not each try."""
    issuer, told = Issuer(OLD), list[str]()
    keys = KeySet(issuer.fetch, clock=issuer.clock, report=told.append)
    for failure in ("no answer", "no answer", "", ""):
        issuer.failure = failure
        await keys.refresh()
    assert told == ["no answer", ""]
