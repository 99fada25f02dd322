"""Logging in at an identity provider, in the test's own event loop."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from herma.errors import StoreError
from herma.identity import Accounts, SignIn
from herma.identity.sign_in import PAUSE_S
from herma.policy.openid.pending import LOGIN_FOR_S
from herma.policy.secret import Secret
from support.inprocess import Gated, gated, json_of
from support.issuer import CLIENT_SECRET, ISSUER, OIDC, ScriptedIssuer
from support.login import USERS, cookie_of, form_headers, login_body
from support.raw import Response
from support.visitor import LOGIN_COOKIE, SESSION_COOKIE, cookies_of, jar

BOTH = {"users": USERS, "oidc": OIDC}
ONLY = {"oidc": OIDC}
CROSS = ("Sec-Fetch-Site", "cross-site")
NAVIGATE = (CROSS, ("Sec-Fetch-Mode", "navigate"))
BEGIN, CALLBACK = "/.herma/login/begin", "/.herma/login/callback"


@asynccontextmanager
async def meeting(login: dict[str, Any] = ONLY, **rest: Any) -> AsyncIterator[tuple[Gated, ScriptedIssuer]]:
    """Run a gate whose provider is scripted."""
    async with gated(login=login, **rest) as gate:
        issuer, sign_in = ScriptedIssuer(), gate.plane.generation.accounts.sign_in
        assert sign_in is not None
        sign_in._fetch, sign_in._clock = issuer, gate.clock
        yield gate, issuer


async def get(
    gate: Gated, target: str, cookies: dict[str, str] | None = None, *headers: tuple[str, str], **parts: Any
) -> Response:
    return await gate.ask("GET", target, key=None, headers=[*jar(cookies or {}), *headers], **parts)


async def begun(gate: Gated, back: str = "") -> tuple[str, dict[str, str]]:
    """Begin a login; return where the browser is sent, and its cookies."""
    response = await get(gate, BEGIN + (f"?next={back}" if back else ""))
    assert response.status == 303, response
    return response.get("location") or "", cookies_of(response.all("set-cookie"))


async def back(gate: Gated, query: str, cookies: dict[str, str], **parts: Any) -> Response:
    return await get(gate, f"{CALLBACK}?{query}", cookies, *NAVIGATE, **parts)


async def enter(gate: Gated, issuer: ScriptedIssuer) -> str:
    """Log in; return the session."""
    url, cookies = await begun(gate)
    response = await back(gate, issuer.visit(url), cookies)
    assert response.status == 303, response
    return cookies_of(response.all("set-cookie"))[SESSION_COOKIE]


def problem(response: Response) -> str:
    """Return what the page says is wrong."""
    found = re.search(rb'role="alert">([^<]*)<', response.body)
    assert found is not None, response
    return found[1].decode()


async def test_a_login_leads_there_and_back_and_in() -> None:
    """To where the person was; the login's own cookie is taken back, and nothing of it is in the audit."""
    async with meeting() as (gate, issuer):
        page = await get(gate, "/.herma/login?next=/chat")
        assert b'href="/.herma/login/begin?next=%2Fchat"' in page.body
        assert b"Log in with Example &amp; Sons" in page.body
        assert b"<form" not in page.body
        url, cookies = await begun(gate, "/chat")
        assert set(cookies) == {LOGIN_COOKIE}
        query = issuer.visit(url)
        assert issuer.came_from(query)["redirect_uri"] == f"http://127.0.0.1:{gate.port}{CALLBACK}"
        response = await back(gate, query, cookies)
        assert (response.status, response.get("location")) == (303, "/chat")
        kept = cookies_of(response.all("set-cookie"))
        assert kept[LOGIN_COOKIE] == ""
        record = await gate.last()
        assert (record.principal, record.operation, record.route) == (
            "user:oidc:alice-1",
            "login.callback",
            CALLBACK,
        )
        said = json_of(await get(gate, "/.herma/session", {SESSION_COOKIE: kept[SESSION_COOKIE]}))
        assert (said["name"], said["scopes"]) == ("alice@good.com", ["read", "status"])
        shown = repr(gate.audit.records)
        assert all(
            one not in shown for one in (kept[SESSION_COOKIE], cookies[LOGIN_COOKIE], "code-0", CLIENT_SECRET)
        )


