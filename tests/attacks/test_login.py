"""The login of people: sessions that are stolen, planted or outlived, forms of other sites, guessing, and where a login may lead."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import Gate
from support.login import USERS, cookie_of, form_headers, login_body
from support.raw import Connection, Response, request, source_address
from support.upstream import RecordingUpstream
from support.verdict import assert_refused, code_of
from support.wire_tls import make_pair

READ = "/v1/models"
WRITE = "/v1/chat/completions"
WRONG = "a wrong password, rather long"
LOGIN = {"auth": {"login": {"users": USERS}}}
NAVIGATE = [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate on loopback that people log in at."""
    with Gate(tmp_path_factory.mktemp("login"), upstream.url, LOGIN) as running:
        yield running


def post(
    gate: Gate,
    body: bytes,
    *,
    path: str = "/.herma/login",
    origin: str | None = "own",
    cookie: str = "",
    more: tuple[tuple[str, str], ...] = (),
    source: str | None = None,
) -> Response:
    given = f"http://{gate.host}" if origin == "own" else origin
    return gate.ask(
        "POST", path, headers=[*form_headers(given, cookie), *more], body=body, source=source
    ).first


def enter(gate: Gate, name: str = "alice", *, cookie: str = "") -> str:
    response = post(gate, login_body(name), cookie=cookie)
    assert response.status == 303, (response.status, response.body)
    return cookie_of(response.all("set-cookie"))


def see(gate: Gate, cookie: str, target: str = READ, method: str = "GET", *more: tuple[str, str]) -> Response:
    body = b'{"messages": []}' if method == "POST" else b""
    return gate.ask(method, target, headers=[("Cookie", f"__Host-herma={cookie}"), *more], body=body).first


