"""Who is asking, by what the request and its connection carry."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from herma.identity import Credentials, KeySource
from herma.identity.certificates import CertificateRecord, Certificates
from herma.ingress.authentication import Asking, authenticate
from herma.ingress.recognition import Stranger, by_bearer, by_certificate, by_proxy, still
from herma.ingress.refusal import Refusal
from herma.policy.browser.cross_site import Approach
from herma.policy.browser.role import Role
from herma.policy.decision import Deny
from herma.policy.exchange import Exchange
from herma.policy.grant import Principal, Scope
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route
from herma.policy.secret import Secret
from herma.wire import Peer
from herma.wire.messages import Certificate
from support.heads import make_head
from support.inprocess import KEYS, Gated, code, gated, until
from support.login import USERS
from support.tokens import AUDIENCE, ISSUER, claims, key_set, signer

MODELS = {"object": "list", "data": []}
LOGIN = {"users": USERS, "idle_timeout_s": 60, "lifetime_s": 600}
PROXY_SECRET = "fakeQ4mZt8Lw2Vr6Yc1Hs9Kd"
PROXY = {
    "peers": ["127.0.0.9"],
    "secret": PROXY_SECRET,
    "user_header": "X-Forwarded-User",
    "roles": [{"user": "alice", "role": "operator"}],
}
NAMED = [
    ("X-Herma-Proxy-Secret", PROXY_SECRET),
    ("X-Forwarded-User", "alice"),
    ("Sec-Fetch-Site", "same-origin"),
]
HEADS = [(name.encode(), value.encode()) for name, value in NAMED]
KEY = signer("ES256")
BOT = CertificateRecord("bot", frozenset({"dns:bot.example.com"}), frozenset({Scope.RUN, Scope.READ}))
JWT = Principal("jwt:workloads:worker-1", frozenset({Scope.RUN, Scope.READ}))


def fresh(**over: Any) -> str:
    """Make a token that holds now."""
    now = int(time.time())
    return KEY.token(claims(**{"iat": now, "exp": now + 300} | over)).decode()


def issuer(directory: Path) -> dict[str, object]:
    file = directory / "jwks.json"
    file.touch(mode=0o600)
    file.write_bytes(key_set(KEY))
    return {
        "name": "workloads",
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "jwks_file": str(file),
        "scopes": ["run", "read"],
    }


@asynccontextmanager
async def known(directory: Path, **rest: Any) -> AsyncIterator[Gated]:
    """Run a gate that takes keys, tokens, a proxy's word and certificates."""
    others = {"tokens": [issuer(directory)], "proxy_headers": PROXY}
    async with gated(others=others, **rest) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        generation = gate.plane.generation
        credentials = replace(generation.credentials, certificates=Certificates([BOT]))
        gate.plane.generation = replace(generation, credentials=credentials)
        (source,) = credentials.tokens.sources
        await until(lambda: _read(gate, source))
        yield gate


def _read(gate: Gated, source: KeySource) -> bool:
    keys = gate.plane.key_sets.get(source)
    return keys is not None and keys.lookup(KEY.kid, "ES256") is not None


async def ask(gate: Gated, **parts: Any) -> int:
    return (await gate.ask("GET", "/v1/models", **parts)).status


async def test_a_token_opens_what_it_says(tmp_path: Path) -> None:
    """Within the bound of its issuer, under a name of its own; the upstream never sees it."""
    async with known(tmp_path) as gate:
        token = fresh()
        assert await ask(gate, key=token) == 200
        assert (await gate.last()).principal == "jwt:workloads:worker-1"
        call = await gate.agent.only()
        assert not any(token in value for _, value in call.headers)
        assert (await gate.ask("POST", "/api/jobs", key=fresh(scope="admin"), body={})).status == 403
        assert await ask(gate, key=fresh(scope="openid")) == 403
        assert await ask(gate, key="reader") == 200