async def test_a_member_is_a_caller_like_any_other() -> None:
    """With the scopes of the role; the agent sees neither cookie."""
    async with meeting(keys=False) as (gate, issuer):
        gate.agent.on("GET", "/v1/models", {"object": "list", "data": []})
        issuer.claims = {"groups": ["agent-admins"]}
        session = await enter(gate, issuer)
        response = await get(gate, "/v1/models", {SESSION_COOKIE: session, LOGIN_COOKIE: "x"})
        assert response.status == 200
        assert (await gate.agent.only()).all("cookie") == []
        assert (await gate.last()).principal == "user:oidc:alice-1"
        assert (await get(gate, "/v1/models")).status == 401


async def test_beside_passwords_both_ways_lead_in() -> None:
    """And a provider's person is never somebody with a password, whatever the subject is."""
    async with meeting(BOTH) as (gate, issuer):
        page = await get(gate, "/.herma/login")
        assert b"<form" in page.body
        assert b"Log in with" in page.body
        headers = form_headers(f"http://127.0.0.1:{gate.port}")
        entered = await gate.ask("POST", "/.herma/login", key=None, headers=headers, body=login_body("alice"))
        assert entered.status == 303
        issuer.claims = {"sub": "alice"}
        session = await enter(gate, issuer)
        assert (await gate.last()).principal == "user:oidc:alice"
        assert json_of(await get(gate, "/.herma/session", {SESSION_COOKIE: session}))["scopes"] == [
            "read",
            "status",
        ]
        own = cookie_of(entered.all("set-cookie"))
        assert json_of(await get(gate, "/.herma/session", {SESSION_COOKIE: own}))["scopes"] == ["admin"]


async def test_without_passwords_none_is_taken_and_without_a_provider_there_is_no_way() -> None:
    """What is not configured is not there."""
    async with meeting() as (gate, _):
        headers = form_headers(f"http://127.0.0.1:{gate.port}")
        response = await gate.ask(
            "POST", "/.herma/login", key=None, headers=headers, body=login_body("alice")
        )
        assert (response.status, json_of(response)["code"]) == (404, "herma.route.unknown")
    async with gated(login={"users": USERS}) as gate:
        for path in (BEGIN, f"{CALLBACK}?code=c&state=s"):
            assert (await get(gate, path)).status == 404
        assert b"Log in with" not in (await get(gate, "/.herma/login")).body
    async with gated() as gate:
        assert (await get(gate, BEGIN)).status == 404


async def test_a_login_begins_and_ends_with_a_get() -> None:
    """Anything else is refused by its method."""
    async with meeting() as (gate, _):
        for path in (BEGIN, CALLBACK):
            response = await gate.ask(
                "POST", path, key=None, headers=form_headers(f"http://127.0.0.1:{gate.port}")
            )
            assert (response.status, response.get("allow")) == (405, "GET")


async def test_what_other_pages_load_begins_and_ends_nothing() -> None:
    """An image or a script of another site; a link that somebody follows is fine."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate)
        query = issuer.visit(url)
        for path, kept in ((BEGIN, {}), (f"{CALLBACK}?{query}", cookies)):
            for lie in ((CROSS, ("Sec-Fetch-Mode", "no-cors")), (("Origin", "https://evil.example"),)):
                response = await get(gate, path, kept, *lie)
                assert response.status == 403
                assert response.all("set-cookie") == []
        assert (await get(gate, BEGIN, None, *NAVIGATE)).status == 303
        assert (await back(gate, query, cookies)).status == 303


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/%5Cevil.example", "/.herma/logout", "x"]
)
async def test_a_login_leads_nowhere_else(target: str) -> None:
    """Whatever `next` says at the beginning, and whatever the provider's answer says at the end."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate, quote(target, safe=""))
        response = await back(gate, issuer.visit(url) + f"&next={quote(target, safe='')}", cookies)
        assert (response.status, response.get("location")) == (303, "/")