def test_a_login_opens_the_gate_and_a_logout_closes_it_for_good(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """The session is over at the gate, not only in the browser, and neither cookie nor password was forwarded or logged."""
    cookie = enter(gate)
    assert see(gate, cookie).status == 200
    assert all(cookie.encode() not in seen.raw for seen in upstream.forwarded)
    assert post(gate, b"", path="/.herma/logout", cookie=cookie).status == 303
    upstream.forget()
    for target in (READ, "/.herma/session", WRITE):
        assert see(gate, cookie, target).status in {401, 405}
    upstream.assert_untouched()
    assert cookie not in gate.written()
    assert "purple lantern" not in gate.written()


@pytest.mark.bypass(40)
def test_a_planted_session_is_not_adopted(gate: Gate, upstream: RecordingUpstream) -> None:
    """Neither a made-up value nor a session of the attacker's own: the login gives a new one, and the old one ends."""
    made_up = "F" * 43
    theirs = enter(gate, "victor")
    for planted in (made_up, theirs):
        fresh = enter(gate, "alice", cookie=planted)
        assert fresh != planted
        upstream.forget()
        assert see(gate, planted).status == 401
        upstream.assert_untouched()


@pytest.mark.bypass(39)
def test_two_session_cookies_are_none(gate: Gate, upstream: RecordingUpstream) -> None:
    """In one header or in two, in any order, also of the same value."""
    cookie, other = enter(gate), "F" * 43
    for first, second in itertools.product([cookie, other, ""], repeat=2):
        joined = f"__Host-herma={first}; __Host-herma={second}"
        lines = [("Cookie", f"__Host-herma={first}"), ("Cookie", f"__Host-herma={second}")]
        assert_refused(upstream, gate.ask("GET", READ, headers=[("Cookie", joined)]), 401)
        assert_refused(upstream, gate.ask("GET", READ, headers=lines), 400)


@pytest.mark.bypass(39)
@pytest.mark.parametrize(
    "line",
    [
        "herma={}", "__Secure-herma={}", "__host-herma={}", "__Host-Herma={}", '__Host-herma="{}"', "__Host-herma={}x", "__Host-herma={}; Path=/;__Host-herma=",
        "__Host-herma=%20{}", "a=__Host-herma={}", "__Host-herma={},__Host-herma={}", "$Version=1; __Host-herma ={}!", "__Host-herma:{}",
    ],
)  # fmt: skip
def test_other_spellings_of_the_cookie_open_nothing(
    gate: Gate, upstream: RecordingUpstream, line: str
) -> None:
    """Other names, quotes, commas, prefixes."""
    cookie = enter(gate)
    assert_refused(upstream, gate.ask("GET", READ, headers=[("Cookie", line.replace("{}", cookie))]), 401)


@pytest.mark.bypass(31)
def test_a_key_beside_a_session_decides_alone(gate: Gate, upstream: RecordingUpstream) -> None:
    """A wrong key, or a header that is none, is not made right by the cookie; nor does a cookie widen a key."""
    cookie = enter(gate)
    for value in ("Bearer wrong-key-000000000000000000", "Bearer ", "Basic eDp5", "x"):
        talk = gate.ask("GET", READ, headers=[("Authorization", value), ("Cookie", f"__Host-herma={cookie}")])
        assert_refused(upstream, talk, 401)
    talk = gate.ask(
        "POST", WRITE, key="reader", headers=[("Cookie", f"__Host-herma={cookie}")], body=b'{"messages": []}'
    )
    assert_refused(upstream, talk, 403)


FOREIGN = [
    "null", "https://evil.example", "http://evil.example", "http://sub.127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1", "http://127.0.0.2:{port}",
    "https://{host}.evil.example", "http://{host}@evil.example", "http://evil.example/{host}", "file://", "http://127.0.0.1:{port}/", "{host}", "",
    "http://[::ffff:127.0.0.1]:{port}", "http://0x7f.1:{port}", "http://{host}, http://evil.example",
]  # fmt: skip


@pytest.mark.parametrize("origin", FOREIGN)
def test_what_another_site_sends_is_refused(gate: Gate, upstream: RecordingUpstream, origin: str) -> None:
    """Writes, reads of scripts, logins and logouts, whatever the fetch metadata claim."""
    cookie = enter(gate)
    given = origin.format(port=gate.port, host=gate.host)
    for site in (None, "same-origin", "none"):
        extra = [("Origin", given), *([("Sec-Fetch-Site", site)] if site else [])]
        for method, target in (("POST", WRITE), ("GET", READ), ("DELETE", "/api/jobs/x")):
            upstream.forget()
            answer = see(gate, cookie, target, method, *extra)
            assert answer.status in {400, 403}, (method, answer.status)
            upstream.assert_untouched()
        for path in ("/.herma/login", "/.herma/logout"):
            answer = post(
                gate, login_body("victor"), path=path, origin=given, cookie=cookie, more=tuple(extra[1:])
            )
            assert answer.status in {400, 403}
            assert answer.all("set-cookie") == []
    assert see(gate, cookie, "/.herma/session").status == 200


def test_without_an_origin_a_write_needs_same_origin(gate: Gate, upstream: RecordingUpstream) -> None:
    """What a browser says of itself, and nothing that only looks like it."""
    cookie = enter(gate)
    lies = ["cross-site", "same-site", "none", "", "SAME-ORIGIN", "same-origin,none", "same-origin;"]
    for headers in [[], *([("Sec-Fetch-Site", lie)] for lie in lies), [("Referer", f"http://{gate.host}/")]]:
        upstream.forget()
        answer = see(gate, cookie, WRITE, "POST", *headers)
        assert (answer.status, code_of(answer)[:6]) == (403, "herma."), headers
        assert post(gate, login_body("victor"), origin=None, more=tuple(headers)).status == 403
        upstream.assert_untouched()
    assert see(gate, cookie, WRITE, "POST", ("Sec-Fetch-Site", "same-origin")).status == 200


@pytest.mark.bypass(56)
def test_a_socket_of_another_site_is_refused(gate: Gate, upstream: RecordingUpstream) -> None:
    """A browser opens WebSockets across sites and adds the cookie: without an own Origin there is no upgrade."""
    cookie = enter(gate)
    upgrade = [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "ZmFrZSBrZXkgZm9yIHRlcw==")
    ]  # fmt: skip
    for extra in (
        [],
        [("Origin", "null")],
        [("Origin", "https://evil.example")],
        [("Sec-Fetch-Site", "cross-site")],
    ):
        talk = gate.ask(
            "GET", "/v1/browser-control/ws", headers=[("Cookie", f"__Host-herma={cookie}"), *upgrade, *extra]
        )
        assert_refused(upstream, talk, 403)