@pytest.mark.parametrize(
    ("over", "flaw", "charged"),
    [
        ({"aud": "somebody-else"}, "audience", True),
        ({"exp": 1_000_000_000}, "expired", False),
        ({"exp": 10**12}, "lifetime", False),
        ({"sub": ""}, "claims", False),
    ],
)
async def test_why_a_token_opens_nothing_is_for_the_operator(
    tmp_path: Path, over: dict[str, Any], flaw: str, charged: bool
) -> None:
    """The caller gets the answer that every wrong credential gets; only what may have been a guess is charged."""
    async with known(tmp_path) as gate:
        token = fresh(**over)
        wrong = await gate.ask("GET", "/v1/models", key="fake-wrong-key-000000000000000000000000000")
        found = await gate.ask("GET", "/v1/models", key=token)
        assert (found.status, found.body) == (wrong.status, wrong.body)
        record = await gate.last()
        assert [(one.rule_id, one.shown_place) for one in record.findings] == [
            (f"auth-token-{flaw}", "issuer:workloads")
        ]
        assert ("auth_failures", f"token_{flaw}") in gate.meter.counts
        assert gate.store.asked["failed"] == 1 + charged
        assert gate.agent.calls == []


async def test_where_tokens_are_taken_what_looks_like_one_is_no_key(tmp_path: Path) -> None:
    """And where they are not it is a key like another, which is wrong."""
    async with known(tmp_path) as gate:
        assert await ask(gate, key="eyJ.fake.token") == 401
        assert [one.rule_id for one in (await gate.last()).findings] == ["auth-token-form"]
        assert (await gate.last()).findings[0].place == ""
    async with gated() as gate:
        assert await ask(gate, key=fresh()) == 401
        assert (await gate.last()).findings == []
        assert ("auth_failures", "unknown") in gate.meter.counts


async def test_a_forged_token_slows_the_next_attempt_down(tmp_path: Path) -> None:
    """As a wrong key does; a right one from that address waits as well."""
    async with known(tmp_path) as gate:
        forged = signer("ES256", "other").token(claims(exp=int(time.time()) + 300), kid=KEY.kid).decode()
        for _ in range(4):
            assert await ask(gate, key=forged) == 401
        response = await gate.ask("GET", "/v1/models", key=fresh())
        assert (response.status, code(response)) == (429, "herma.auth.throttled")


async def test_a_proxy_may_name_the_caller(tmp_path: Path) -> None:
    """From its own address and with the secret; its headers stay at the gate."""
    async with known(tmp_path) as gate:
        assert await ask(gate, key=None, headers=NAMED, source="127.0.0.9") == 200
        assert (await gate.last()).principal == "proxy:alice"
        call = await gate.agent.only()
        assert not {"x-forwarded-user", "x-herma-proxy-secret"} & {name.lower() for name, _ in call.headers}
        assert await ask(gate, key=None, headers=NAMED) == 401
        assert await ask(gate, key=None, headers=NAMED, source="127.0.0.8") == 401


async def test_a_proxy_without_the_secret_is_told_to_the_operator(tmp_path: Path) -> None:
    """The caller gets a 401 like everybody."""
    async with known(tmp_path) as gate:
        wrong = [("X-Herma-Proxy-Secret", PROXY_SECRET + "x"), *NAMED[1:]]
        assert await ask(gate, key=None, headers=wrong, source="127.0.0.9") == 401
        assert [one.rule_id for one in (await gate.last()).findings] == ["auth-proxy-secret"]
        assert ("auth_failures", "proxy_secret") in gate.meter.counts
        twice = await gate.ask("GET", "/v1/models", key=None, headers=[*NAMED, NAMED[1]], source="127.0.0.9")
        assert (twice.status, code(twice)) == (400, "herma.auth.proxy_headers")


LATER = datetime.now(UTC).timestamp() + 3600
SHOWN = Certificate((("DNS", "bot.example.com"),), LATER)


def peer(address: str = "127.0.0.1", certificate: Certificate | None = None) -> Peer:
    return Peer(
        address, 40000, "127.0.0.1:8643", certificate is not None, unix=False, certificate=certificate
    )


