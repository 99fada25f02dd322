"""Whether a caller may still be here."""

from dataclasses import replace

import pytest

from herma.errors import StoreError
from herma.identity import KeyRecord, Keyring
from herma.ingress import holding as module
from herma.ingress.holding import holding
from herma.ingress.refusal import Refusal
from herma.ingress.session import ident_of, limits_of
from herma.policy.decision import Deny
from herma.policy.exchange import Exchange
from herma.policy.grant import Principal, Scope
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route
from herma.policy.routing.surfaces import with_surfaces
from herma.policy.secret import Secret
from herma.wire import Peer
from support.heads import make_head
from support.inprocess import KEYS, Gated, gated, until
from support.login import USERS

LOGIN = {"users": USERS, "idle_timeout_s": 60, "lifetime_s": 600}
PEER = Peer("127.0.0.1", 40000, "127.0.0.1:8643", tls=False, unix=False)
COOKIE = Secret(b"fake" + b"C" * 39)
LINE = (b"Cookie", b"__Host-herma=" + COOKIE.reveal())
ALICE = Principal("user:alice", frozenset({Scope.ADMIN}))


def exchange(*headers: tuple[bytes, bytes], principal: Principal | None = ALICE) -> Exchange:
    head = make_head(*headers, target=b"/v1/models")
    route = Route("GET", "/v1/models", "models.read", Scope.READ)
    return Exchange("x", head, Match(route, {}, known=True), "127.0.0.1", principal)


async def begin(gate: Gated) -> None:
    login, account = gate.settings.auth.login, gate.plane.generation.accounts.get("alice")
    assert login is not None
    assert account is not None
    await gate.store.open_session(ident_of(COOKIE), "alice", account.binding, limits_of(login))


async def test_a_connection_hears_of_the_end_of_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether somebody logs out, time ends it, or the shared state is lost; looking is no use of it."""
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0)
    async with gated(login=LOGIN) as gate:
        await begin(gate)
        async with holding(gate.plane, exchange(LINE), PEER) as holds:
            await until(lambda: gate.store.asked["session"] > 1)
            assert holds()
            await gate.store.end_session(ident_of(COOKIE))
            await until(lambda: not holds())
        await begin(gate)
        async with holding(gate.plane, exchange(LINE), PEER) as holds:
            gate.clock.now += 60
            await until(lambda: not holds())
        await begin(gate)
        async with holding(gate.plane, exchange(LINE), PEER) as holds:
            gate.store.broken = {"session": StoreError("gone")}
            await until(lambda: not holds())
        async with holding(gate.plane, exchange(), PEER) as holds:
            assert not holds()


async def test_what_is_done_meanwhile_is_use_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each time that somebody does something, and not for as long as the connection is there."""
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0)
    async with gated(login=LOGIN) as gate:
        await begin(gate)
        async with holding(gate.plane, exchange(LINE), PEER) as stay:
            for _ in range(3):
                stay.use()
                await looked(gate)
                gate.clock.now += 50
            await looked(gate)
            assert stay()
            gate.clock.now += 10
            await until(lambda: not stay())


async def looked(gate: Gated) -> None:
    """Wait until a look was begun and ended since now."""
    before = gate.store.asked["session"]
    await until(lambda: gate.store.asked["session"] > before + 1)


async def test_a_refusal_of_the_exchange_comes_out_as_it_is() -> None:
    """Nothing is wrapped, and nothing is left running."""
    async with gated(login=LOGIN) as gate:
        await begin(gate)
        with pytest.raises(Refusal):
            async with holding(gate.plane, exchange(LINE), PEER):
                raise Refusal(Deny(503, "herma.test", "No."))


def sent(name: str) -> tuple[bytes, bytes]:
    return (b"Authorization", f"Bearer {KEYS[name]}".encode())


READER = Principal("reader", frozenset({Scope.READ}))
LOCAL = Principal("local", frozenset({Scope.ADMIN}))


async def test_a_key_holds_while_it_would_be_taken() -> None:
    """With keys by what was sent; without any, while there are none; and nobody is nobody."""
    async with gated() as gate:
        for line, principal, held in (
            (sent("reader"), READER, True),
            (sent("runner"), READER, False),
            (LINE, READER, False),
            (LINE, LOCAL, False),
            (LINE, None, True),
        ):
            async with holding(gate.plane, exchange(line, principal=principal), PEER) as holds:
                assert holds() is held
    async with gated(keys=False) as gate:
        for principal, held in ((READER, False), (LOCAL, True)):
            async with holding(gate.plane, exchange(principal=principal), PEER) as holds:
                assert holds() is held


async def test_a_key_with_another_secret_is_another_key() -> None:
    """Whoever rotates a key that leaked sends away who holds the old one, though name and scopes stay."""
    async with (
        gated() as gate,
        holding(gate.plane, exchange(sent("reader"), principal=READER), PEER) as holds,
    ):
        assert holds()
        kept = gate.plane.generation
        fresh = KeyRecord("reader", READER.scopes, Secret(b"fake-key-that-is-new-" + b"x" * 24))
        gate.plane.generation = replace(kept, keyring=Keyring([fresh]))
        assert not holds()
        gate.plane.generation = kept


@pytest.mark.parametrize("profile", [None, Scope.ADMIN])
async def test_what_is_switched_off_or_needs_more_now_ends(profile: Scope | None) -> None:
    """The operation, for everybody or for this caller."""
    async with (
        gated() as gate,
        holding(gate.plane, exchange(sent("reader"), principal=READER), PEER) as holds,
    ):
        assert holds()
        kept = gate.plane.generation
        operation = next(
            route.operation
            for route in kept.profile.routes
            if (route.method, route.template) == ("GET", "/v1/models")
        )
        changed = with_surfaces(kept.profile, {operation: profile})
        gate.plane.generation = replace(kept, profile=changed)
        assert not holds()
        gate.plane.generation = kept