async def test_a_login_makes_a_new_session_and_ends_the_one_before() -> None:
    """Whoever planted it."""
    async with meeting() as (gate, issuer):
        before = await enter(gate, issuer)
        url, cookies = await begun(gate)
        response = await back(gate, issuer.visit(url), cookies | {SESSION_COOKIE: before})
        fresh = cookies_of(response.all("set-cookie"))[SESSION_COOKIE]
        assert fresh != before
        assert (await get(gate, "/.herma/session", {SESSION_COOKIE: before})).status == 401
        assert (await get(gate, "/.herma/session", {SESSION_COOKIE: fresh})).status == 200


async def test_only_the_browser_that_began_a_login_ends_it() -> None:
    """Without its cookie, with that of another login, with two, or changed: the page says to start again."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate)
        _, others = await begun(gate)
        query, value = issuer.visit(url), cookies[LOGIN_COOKIE]
        cases: list[list[tuple[str, str]]] = [
            [], jar(others), jar({LOGIN_COOKIE: value[:-1]}), jar({LOGIN_COOKIE: "A" * len(value)}), [("Cookie", f"{LOGIN_COOKIE}={value}; {LOGIN_COOKIE}={value}")],
        ]  # fmt: skip
        for headers in cases:
            response = await get(gate, f"{CALLBACK}?{query}", None, *NAVIGATE, *headers)
            assert response.status == 400
            assert problem(response).endswith("Start again.")
            assert cookies_of(response.all("set-cookie")) == {LOGIN_COOKIE: ""}
        assert "/token" not in issuer.asked
        assert (await back(gate, query, cookies)).status == 303


async def test_a_state_that_was_tampered_with_ends_the_login() -> None:
    """In any way; it counts as a guess."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate)
        for state in ("x", "", "\u00e9", "A" * 43):
            response = await back(gate, issuer.visit(url, state=state), cookies)
            assert (response.status, response.all("location")) == (400, [])
        assert "/token" not in issuer.asked
        assert gate.store.asked["failed"] == 2  # what is no answer at all is none


async def test_a_login_is_good_for_one_session() -> None:
    """Even where the issuer redeems a code twice."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate)
        query = issuer.visit(url)
        assert (await back(gate, query, cookies)).status == 303
        again = await back(gate, query, cookies)
        assert (again.status, (await gate.last()).code) == (403, "herma.auth.identity")
        assert cookies_of(again.all("set-cookie")) == {LOGIN_COOKIE: ""}
        issuer._codes["code-0"] = _request_of(url)
        again = await back(gate, query, cookies)
        assert again.status == 403
        assert gate.meter.counts["sign_in_troubles", "code.again"] == 1
        gate.clock.now += LOGIN_FOR_S
        issuer._codes["code-0"] = _request_of(url)
        assert (await back(gate, query, cookies)).status == 403


def _request_of(url: str) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}


LIES: list[tuple[dict[str, Any], str]] = [
    ({"iss": "https://evil.example"}, "identity.issuer"),
    ({"aud": "another-client"}, "identity.audience"),
    ({"azp": "another-client"}, "identity.login"),
    ({"nonce": "of another login"}, "identity.login"),
    ({"iat": 1_000_000_000, "exp": 1_000_000_300}, "identity.expired"),
    ({"email_verified": False}, "unwelcome.email"),
    ({"email": "a@evil.com@good.com"}, "unwelcome.email"),
    ({"sub": "\u00e4"}, "unwelcome.subject"),
]


@pytest.mark.parametrize(("claims", "label"), LIES)
async def test_who_is_not_vouched_for_does_not_come_in(claims: dict[str, Any], label: str) -> None:
    """The page says the same of all that could not be verified; the operator's counter says which."""
    async with meeting() as (gate, issuer):
        issuer.claims = claims
        url, cookies = await begun(gate)
        response = await back(gate, issuer.visit(url), cookies)
        assert response.status == 403
        assert SESSION_COOKIE not in cookies_of(response.all("set-cookie"))
        kind, _, _ = label.partition(".")
        assert (await gate.last()).code == f"herma.auth.{kind}"
        assert gate.meter.counts["sign_in_troubles", label] == 1
        assert gate.store.asked["failed"] == 1
        assert gate.store.asked["open_session"] == 0