def asking(gate: Gated, *headers: tuple[bytes, bytes], at: Peer, method: bytes = b"GET") -> Asking:
    approach = Approach(gate.plane.generation.hosts[0], "http", upgrade=False)  # type: ignore[arg-type] - there is one
    head = make_head(*headers, method=method, target=b"/v1/models", host=b"127.0.0.1:%d" % gate.port)
    return Asking(head, at.address, at, approach)


async def found(gate: Gated, *headers: tuple[bytes, bytes], at: Peer, method: bytes = b"GET") -> str:
    """Return the caller's name, empty for a stranger."""
    caller = await authenticate(
        gate.plane, gate.plane.generation, asking(gate, *headers, at=at, method=method)
    )
    return caller.name if isinstance(caller, Principal) else ""


def sent(key: str) -> tuple[bytes, bytes]:
    return (b"Authorization", f"Bearer {KEYS.get(key, key)}".encode())


async def test_a_header_decides_alone(tmp_path: Path) -> None:
    """Then a proxy's word, then a session, then the certificate; what comes later does not mend what was wrong."""
    async with known(tmp_path) as gate:
        proxy = peer("127.0.0.9", SHOWN)
        assert await found(gate, sent("reader"), *HEADS, at=proxy) == "reader"
        assert await found(gate, sent(fresh()), *HEADS, at=proxy) == JWT.name
        assert await found(gate, sent("wrong"), *HEADS, at=proxy) == ""
        assert await found(gate, (b"Authorization", b"Basic ZmFrZTpmYWtl"), *HEADS, at=proxy) == ""
        assert await found(gate, *HEADS, at=proxy) == "proxy:alice"
        assert await found(gate, (b"X-Herma-Proxy-Secret", b"wrong"), *HEADS[1:], at=proxy) == ""
        assert await found(gate, *HEADS, at=peer(certificate=SHOWN)) == "cert:bot"
        assert await found(gate, at=peer(certificate=SHOWN)) == "cert:bot"
        assert await found(gate, at=peer()) == ""


async def test_a_session_stands_before_the_certificate(tmp_path: Path) -> None:
    """Who has logged in is that person, whatever the browser's certificate says; a cookie of no session says nothing."""
    from herma.ingress.session import ident_of, limits_of

    cookie = Secret(b"fake" + b"C" * 39)
    line = (b"Cookie", b"__Host-herma=" + cookie.reveal())
    async with known(tmp_path, login=LOGIN) as gate:
        assert await found(gate, line, at=peer(certificate=SHOWN)) == "cert:bot"
        login, account = gate.settings.auth.login, gate.plane.generation.accounts.get("alice")
        assert login is not None
        assert account is not None
        await gate.store.open_session(ident_of(cookie), "alice", account.binding, limits_of(login))
        assert await found(gate, line, at=peer(certificate=SHOWN)) == "user:alice"
        assert await found(gate, line, *HEADS, at=peer("127.0.0.9")) == "proxy:alice"


EVIL = (b"Origin", b"https://evil.example")


@pytest.mark.parametrize("method", [b"GET", b"POST", b"DELETE"])
async def test_another_site_cannot_use_what_a_browser_sends_by_itself(tmp_path: Path, method: bytes) -> None:
    """Neither the certificate nor the proxy's word; a key, which no other page has, may come from anywhere."""
    async with known(tmp_path) as gate:
        for headers, at in ((HEADS, peer("127.0.0.9")), ([], peer(certificate=SHOWN))):
            with pytest.raises(Refusal) as refusal:
                await found(gate, EVIL, *headers, at=at, method=method)
            assert refusal.value.deny.code == "herma.auth.cross_site"
        assert await found(gate, EVIL, sent("reader"), at=peer(certificate=SHOWN), method=method) == "reader"


async def test_a_program_with_a_certificate_says_nothing_of_pages(tmp_path: Path) -> None:
    """It may change something all the same; behind a proxy somebody's browser has to say whence it comes."""
    async with known(tmp_path) as gate:
        assert await found(gate, at=peer(certificate=SHOWN), method=b"POST") == "cert:bot"
        with pytest.raises(Refusal):
            await found(gate, *HEADS[:2], at=peer("127.0.0.9"), method=b"POST")
        assert await found(gate, *HEADS, at=peer("127.0.0.9"), method=b"POST") == "proxy:alice"