ELSEWHERE = [
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "https:evil.example", "javascript:alert(1)",
    "/%5Cevil.example", "/%2F/evil.example", "/\tevil", "/\r\nSet-Cookie: x=y", "/%0d%0aLocation: https://evil.example", "/..//evil.example", "/.herma/logout",
    "/%2eherma/logout", "@evil.example", ".evil.example", "/x#@evil", "data:text/html,x", "\u2044evil.example", "/\uff0fevil.example", "", " /x", "/;@evil.example",
]  # fmt: skip


@pytest.mark.parametrize("back", ELSEWHERE)
def test_a_login_leads_nowhere_else(gate: Gate, back: str) -> None:
    """Whatever `next` says, in the page and in the form."""
    response = post(gate, login_body("alice", back=back))
    assert (response.status, response.get("location")) == (303, "/")
    from urllib.parse import quote

    page = gate.ask("GET", f"/.herma/login?next={quote(back, safe='')}").first
    assert page.status in {200, 400}
    assert page.status == 400 or b'name="next" value="/"' in page.body


@pytest.mark.bypass(42)
def test_no_link_makes_the_gate_do_something(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A page that opens a window on a GET that acts is refused like its form; nor does a login lead there."""
    below = {
        "auth": {"login": {"users": USERS}},
        "upstream": {"profile": "hermes-dashboard"},
        "surfaces": {"file.read": {"scope": "admin"}},
    }
    followed = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"), ("Accept", "text/html")]
    acting = (
        "/api/dashboard/plugins/rescan",
        "/api/skills/hub/preview?identifier=https://evil.example/x",
        "/api/git/status?path=/srv/x",
    )
    with Gate(tmp_path, upstream.url, below) as gate:
        cookie = cookie_of(post(gate, login_body("alice")).all("set-cookie"))
        for target in acting:
            for site in ("cross-site", "same-site"):
                response = see(gate, cookie, target, "GET", ("Sec-Fetch-Site", site), *followed)
                assert (response.status, code_of(response)) == (403, "herma.auth.cross_site")
            assert post(gate, login_body("alice", back=target)).get("location") == "/"
        assert {seen.target for seen in upstream.seen}.isdisjoint(acting)
        for target in ("/chat", "/api/sessions"):
            assert see(gate, cookie, target, "GET", ("Sec-Fetch-Site", "cross-site"), *followed).status != 403
        assert see(gate, cookie, acting[0], "GET", ("Sec-Fetch-Site", "same-origin")).status != 403


def test_who_asks_for_a_page_is_led_to_the_login_and_back(gate: Gate, upstream: RecordingUpstream) -> None:
    """By a location that is a path of this host."""
    answer = gate.ask("GET", "/chat?to=https://evil.example/", headers=NAVIGATE).first
    assert answer.status == 303
    assert answer.get("location") == "/.herma/login?next=%2Fchat%3Fto%3Dhttps%3A%2F%2Fevil.example%2F"
    upstream.assert_untouched()


def test_every_wrong_login_gets_the_same_answer(gate: Gate) -> None:
    """A known name, an unknown one, odd ones, empty and endless passwords: one body, one status, one set of headers."""
    tries = [("alice", WRONG), ("nobody", WRONG), ("Alice", WRONG), ("user:alice", WRONG), ("admin", WRONG), ("alice", ""), ("", ""), ("alice\0", "x"),
             ("alice", "x" * 1500), ("\u0430lice", WRONG), ("' OR 1=1 --", "x")]  # fmt: skip
    answers = [post(gate, login_body(name, password)) for name, password in tries]
    kinds = {
        (
            one.status,
            one.body,
            tuple((name, value) for name, value in one.headers if name not in {"x-herma-exchange", "date"}),
        )
        for one in answers
    }
    assert len(kinds) == 1
    assert answers[0].status == 401


def test_guessing_cannot_be_reset_by_headers(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Addresses that a caller claims are not believed; names, known or not, share the address's budget."""
    overrides = {"auth": {"login": {"users": USERS}, "failures": {"free_attempts": 3, "base_delay_s": 60}}}
    with Gate(tmp_path, upstream.url, overrides) as gate:
        source, statuses = source_address(), []
        for number in range(8):
            claims = tuple(
                (name, f"198.51.100.{number}")
                for name in ("X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP")
            )
            more = (*claims, ("Forwarded", f"for=198.51.100.{number}"), ("User-Agent", f"agent {number}"))
            statuses.append(post(gate, login_body(f"name{number}", WRONG), more=more, source=source).status)
        assert statuses == [401] * 4 + [429] * 4
        blocked = post(gate, login_body("alice"), source=source)
        assert blocked.status == 429
        assert int(blocked.get("retry-after") or 0) > 30
        assert post(gate, login_body("alice"), source=source_address()).status == 303


def test_one_account_is_guessed_at_slowly_and_its_owner_gets_in(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """From however many addresses; from where its owner was before there is no wait."""
    overrides = {"auth": {"login": {"users": USERS}, "failures": {"free_attempts": 3, "base_delay_s": 60}}}
    with Gate(tmp_path, upstream.url, overrides) as gate:
        home = source_address()
        assert post(gate, login_body("alice"), source=home).status == 303
        for name in ("alice", "nobody"):
            statuses = [post(gate, login_body(name, WRONG), source=source_address()).status for _ in range(6)]
            assert statuses == [401] * 4 + [429] * 2, name
        assert post(gate, login_body("alice"), source=source_address()).status == 429
        assert post(gate, login_body("alice"), source=home).status == 303
        assert post(gate, login_body("victor"), source=source_address()).status == 303


@pytest.mark.bypass(1, 2, 6)
@pytest.mark.parametrize(
    ("target", "statuses"),
    [
        ("/%2eherma/session", {401}), ("/.%68erma/%73ession", {401}), ("//.herma/session", {400}), ("/.herma//session", {400}), ("/x/../.herma/session", {400}),
        ("/./.herma/session", {400}), ("/.herma/./session", {400}), ("/.herma/../v1/models", {400}), ("/.herma%2Fsession", {404}), ("/.herma/session/", {404}),
        ("/.herma/SESSION", {404}), ("/.HERMA/session", {404}), ("/.herma;x/session", {400}), ("/.herma\\session", {400}), ("/%252eherma/session", {401}),
        ("/%ef%bc%8eherma/session", {404}), ("/.herma/session%00", {400}), ("/.herma/session%20", {400}), ("/.herma/x", {404}), ("/.herma", {404}),
        ("/v1/.herma/session", {401, 404}), ("/.herma/login%3Fnext=/", {400}),
    ],
)  # fmt: skip
def test_the_gates_own_paths_never_reach_the_agent(
    gate: Gate, upstream: RecordingUpstream, target: str, statuses: set[int]
) -> None:
    """In every spelling: it is served, refused or unknown, and what is not reserved needs a key like everything else."""
    for key in (None, "admin"):
        talk = gate.ask("GET", target, key=key)
        if key is None or ".herma" in target.lower() or ("herma" in target and "%25" not in target):
            assert talk.status in statuses | {404 if key else 401}, talk.first
        if "%25" not in target and "/v1/." not in target:
            upstream.assert_untouched()


def test_bodies_that_are_no_form_are_refused(gate: Gate, upstream: RecordingUpstream) -> None:
    """By size, announced or not, and by type; a refusal of the gate each time."""
    own = ("Origin", f"http://{gate.host}")
    form = ("Content-Type", "application/x-www-form-urlencoded")
    large = login_body("alice", "x" * 20_000)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(large), large)
    cases = [
        ([own, form], large, 413),
        ([own, form, ("Transfer-Encoding", "chunked")], chunked, 413),
        (
            [own, ("Content-Type", "application/json")],
            json.dumps({"name": "alice", "password": "x"}).encode(),
            415,
        ),
        ([own, ("Content-Type", "text/plain")], login_body("alice"), 415),
        ([own, form, ("Content-Encoding", "gzip")], b"not gzip", 415),
        ([own, form], b"name=alice&password=a&password=b", 400),
        ([own, form], b"name[]=alice&password=b", 400),
    ]
    for headers, body, status in cases:
        assert_refused(upstream, gate.ask("POST", "/.herma/login", headers=headers, body=body), status)
    assert_refused(upstream, gate.ask("GET", "/.herma/logout"), 405)
    assert_refused(upstream, gate.ask("POST", "/.herma/session", headers=[own]), 405)


def test_no_password_is_asked_for_over_plain_http_from_elsewhere(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """A listener that is not loopback says so in a page, and judges no password; a header of a stranger does not change it."""
    gate = Gate(tmp_path, upstream.url, LOGIN)
    gate.config["listen"] = [{"address": f"0.0.0.0:{gate.port}", "public_names": [f"127.0.0.1:{gate.port}"]}]
    gate.write_config(gate.config)
    with gate:
        for more in (
            (),
            (("X-Forwarded-Proto", "https"),),
            (("Forwarded", "proto=https"),),
            (("X-Forwarded-Ssl", "on"),),
        ):
            for answer in (
                gate.ask("GET", "/.herma/login", headers=list(more)).first,
                post(gate, login_body("alice"), more=more),
            ):
                assert answer.status == 403
                assert b"not encrypted" in answer.body
                assert b"<form" not in answer.body
                assert answer.all("set-cookie") == []


def test_over_tls_people_log_in_from_anywhere(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """By the https origin only: a page under the same name without TLS could be anybody's."""
    pair = make_pair(tmp_path)
    gate = Gate(tmp_path, upstream.url, LOGIN)
    listener = {
        "address": f"0.0.0.0:{gate.port}",
        "public_names": ["localhost"],
        "tls": {"cert_file": pair.cert, "key_file": pair.key},
    }
    gate.config["listen"] = [listener]
    gate.write_config(gate.config)
    host = f"localhost:{gate.port}"

    def send(method: str, target: str, headers: list[tuple[str, str]], body: bytes = b"") -> Response:
        with Connection(gate.port, tls=pair.trusting()) as connection:
            connection.send(request(method, target, host=host, headers=headers, body=body))
            return connection.talk(methods=[method]).first

    with gate:
        assert send("GET", "/.herma/login", []).status == 200
        assert (
            send("POST", "/.herma/login", form_headers(f"http://{host}"), login_body("alice")).status == 403
        )
        response = send("POST", "/.herma/login", form_headers(f"https://{host}"), login_body("alice"))
        cookie = cookie_of(response.all("set-cookie"))
        assert send("GET", READ, [("Cookie", f"__Host-herma={cookie}")]).status == 200


def test_sessions_hold_and_end_at_every_worker(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A login at one worker is one at all of them, and so is a logout; guesses are counted together."""
    failures = {"free_attempts": 4, "base_delay_s": 60}
    overrides = {"workers": 2, "auth": {"login": {"users": USERS}, "failures": failures}}
    with Gate(tmp_path, upstream.url, overrides) as gate:
        cookies = [enter(gate, name) for name in ("alice", "olga", "victor")]
        for cookie in cookies:
            assert {see(gate, cookie, "/.herma/session").status for _ in range(12)} == {200}
        assert post(gate, b"", path="/.herma/logout", cookie=cookies[0]).status == 303
        assert {see(gate, cookies[0], "/.herma/session").status for _ in range(12)} == {401}
        assert see(gate, cookies[1], "/.herma/session").status == 200
        source = source_address()
        statuses = [post(gate, login_body("nobody", WRONG), source=source).status for _ in range(9)]
        assert statuses == [401] * 5 + [429] * 4


def test_a_reload_ends_the_sessions_of_who_is_gone_or_changed(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """At every worker, without a restart; the others stay logged in."""
    from time import monotonic, sleep

    with Gate(tmp_path, upstream.url, LOGIN | {"workers": 2}) as gate:
        cookies = {name: enter(gate, name) for name in ("alice", "olga", "victor")}
        gate.config["auth"]["login"]["users"] = [USERS[0], {**USERS[1], "role": "viewer"}]
        gate.write_config(gate.config)
        deadline = monotonic() + 20
        while {
            see(gate, cookies[name], "/.herma/session").status
            for name in ("olga", "victor")
            for _ in range(6)
        } != {401}:
            assert monotonic() < deadline
            sleep(0.1)
        assert {see(gate, cookies["alice"], "/.herma/session").status for _ in range(6)} == {200}
        assert post(gate, login_body("victor")).status == 401