async def test_nothing_that_the_issuer_says_is_shown() -> None:
    """Neither its error, nor its description of it, nor a name."""
    async with meeting() as (gate, issuer):
        for error in ("access_denied", "<b>x</b>", "login_required"):
            url, cookies = await begun(gate)
            query = issuer.visit(
                url,
                code=None,
                error=error,
                error_description="<script>call 555",
                error_uri="https://evil.example",
            )
            response = await back(gate, query, cookies)
            assert (response.status, problem(response)) == (403, "The identity provider did not sign you in.")
            assert not any(word in response.body for word in (error.encode(), b"555", b"evil"))


async def test_an_answer_of_another_issuer_is_refused() -> None:
    """Its code would be sent to the wrong one."""
    async with meeting() as (gate, issuer):
        url, cookies = await begun(gate)
        response = await back(gate, issuer.visit(url, iss="https://evil.example"), cookies)
        assert response.status == 403
        assert "/token" not in issuer.asked


async def test_while_the_issuer_is_away_a_page_says_so_and_the_rest_goes_on() -> None:
    """Before the login and in its middle; a login that waits goes on when the page is asked for again."""
    async with meeting(BOTH) as (gate, issuer):
        issuer.away = {"/.well-known/openid-configuration": None}
        response = await get(gate, BEGIN + "?next=/chat")
        assert (response.status, response.get("retry-after")) == (503, "5")
        assert problem(response) == "The identity provider does not answer at the moment. Try again shortly."
        assert b"next=%2Fchat" in response.body
        assert b"<form" in response.body
        issuer.away = {}
        gate.clock.now += PAUSE_S
        url, cookies = await begun(gate)
        query = issuer.visit(url)
        issuer.away = {"/token": None}
        response = await back(gate, query, cookies)
        assert response.status == 503
        assert response.all("set-cookie") == []
        assert gate.store.asked["failed"] == 0
        issuer.away = {}
        assert (await back(gate, query, cookies)).status == 303


async def test_a_description_that_cannot_be_used_is_told_to_the_operator() -> None:
    """By the page and by a counter."""
    async with meeting() as (gate, issuer):
        issuer.description = {"token_endpoint": "http://id.example.com/token"}
        response = await get(gate, BEGIN)
        assert response.status == 503
        assert problem(response).endswith("Tell whoever runs this gate.")
        assert gate.meter.counts["sign_in_troubles", "description"] == 1


async def test_a_slow_issuer_holds_up_nobody_else() -> None:
    """Neither callers with a key nor people with a password; a second login of the same address is told to wait."""
    async with meeting(BOTH) as (gate, issuer):
        gate.agent.on("GET", "/v1/models", {"object": "list", "data": []})
        sign_in = gate.plane.generation.accounts.sign_in
        assert sign_in is not None
        url, cookies = await begun(gate)
        query, going, reached = issuer.visit(url), asyncio.Event(), asyncio.Event()

        async def slow(*arguments: Any, **named: Any) -> bytes:
            reached.set()
            await going.wait()
            return await issuer(*arguments, **named)

        sign_in._fetch = slow
        waiting = asyncio.get_running_loop().create_task(back(gate, query, cookies))
        await reached.wait()
        assert (await gate.ask("GET", "/v1/models", key="reader")).status == 200
        assert (await get(gate, "/.herma/login")).status == 200
        response = await back(gate, query, cookies)
        assert (response.status, (await get(gate, "/.herma/login")).status) == (429, 200)
        assert response.all("set-cookie") == []
        going.set()
        assert (await waiting).status == 303


async def test_who_guesses_is_slowed_down() -> None:
    """As with passwords; and who may not come in, as well."""
    async with meeting() as (gate, issuer):
        issuer.claims = {"email": "a@evil.example"}
        statuses = []
        for _ in range(6):
            url, cookies = await begun(gate)
            statuses.append((await back(gate, issuer.visit(url), cookies)).status)
        assert statuses == [403] * 4 + [429] * 2
        issuer.claims = {}
        url, cookies = await begun(gate)
        query = issuer.visit(url)
        assert (await back(gate, query, cookies)).status == 429
        gate.clock.now += 60
        assert (await back(gate, query, cookies)).status == 303


