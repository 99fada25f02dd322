"""The gate's own pages, in the test's own event loop."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from herma.config.upstream import DEFAULT_UPSTREAM
from herma.errors import StoreError
from herma.identity import TooManyPasswords
from herma.runtime.generation import build
from support.inprocess import Gated, _content, code, gated, json_of, until
from support.login import USERS, cookie_of, form_headers, login_body
from support.raw import Response

LOGIN = {"users": USERS}
WRONG = "wrong password, and long"
MODELS = {"object": "list", "data": []}
HTML = ("Accept", "text/html,*/*;q=0.8")


def origin(gate: Gated) -> str:
    return f"http://127.0.0.1:{gate.port}"


async def submit(
    gate: Gated,
    name: str,
    password: str | None = None,
    *,
    back: str | None = None,
    cookie: str = "",
    source: str | None = None,
) -> Response:
    return await gate.ask(
        "POST",
        "/.herma/login",
        key=None,
        headers=form_headers(origin(gate), cookie),
        body=login_body(name, password, back),
        source=source,
    )


async def enter(gate: Gated, name: str = "alice", *, cookie: str = "") -> str:
    """Log in; return the cookie."""
    response = await submit(gate, name, cookie=cookie)
    assert response.status == 303, response
    return cookie_of(response.all("set-cookie"))


async def see(
    gate: Gated,
    target: str,
    cookie: str,
    *headers: tuple[str, str],
    method: str = "GET",
    key: str | None = None,
) -> Response:
    """Ask with the session's cookie."""
    return await gate.ask(method, target, key=key, headers=[("Cookie", f"__Host-herma={cookie}"), *headers])


async def test_the_page_is_there_for_everybody_and_nothing_is_forwarded() -> None:
    """HTML that no cache keeps, with the gate's own policy."""
    async with gated(login=LOGIN) as gate:
        page = await gate.ask("GET", "/.herma/login?next=%2Fchat%3Fx%3D1", key=None)
        assert page.status == 200
        assert page.get("content-type") == "text/html; charset=utf-8"
        assert page.get("cache-control") == "no-store"
        assert "default-src 'none'" in str(page.get("content-security-policy"))
        assert b'name="next" value="/chat?x=1"' in page.body
        assert page.all("set-cookie") == []
        head = await gate.ask("HEAD", "/.herma/login", key=None)
        assert (head.status, head.body) == (200, b"")
        record = await gate.last()
        assert (record.operation, record.route, record.outcome) == ("login", "/.herma/login", "answered")
        assert gate.agent.calls == []


async def test_without_login_in_the_configuration_there_are_no_pages() -> None:
    """And their paths are not the upstream's either."""
    async with gated() as gate:
        for path in ("/.herma/login", "/.herma/session", "/.herma/x"):
            response = await gate.ask("GET", path)
            assert (response.status, code(response)) == (404, "herma.route.unknown")
        assert gate.agent.calls == []