async def test_a_certificate_ends(tmp_path: Path) -> None:
    """Also on a connection that was opened while it held."""
    async with known(tmp_path) as gate:
        generation = gate.plane.generation
        before, after = (datetime.fromtimestamp(LATER + seconds, UTC) for seconds in (-1, 0))
        assert by_certificate(generation, peer(certificate=SHOWN), before) == BOT.principal
        assert by_certificate(generation, peer(certificate=SHOWN), after) is None
        assert by_certificate(generation, peer(), before) is None


async def test_a_certificate_of_an_authority_that_is_trusted_no_more_is_none(tmp_path: Path) -> None:
    """Though its connection was opened before; one more authority ends nobody's."""
    async with known(tmp_path) as gate:
        now = datetime.now(UTC)
        seen = peer(certificate=replace(SHOWN, authorities=frozenset({b"old"})))
        for trusted, caller in (
            ({b"old"}, BOT.principal),
            ({b"old", b"new"}, BOT.principal),
            ({b"new"}, None),
        ):
            generation = replace(gate.plane.generation, authorities=frozenset(trusted))
            assert by_certificate(generation, seen, now) == caller


def exchange(principal: Principal, *headers: tuple[bytes, bytes], address: str = "127.0.0.1") -> Exchange:
    route = Route("GET", "/v1/models", "models.read", Scope.READ)
    head = make_head(*headers, target=b"/v1/models")
    return Exchange("x", head, Match(route, {}, known=True), address, principal)


async def test_what_lasts_is_asked_again(tmp_path: Path) -> None:
    """Whether the credential would still open, for the same caller with the same scopes."""
    async with known(tmp_path) as gate:
        plane = gate.plane
        token = exchange(JWT, sent(fresh()))
        vouched = exchange(Principal("proxy:alice", Role.OPERATOR.scopes), *HEADS)
        by_cert = exchange(BOT.principal)
        assert still(plane, token, peer())
        assert still(plane, vouched, peer("127.0.0.9"))
        assert still(plane, by_cert, peer(certificate=SHOWN))
        # Another connection, another caller.
        assert not still(plane, vouched, peer())
        assert not still(plane, by_cert, peer())
        assert not still(plane, exchange(JWT, sent("wrong")), peer())
        assert not still(plane, exchange(JWT, (b"Authorization", b"Basic ZmFrZTpmYWtl")), peer())
        # A reload takes them away.
        plane.generation = replace(plane.generation, credentials=Credentials())
        assert not still(plane, token, peer())
        assert not still(plane, vouched, peer("127.0.0.9"))
        assert not still(plane, by_cert, peer(certificate=SHOWN))


async def test_what_lasts_ends_with_its_token(tmp_path: Path) -> None:
    """To the second; the leeway for clocks is for requests that begin."""
    async with known(tmp_path) as gate:
        now = int(time.time())
        token = fresh(iat=now - 100, exp=now - 5)
        credential, generation = Secret(token.encode()), gate.plane.generation
        caller = by_bearer(gate.plane, generation, credential, "127.0.0.1", datetime.now(UTC))
        assert caller == (JWT, now - 5)
        assert await ask(gate, key=token) == 200
        assert not still(gate.plane, exchange(JWT, sent(token)), peer())


async def test_what_is_said_about_a_stranger(tmp_path: Path) -> None:
    """Nothing where nothing was sent; and a proxy's trouble is the operator's."""
    assert list(Stranger().findings) == []
    async with known(tmp_path) as gate:
        generation = gate.plane.generation
        denied = by_proxy(generation, peer("127.0.0.9"), make_head(*HEADS, HEADS[0]))
        assert isinstance(denied, Deny)
        assert by_proxy(generation, peer(), make_head(*HEADS)) is None
        assert by_proxy(replace(generation, credentials=Credentials()), peer(), make_head()) is None
