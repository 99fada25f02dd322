"""Whether a caller may still be here."""

import pytest

from herma.errors import StoreError
from herma.ingress import holding as module
from herma.ingress.holding import holding
from herma.ingress.refusal import Refusal
from herma.ingress.session import ident_of, limits_of
from herma.policy.decision import Deny
from herma.policy.exchange import Exchange
from herma.policy.grant import Principal, Scope
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route
from herma.policy.secret import Secret
from support.heads import make_head
from support.inprocess import Gated, gated, until
from support.login import USERS

LOGIN = {"users": USERS, "idle_timeout_s": 60, "lifetime_s": 600}
COOKIE = Secret(b"fake" + b"C" * 39)
LINE = (b"Cookie", b"__Host-herma=" + COOKIE.reveal())
ALICE = Principal("user:alice", frozenset())


def exchange(*headers: tuple[bytes, bytes], principal: Principal | None = ALICE) -> Exchange:
    head = make_head(*headers)
    route = Route("GET", "/v1/runs", "run.list", Scope.READ)
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
        async with holding(gate.plane, exchange(LINE)) as holds:
            await until(lambda: gate.store.asked["session"] > 1)
            assert holds()
            await gate.store.end_session(ident_of(COOKIE))
            await until(lambda: not holds())
        await begin(gate)
        async with holding(gate.plane, exchange(LINE)) as holds:
            gate.clock.now += 60
            await until(lambda: not holds())
        await begin(gate)
        async with holding(gate.plane, exchange(LINE)) as holds:
            gate.store.broken = {"session": StoreError("gone")}
            await until(lambda: not holds())
        async with holding(gate.plane, exchange()) as holds:
            assert not holds()


async def test_a_refusal_of_the_exchange_comes_out_as_it_is() -> None:
    """Nothing is wrapped, and nothing is left running."""
    async with gated(login=LOGIN) as gate:
        await begin(gate)
        with pytest.raises(Refusal):
            async with holding(gate.plane, exchange(LINE)):
                raise Refusal(Deny(503, "herma.test", "No."))


async def test_a_key_holds_while_it_would_be_taken() -> None:
    """With keys by the keys; without any, while there are none; and nobody is nobody."""
    reader = Principal("reader", frozenset({Scope.READ}))
    local = Principal("local", frozenset({Scope.ADMIN}))
    for keys, held in ((True, (reader, None)), (False, (local, None))):
        async with gated(keys=keys) as gate:
            for principal in (reader, local, None):
                async with holding(gate.plane, exchange(principal=principal)) as holds:
                    assert holds() is (principal in held)