async def test_a_person_logs_in_uses_the_agent_and_logs_out() -> None:
    """The cookie opens what the role may do, the upstream never sees it, and after the logout it opens nothing."""
    async with gated(login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        response = await submit(gate, "alice", back="/v1/models?x=1")
        assert (response.status, response.get("location")) == (303, "/v1/models?x=1")
        cookie = cookie_of(response.all("set-cookie"))
        record = await gate.last()
        assert (record.principal, record.operation, record.code) == ("user:alice", "login", "")
        assert (await see(gate, "/v1/models", cookie)).status == 200
        assert (await gate.last()).principal == "user:alice"
        call = await gate.agent.only()
        assert call.get("cookie") is None
        assert all(cookie not in value for _, value in call.headers)
        assert b"You are signed in as alice." in (await see(gate, "/.herma/login", cookie)).body
        left = await see(gate, "/.herma/logout", cookie, ("Origin", origin(gate)), method="POST")
        assert (left.status, left.get("location")) == (303, "/.herma/login")
        assert "Max-Age=0" in left.all("set-cookie")[0]
        assert cookie_of(left.all("set-cookie")) == ""
        assert (await see(gate, "/v1/models", cookie)).status == 401
        again = await see(gate, "/.herma/logout", cookie, ("Origin", origin(gate)), method="POST")
        assert again.status == 303
        without = await gate.ask("POST", "/.herma/logout", key=None, headers=[("Origin", origin(gate))])
        assert without.status == 303


async def test_a_role_is_a_set_of_scopes() -> None:
    """A viewer reads and starts nothing; the session page says so."""
    async with gated(login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        cookie = await enter(gate, "victor")
        assert (await see(gate, "/v1/models", cookie)).status == 200
        started = await see(gate, "/v1/chat/completions", cookie, ("Origin", origin(gate)), method="POST")
        assert (started.status, code(started)) == (403, "herma.auth.scope")
        said = await see(gate, "/.herma/session", cookie)
        assert (said.get("content-type"), said.get("cache-control")) == ("application/json", "no-store")
        session = json_of(said)
        assert (session["name"], session["scopes"]) == ("victor", ["read", "status"])
        left = datetime.fromisoformat(session["expires"]) - datetime.now(UTC)
        assert 1700 < left.total_seconds() <= 1800


async def test_without_a_session_the_session_page_is_a_401() -> None:
    """Also beside a key, which is not a session: `Authorization` decides alone."""
    async with gated(login=LOGIN) as gate:
        cookie = await enter(gate)
        for response in (
            await gate.ask("GET", "/.herma/session", key=None),
            await gate.ask("GET", "/.herma/session", key="admin"),
            await see(gate, "/.herma/session", cookie, key="runner"),
            await see(gate, "/.herma/session", "A" * 43),
        ):
            assert (response.status, code(response)) == (401, "herma.auth.required")


async def test_a_key_beside_a_session_decides_alone() -> None:
    """A wrong one is not made right by the cookie, a right one has its own scopes."""
    async with gated(login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        cookie = await enter(gate)
        assert (await see(gate, "/v1/models", cookie, key="fake-wrong-key-000000000000000")).status == 401
        assert (await see(gate, "/v1/models", cookie, ("Authorization", "Basic eDp5"))).status == 401
        assert (await see(gate, "/v1/models", cookie, key="reader")).status == 200
        assert (await gate.last()).principal == "reader"


async def test_wrong_names_and_wrong_passwords_get_one_answer() -> None:
    """Whether there is such a person does not show, in words, status or headers; and both are counted."""
    async with gated(login=LOGIN) as gate:
        answers = [
            await submit(gate, "alice", WRONG, source="127.0.8.1"),
            await submit(gate, "nobody", WRONG, source="127.0.8.2"),
            await submit(gate, "alice", "", source="127.0.8.3"),
            await submit(gate, "alice", "a\0b", source="127.0.8.4"),
            await submit(gate, "nobody", "x" * 2000, source="127.0.8.5"),
        ]
        (said,) = {(one.status, one.body) for one in answers}
        assert said[0] == 401
        assert b"Name or password is wrong." in said[1]
        (names,) = {tuple(name for name, _ in one.headers) for one in answers}
        assert "set-cookie" not in names
        assert gate.meter.counts["auth_failures", "password"] == 5
        record = await gate.last()
        assert (record.code, record.outcome, record.principal) == ("herma.auth.login", "denied", "")


async def test_guessing_from_one_address_is_slowed() -> None:
    """After the free attempts not even the right password gets in until the wait is over."""
    async with gated(login=LOGIN) as gate:
        for name in ("alice", "nobody", "victor", "olga"):
            assert (await submit(gate, name, WRONG, source="127.0.9.1")).status == 401
        slow = await submit(gate, "alice", source="127.0.9.1")
        assert (slow.status, slow.get("retry-after")) == (429, "1")
        assert (await gate.last()).code == "herma.auth.throttled"
        assert (await submit(gate, "alice", source="127.0.9.2")).status == 303
        gate.clock.now += 1
        assert (await submit(gate, "alice", source="127.0.9.1")).status == 303


async def test_guessing_at_one_person_is_slowed_and_does_not_lock_out() -> None:
    """Whoever logged in from an address before gets in from there, and everybody after a minute."""
    async with gated(login=LOGIN) as gate:
        assert (await submit(gate, "alice", source="127.0.9.1")).status == 303
        for number in range(12):
            gate.clock.now += 60
            await submit(gate, "alice", WRONG, source=f"127.0.10.{1 + number}")
            await submit(gate, "alice", WRONG, source=f"127.0.11.{1 + number}")
        assert (await submit(gate, "alice", source="127.0.9.2")).status == 429
        assert (await submit(gate, "alice", source="127.0.9.1")).status == 303
        gate.clock.now += 60
        assert (await submit(gate, "alice", source="127.0.9.2")).status == 303


async def test_guesses_of_one_address_do_not_overtake_their_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one is verified the next is told to wait; other addresses go on. One whose caller left is charged all the same."""
    async with gated(login=LOGIN) as gate:
        go, waiting = asyncio.Event(), 0

        async def slow(*_: object) -> bool:
            nonlocal waiting
            waiting += 1
            await go.wait()
            return False

        monkeypatch.setattr(type(gate.plane.passwords), "verify", slow)
        client = await gate.open(
            "POST",
            "/.herma/login",
            key=None,
            headers=form_headers(origin(gate)),
            body=login_body("alice", WRONG),
            source="127.0.9.1",
        )
        await until(lambda: waiting == 1)
        second = await submit(gate, "victor", WRONG, source="127.0.9.1")
        assert (second.status, second.get("retry-after")) == (429, "1")
        client.close()
        await until(lambda: not gate.plane.active)
        go.set()
        assert (await submit(gate, "alice", WRONG, source="127.0.9.3")).status == 401
        await gate.quiet()
        assert gate.meter.counts["auth_failures", "password"] == 2
        assert gate.plane.attempts == set()


async def test_too_many_at_once_are_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being charged for it."""
    async with gated(login=LOGIN) as gate:

        async def full(*_: object) -> bool:
            raise TooManyPasswords

        monkeypatch.setattr(type(gate.plane.passwords), "verify", full)
        response = await submit(gate, "alice")
        assert (response.status, response.get("retry-after")) == (503, "2")
        assert b"Too many people" in response.body
        assert gate.store.asked["failed"] == 0


async def test_a_login_ends_the_session_that_the_browser_had() -> None:
    """A cookie that somebody planted is neither taken over nor left alive."""
    async with gated(login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        planted = await enter(gate, "victor")
        fresh = await enter(gate, "alice", cookie=planted)
        assert fresh != planted
        assert (await see(gate, "/v1/models", planted)).status == 401
        assert (await see(gate, "/v1/models", fresh)).status == 200
        unknown = await enter(gate, cookie="F" * 43)
        assert unknown != "F" * 43


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "application/json"}, b'{"name":"alice","password":"x"}', 415),
        ({"Content-Type": "text/plain"}, login_body("alice"), 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x--", 415),
        ({}, b"name=alice", 400),
        ({}, login_body("alice") + b"&name=victor", 400),
        ({}, login_body("alice", "x" * 9000), 413),
        ({"Content-Encoding": "br"}, login_body("alice"), 415),
    ],
)
async def test_what_is_no_login_form_is_refused(headers: dict[str, str], body: bytes, status: int) -> None:
    """By type, by size, by form; no password is looked at."""
    async with gated(login=LOGIN) as gate:
        lines = [
            ("Origin", origin(gate)),
            *({"Content-Type": "application/x-www-form-urlencoded"} | headers).items(),
        ]
        response = await gate.ask("POST", "/.herma/login", key=None, headers=lines, body=body)
        assert response.status == status
        assert code(response).startswith("herma.")
        assert gate.store.asked["blocked"] == 0


@pytest.mark.parametrize(
    "headers",
    [[], [("Sec-Fetch-Site", "cross-site")], [("Origin", "null")], [("Origin", "https://evil.example")]],
)
@pytest.mark.parametrize("path", ["/.herma/login", "/.herma/logout"])
async def test_forms_of_other_sites_are_refused(path: str, headers: list[tuple[str, str]]) -> None:
    """Logging somebody in as somebody else, or out, is an attack too."""
    async with gated(login=LOGIN) as gate:
        cookie = await enter(gate)
        lines = [*form_headers(None, cookie), *headers]
        response = await gate.ask("POST", path, key=None, headers=lines, body=login_body("victor"))
        assert response.status == 403
        assert response.all("set-cookie") == []
        assert (await see(gate, "/.herma/session", cookie)).status == 200


async def test_what_another_site_makes_a_browser_send_is_refused() -> None:
    """With the session's cookie, and only with one that holds: others are nobody."""
    async with gated(login=LOGIN, cors={"origins": ["https://app.example.com"]}) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        cookie = await enter(gate)
        foreign = ("Sec-Fetch-Site", "cross-site")
        for response in (
            await see(gate, "/v1/models", cookie, ("Origin", "https://app.example.com")),
            await see(gate, "/v1/models", cookie, foreign, ("Sec-Fetch-Mode", "no-cors")),
            await see(gate, "/v1/chat/completions", cookie, method="POST"),
        ):
            assert (response.status, code(response)) == (403, "herma.auth.cross_site")
        assert (await see(gate, "/v1/models", "A" * 43, foreign)).status == 401
        assert (await see(gate, "/v1/models", cookie, foreign, ("Sec-Fetch-Mode", "navigate"))).status == 200
        session = await gate.ask(
            "GET", "/.herma/session", key=None, headers=[("Origin", "https://app.example.com")]
        )
        assert session.get("access-control-allow-origin") is None


async def test_other_methods_and_other_pages_are_named() -> None:
    """405 with the methods, 404 in JSON."""
    async with gated(login=LOGIN) as gate:
        for path, allowed in (("login", "GET, HEAD, POST"), ("logout", "POST"), ("session", "GET, HEAD")):
            response = await gate.ask("DELETE", f"/.herma/{path}", key=None)
            assert (response.status, response.get("allow")) == (405, allowed)
        assert (await gate.ask("GET", "/.herma/other", key="admin")).status == 404


async def test_a_password_is_not_asked_for_over_a_connection_that_others_read() -> None:
    """A trusted proxy that took plain HTTP from elsewhere gets a page that says so, and https from it is fine."""
    async with gated(login=LOGIN, trusted_proxies=["127.0.0.0/8"]) as gate:
        for method in ("GET", "POST"):
            lines = [*form_headers(origin(gate)), ("X-Forwarded-For", "203.0.113.9")]
            page = await gate.ask(
                method,
                "/.herma/login",
                key=None,
                headers=lines,
                body=login_body("alice") if method == "POST" else b"",
            )
            assert page.status == 403
            assert b"not encrypted" in page.body
            assert (await gate.last()).code == "herma.auth.cleartext"
        lines = [("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https")]
        assert (await gate.ask("GET", "/.herma/login", key=None, headers=lines)).status == 200
        assert gate.store.asked["blocked"] == 0


async def test_strangers_are_counted_on_the_gates_pages_too() -> None:
    """The rate for callers without a key."""
    limits = {"rates": {"unauthenticated": {"per_s": 1, "burst": 2}}}
    async with gated(login=LOGIN, limits=limits) as gate:
        answers = [
            (await gate.ask("GET", "/.herma/login", key=None, source="127.0.9.1")).status for _ in range(3)
        ]
        assert answers == [200, 200, 429]


async def test_without_the_shared_state_nobody_logs_in() -> None:
    """A throttle or a session that cannot be asked is a refusal."""
    async with gated(login=LOGIN) as gate:
        cookie = await enter(gate)
        for name in ("blocked", "succeeded", "open_session"):
            gate.store.broken = {name: StoreError("gone")}
            assert (await submit(gate, "alice")).status == 503
        gate.store.broken = {"session": StoreError("gone")}
        assert (await see(gate, "/v1/models", cookie)).status == 503
        assert gate.agent.calls == []


async def test_a_reload_ends_the_sessions_of_who_is_gone_or_changed() -> None:
    """Another role or password, or no such person any more; unchanged people stay."""
    changed = [{**USERS[0], "role": "viewer"}, {**USERS[1], "password_hash": USERS[2]["password_hash"]}]
    async with gated(login=LOGIN) as gate, gated(login={"users": changed}) as other:
        cookies = {name: await enter(gate, name) for name in ("alice", "olga", "victor")}
        for name, cookie in cookies.items():
            assert (await see(gate, "/.herma/session", cookie)).status == 200, name
        before = gate.plane.generation
        fresh = replace(before.settings, auth=other.settings.auth)
        gate.plane.generation = replace(
            build(fresh, _content("hermes-api", strict=False)).by_name[DEFAULT_UPSTREAM], pool=before.pool
        )
        for name, cookie in cookies.items():
            assert (await see(gate, "/.herma/session", cookie)).status == 401, name
        gate.plane.generation = before
        assert (await see(gate, "/.herma/session", cookies["alice"])).status == 401
        cookie = await enter(gate, "alice")
        gate.plane.generation = replace(
            build(before.settings, _content("hermes-api", strict=False)).by_name[DEFAULT_UPSTREAM],
            pool=before.pool,
        )
        assert (await see(gate, "/.herma/session", cookie)).status == 200


async def test_sessions_end_with_time() -> None:
    """Without use after half an hour, in use after twelve."""
    async with gated(login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", {"data": []})
        cookie = await enter(gate)
        gate.clock.now += 1799
        assert (await see(gate, "/v1/models", cookie)).status == 200
        gate.clock.now += 1801
        assert (await see(gate, "/v1/models", cookie)).status == 401
        cookie = await enter(gate)
        for _ in range(43_200 // 1500):
            gate.clock.now += 1500
            assert (await see(gate, "/v1/models", cookie)).status == 200
        gate.clock.now += 1300
        assert (await see(gate, "/.herma/session", cookie)).status == 401


async def test_what_a_page_asks_by_itself_is_no_use() -> None:
    """A dashboard that is left open asks on and on, and its session ends all the same; so does that of who asks how long it holds."""
    async with gated(login=LOGIN, profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/api/status", {})
        gate.agent.on("GET", "/api/sessions", {"sessions": []})
        gate.agent.on("GET", "/api/config", {})
        cookie = await enter(gate)
        gate.clock.now += 1000
        assert (await see(gate, "/api/config", cookie)).status == 200
        for _ in range(3):
            gate.clock.now += 599
            for path in ("/api/status", "/api/sessions?limit=50", "/.herma/session"):
                assert (await see(gate, path, cookie)).status == 200, path
        gate.clock.now += 4
        assert (await see(gate, "/api/sessions?limit=50", cookie)).status == 401


async def test_who_waits_for_a_page_is_sent_to_the_login() -> None:
    """And back afterwards; programs, scripts and forms get their 401."""
    async with gated(login=LOGIN) as gate:
        page = await gate.ask("GET", "/chat?x=1", key=None, headers=[HTML])
        assert (page.status, page.get("location")) == (303, "/.herma/login?next=%2Fchat%3Fx%3D1")
        assert (page.body, page.get("cache-control")) == (b"", "no-store")
        record = await gate.last()
        assert (record.status, record.code, record.outcome) == (303, "herma.auth.required", "denied")
        known = await gate.ask("GET", "/v1/models", key=None, headers=[HTML, ("Sec-Fetch-Mode", "navigate")])
        assert known.get("location") == "/.herma/login?next=%2Fv1%2Fmodels"
        for headers in ([], [HTML, ("Sec-Fetch-Mode", "cors")], [HTML, ("Authorization", "Bearer wrong")]):
            assert (await gate.ask("GET", "/v1/models", key=None, headers=headers)).status == 401
        assert (await gate.ask("POST", "/v1/models", key=None, headers=[HTML])).status in {401, 405}
    async with gated() as gate:
        assert (await gate.ask("GET", "/v1/models", key=None, headers=[HTML])).status == 401


async def test_the_dashboards_page_learns_where_to_log_in() -> None:
    """In the answer to its own calls."""
    async with gated(login=LOGIN, profile="hermes-dashboard") as gate:
        said = json_of(await gate.ask("GET", "/api/config", key=None))
        assert (said["error"], said["login_url"]) == ("unauthenticated", "/.herma/login")
    async with gated(profile="hermes-dashboard") as gate:
        assert "login_url" not in json_of(await gate.ask("GET", "/api/config", key=None))


async def test_people_without_any_key_in_the_configuration_are_not_everybody() -> None:
    """A gate with a login and no keys is no open gate."""
    async with gated(keys=False, login=LOGIN) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        assert (await gate.ask("GET", "/v1/models", key=None)).status == 401
        assert (await gate.ask("GET", "/v1/models", key="admin")).status == 401
        cookie = await enter(gate)
        assert (await see(gate, "/v1/models", cookie)).status == 200


async def test_nothing_secret_is_kept_in_what_the_operator_reads() -> None:
    """No password, no cookie, no name that was typed."""
    async with gated(login=LOGIN) as gate:
        cookie = await enter(gate)
        await submit(gate, "hunter2-typed-as-name", WRONG)
        await see(gate, "/v1/models", cookie)
        await gate.quiet()
        kept = (
            json.dumps([repr(record) for record in gate.audit.records])
            + repr(gate.settings)
            + repr(gate.plane.generation.accounts)
        )
        assert not any(text in kept for text in (cookie, WRONG, "hunter2", USERS[0]["password_hash"]))
