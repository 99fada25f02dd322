"""The caller who comes with a session's cookie."""

import hashlib

import pytest

from herma.ingress.refusal import Refusal
from herma.ingress.session import ident_of, limits_of, visitor
from herma.policy.browser.cross_site import Approach
from herma.policy.secret import Secret
from support.heads import make_head
from support.inprocess import Gated, gated
from support.login import USERS

LOGIN = {"users": USERS, "idle_timeout_s": 60, "lifetime_s": 600}
COOKIE = Secret(b"fake" + b"C" * 39)
LINE = (b"Cookie", b"__Host-herma=" + COOKIE.reveal())


def approach(gate: Gated, *, upgrade: bool = False) -> Approach:
    return Approach(gate.plane.generation.hosts[0], "http", upgrade)


async def begin(gate: Gated, name: str = "alice", binding: str | None = None) -> None:
    login, account = gate.settings.auth.login, gate.plane.generation.accounts.get(name)
    assert login is not None
    bound = binding or (account.binding if account else "x")
    await gate.store.open_session(ident_of(COOKIE), name, bound, limits_of(login))


async def asked(
    gate: Gated, *headers: tuple[bytes, bytes], touch: bool = True, upgrade: bool = False
) -> str | None:
    head = make_head(*headers)
    found = await visitor(
        gate.plane, gate.plane.generation, head, approach(gate, upgrade=upgrade), touch=touch
    )
    return found.account.name if found else None


def test_a_session_is_kept_under_a_digest() -> None:
    """Whoever reads the shared state cannot use it."""
    assert ident_of(COOKIE) == hashlib.sha256(COOKIE.reveal()).hexdigest()


async def test_the_cookie_names_a_person() -> None:
    """As long as the session holds; beside a key it says nothing."""
    async with gated(login=LOGIN) as gate:
        assert await asked(gate, LINE) is None
        await begin(gate)
        assert await asked(gate) is None
        assert await asked(gate, LINE) == "alice"
        assert await asked(gate, LINE, (b"Authorization", b"nonsense")) is None
        gate.clock.now += 50
        assert await asked(gate, LINE, touch=False) == "alice"
        gate.clock.now += 10
        assert await asked(gate, LINE) is None


async def test_where_nobody_logs_in_a_cookie_is_not_looked_at() -> None:
    """The shared state is not asked for everybody's cookies."""
    async with gated() as gate:
        assert await asked(gate, LINE) is None
        assert gate.store.asked["session"] == 0


@pytest.mark.parametrize(("name", "binding"), [("nobody", "x"), ("alice", "another role or password")])
async def test_the_session_of_who_is_gone_or_changed_ends(name: str, binding: str) -> None:
    """At the first look."""
    async with gated(login=LOGIN) as gate:
        await begin(gate, name, binding)
        assert await asked(gate, LINE) is None
        assert gate.store.asked["end_session"] == 1


async def test_a_request_of_another_site_is_refused_and_is_no_use() -> None:
    """It does not keep a session alive either."""
    async with gated(login=LOGIN) as gate:
        await begin(gate)
        gate.clock.now += 50
        with pytest.raises(Refusal):
            await asked(gate, LINE, (b"Sec-Fetch-Site", b"cross-site"))
        with pytest.raises(Refusal):
            await asked(gate, LINE, upgrade=True)
        gate.clock.now += 10
        assert await asked(gate, LINE) is None