async def test_a_logout_ends_the_session_here_and_leads_on() -> None:
    """To the provider and back to the login page; at the gate it is over before anybody is asked."""
    async with meeting(BOTH) as (gate, issuer):
        session = await enter(gate, issuer)
        headers = [*jar({SESSION_COOKIE: session}), ("Origin", f"http://127.0.0.1:{gate.port}")]
        response = await gate.ask("POST", "/.herma/logout", key=None, headers=headers)
        assert response.status == 200
        assert cookies_of(response.all("set-cookie")) == {SESSION_COOKIE: ""}
        target = f"{ISSUER}/logout?client_id=herma&amp;post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%3A{gate.port}%2F.herma%2Flogin"
        assert f'content="0; url={target}"'.encode() in response.body
        assert (await get(gate, "/.herma/session", {SESSION_COOKIE: session})).status == 401
        again = await gate.ask("POST", "/.herma/logout", key=None, headers=headers)
        assert (again.status, again.get("location")) == (303, "/.herma/login")


async def test_a_provider_without_a_logout_leaves_it_at_the_gate() -> None:
    """And people with passwords are not sent there."""
    async with meeting(BOTH) as (gate, issuer):
        issuer.description = {"end_session_endpoint": None}
        session = await enter(gate, issuer)
        origin = f"http://127.0.0.1:{gate.port}"
        headers = [*jar({SESSION_COOKIE: session}), ("Origin", origin)]
        assert (await gate.ask("POST", "/.herma/logout", key=None, headers=headers)).status == 303
        entered = await gate.ask(
            "POST", "/.herma/login", key=None, headers=form_headers(origin), body=login_body("alice")
        )
        headers = [*jar({SESSION_COOKIE: cookie_of(entered.all("set-cookie"))}), ("Origin", origin)]
        assert (await gate.ask("POST", "/.herma/logout", key=None, headers=headers)).status == 303


async def test_sessions_end_when_the_rules_change() -> None:
    """And stay when only the button does."""
    async with meeting() as (gate, issuer):
        session = await enter(gate, issuer)
        before, login = gate.plane.generation, gate.settings.auth.login
        assert login is not None
        assert login.oidc is not None
        for change, status in (({"label": "Another"}, 200), ({"default_role": None}, 401)):
            fresh = SignIn(replace(login.oidc, **change), Secret(b"fake key"), issuer)
            gate.plane.generation = replace(before, accounts=Accounts((), fresh))
            assert (await get(gate, "/.herma/session", {SESSION_COOKIE: session})).status == status


async def test_sessions_end_with_time_as_all_do() -> None:
    """Without use, and in any case."""
    async with meeting({"oidc": OIDC, "idle_timeout_s": 60, "lifetime_s": 100}) as (gate, issuer):
        gate.agent.on("GET", "/v1/models", {"data": []})
        session = await enter(gate, issuer)
        for later_s, status in ((50, 200), (45, 200), (6, 401)):
            gate.clock.now += later_s
            assert (await get(gate, "/v1/models", {SESSION_COOKIE: session})).status == status


async def test_state_that_cannot_be_asked_refuses_the_login() -> None:
    """Each question in its turn: no answer is no session."""
    async with meeting() as (gate, issuer):
        for name in ("blocked", "take", "succeeded", "open_session"):
            url, cookies = await begun(gate)
            gate.store.broken = {name: StoreError("down")}
            response = await back(gate, issuer.visit(url), cookies)
            gate.store.broken = {}
            assert response.status == 503
            assert response.all("set-cookie") == []
        assert not gate.plane.attempts


async def test_over_a_connection_that_others_can_read_there_is_no_login() -> None:
    """A code could be taken from the wire; behind a proxy that ends TLS the address is the https one."""
    trusted: dict[str, Any] = {"trusted_proxies": ["127.0.0.1"]}
    async with meeting(**trusted) as (gate, issuer):
        seen = [("X-Forwarded-For", "198.51.100.7")]
        for path in (BEGIN, f"{CALLBACK}?code=c&state=s"):
            response = await get(gate, path, None, *seen)
            assert response.status == 403
            assert b"not encrypted" in response.body
        response = await get(gate, BEGIN, None, *seen, ("X-Forwarded-Proto", "https"))
        query = issuer.visit(response.get("location") or "")
        assert issuer.came_from(query)["redirect_uri"] == f"https://127.0.0.1:{gate.port}{CALLBACK}"
