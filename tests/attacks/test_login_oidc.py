"""Logins by way of an identity provider: at a certified one that plays by the rules, and at one that lies."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.gate import Gate
from support.issuer import CLIENT, OIDC, ScriptedIssuer
from support.issuer_server import serving
from support.raw import Response, source_address
from support.real_issuer import SECRET, Browser, RealIssuer
from support.upstream import RecordingUpstream
from support.verdict import code_of
from support.visitor import LOGIN_COOKIE, SESSION_COOKIE, cookies_of, jar

READ = "/v1/models"
BEGIN, CALLBACK = "/.herma/login/begin", "/.herma/login/callback"
# What a browser says when another site sends it here and a person waits for the page.
SENT = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html")]
PATIENCE_S = 30.0
GOOD = {"sub": "alice-1", "email": "alice@good.com", "email_verified": True, "groups": ["agent-admins"]}


@dataclass
class Meeting:
    """A gate and its provider."""

    gate: Gate
    issuer: Any

    def get(
        self,
        target: str,
        cookies: dict[str, str] | None = None,
        source: str | None = None,
        *,
        more: list[tuple[str, str]] = SENT,
    ) -> Response:
        return self.gate.ask("GET", target, headers=[*jar(cookies or {}), *more], source=source).first

    def begin(self, back: str = "/chat") -> tuple[str, dict[str, str]]:
        response = self.get(f"{BEGIN}?next={back}")
        assert response.status == 303, response
        return response.get("location") or "", cookies_of(response.all("set-cookie"))

    def come_back(self, where: str, cookies: dict[str, str], source: str | None = None) -> Response:
        """Follow the provider's redirect, or the query of one."""
        parts = urlsplit(where)
        if parts.scheme:
            assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"http://{self.gate.host}{CALLBACK}"
        return self.get(f"{CALLBACK}?{parts.query if parts.scheme else where}", cookies, source)

    def login(self) -> Response:
        url, cookies = self.begin()
        where = self.issuer.visit(url) if isinstance(self.issuer, ScriptedIssuer) else Browser().visit(url)
        return self.come_back(where, cookies)

    def enter(self) -> str:
        """Log in; a provider with new keys may need a moment."""
        deadline = monotonic() + PATIENCE_S
        while (response := self.login()).status == 503:
            assert monotonic() < deadline
        assert response.status == 303, response
        return cookies_of(response.all("set-cookie"))[SESSION_COOKIE]

    def holds(self, session: str, target: str = "/.herma/session") -> bool:
        return self.get(target, {SESSION_COOKIE: session}).status == 200


def configured(url: str, **over: Any) -> dict[str, Any]:
    return {
        "auth": {"login": {"oidc": {**OIDC, "issuer": url, "scopes": ["openid", "email", "groups"], **over}}}
    }


def real(
    directory: Path,
    upstream: RecordingUpstream,
    *,
    methods: str = "client_secret_basic none",
    thin: bool = False,
    **over: Any,
) -> tuple[Gate, RealIssuer]:
    """Make a gate and a real provider that know each other."""
    gate = Gate(directory, upstream.url)
    issuer = RealIssuer(
        directory, f"http://{gate.host}{CALLBACK}", f"http://{gate.host}/.herma/login", methods, thin=thin
    )
    gate.config["auth"]["login"] = configured(issuer.url, client_secret=SECRET, **over)["auth"]["login"]
    gate.write_config(gate.config)
    return gate, issuer


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Meeting]:
    """A gate at a provider that nobody can accuse."""
    gate, issuer = real(tmp_path_factory.mktemp("certified"), upstream)
    with issuer, gate:
        yield Meeting(gate, issuer)


@pytest.fixture(scope="module")
def lying(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Meeting]:
    """A gate at a provider that says what a test wants it to."""
    with (
        serving() as issuer,
        Gate(tmp_path_factory.mktemp("lying"), upstream.url, configured(issuer.url)) as gate,
    ):
        yield Meeting(gate, issuer)


@pytest.fixture(autouse=True)
def _honest(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let each test begin with a person who may come in."""
    if "certified" in request.fixturenames:
        request.getfixturevalue("certified").issuer.is_now(**GOOD)
    yield
    if "lying" in request.fixturenames:
        issuer = request.getfixturevalue("lying").issuer
        issuer.claims, issuer.answer, issuer.away = {}, None, {}


def test_a_person_comes_in_by_the_real_protocol(certified: Meeting, upstream: RecordingUpstream) -> None:
    """There, back, in, and out; nothing that opens anything was forwarded or written."""
    url, cookies = certified.begin()
    where = Browser().visit(url)
    response = certified.come_back(where, cookies)
    assert (response.status, response.get("location")) == (303, "/chat")
    session = cookies_of(response.all("set-cookie"))[SESSION_COOKIE]
    assert certified.holds(session, READ)
    code = where.partition("code=")[2].partition("&")[0]
    hidden = (session, code, SECRET, cookies[LOGIN_COOKIE])
    assert not any(one.encode() in seen.raw for seen in upstream.forwarded for one in hidden)
    assert not any(one in certified.gate.written() for one in hidden)
    lines = [line for line in certified.gate.audit() if line["operation"] == "login.callback"]
    assert lines[-1]["actor"] == "user:oidc:alice-1"


def test_keys_that_the_provider_changes_in_mid_session(certified: Meeting) -> None:
    """Who is in stays in; who comes now comes in by the new keys, without a restart, and again after the next change."""
    session = certified.enter()
    for _ in range(2):
        certified.issuer.rotate()
        assert certified.holds(session)
        assert certified.holds(certified.enter())


def test_a_code_is_good_for_one_login(certified: Meeting) -> None:
    """The same answer again, with the same cookie, opens nothing."""
    url, cookies = certified.begin()
    where = Browser().visit(url)
    assert certified.come_back(where, cookies).status == 303
    again = certified.come_back(where, cookies)
    assert (again.status, again.all("location")) == (403, [])
    assert SESSION_COOKIE not in cookies_of(again.all("set-cookie"))


def test_a_stolen_code_is_worth_nothing_in_another_login(certified: Meeting) -> None:
    """The thief has a login of their own, with its own verifier; the owner's cookie is not theirs."""
    victim, cookies = certified.begin()
    stolen = Browser().visit(victim)
    code = stolen.partition("code=")[2].partition("&")[0]
    url, theirs = certified.begin()
    own = Browser().visit(url)
    injected = own.replace(own.partition("code=")[2].partition("&")[0], code)
    assert certified.come_back(injected, theirs).status == 403
    for there, kept in ((stolen, theirs), (stolen, {}), (own, cookies)):
        response = certified.come_back(there, kept)
        assert (response.status, response.all("location")) == (400, [])


def test_a_login_that_an_attacker_began_is_not_ended_by_the_victim(certified: Meeting) -> None:
    """A link with the attacker's code and state logs nobody in as the attacker."""
    url, _ = certified.begin()
    response = certified.come_back(Browser().visit(url), {})
    assert response.status == 400
    assert SESSION_COOKIE not in cookies_of(response.all("set-cookie"))


def test_a_login_that_another_gate_began_is_none(
    certified: Meeting, tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """Each start of a gate has a key of its own."""
    config = configured(certified.issuer.url, client_secret=SECRET)
    with Gate(tmp_path, upstream.url, config) as gate:
        _, cookies = Meeting(gate, certified.issuer).begin()
    url, own = certified.begin()
    where = Browser().visit(url)
    assert certified.come_back(where, cookies).status == 400
    assert certified.come_back(where, own).status == 303


def test_who_declines_or_may_not_come_in_gets_a_plain_page(certified: Meeting) -> None:
    """Without a word of what the provider said."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"refuses": True}, "herma.auth.declined"),
        ({"email": "alice@evil.com"}, "herma.auth.unwelcome"),
        ({"email": "a@evil.com@good.com"}, "herma.auth.unwelcome"),
        ({"email_verified": False}, "herma.auth.unwelcome"),
    ]
    for change, code in cases:
        certified.issuer.is_now(**{**GOOD, "sub": f"other-{code}", **change})
        response = certified.login()
        assert response.status == 403
        assert not any(word in response.body for word in (b"entry", b"evil", b"access_denied"))
        assert certified.gate.audit()[-1]["code"] == code


def test_groups_of_the_provider_give_the_role(certified: Meeting) -> None:
    """And lose it with the next login."""
    session = certified.enter()
    assert b'"scopes": ["admin"]' in certified.get("/.herma/session", {SESSION_COOKIE: session}).body
    certified.issuer.is_now(**{**GOOD, "sub": "victor-1", "groups": ["agent-admins,", "Agent-Admins"]})
    session = certified.enter()
    assert b'"scopes": ["read", "status"]' in certified.get("/.herma/session", {SESSION_COOKIE: session}).body


def test_a_logout_ends_the_session_and_leads_to_the_provider_and_back(certified: Meeting) -> None:
    """Over at the gate first; the provider asks once more and then sends the browser to the login page."""
    url, cookies = certified.begin()
    browser = Browser()
    response = certified.come_back(browser.visit(url), cookies)
    session = cookies_of(response.all("set-cookie"))[SESSION_COOKIE]
    origin = ("Origin", f"http://{certified.gate.host}")
    page = certified.gate.ask(
        "POST", "/.herma/logout", headers=[*jar({SESSION_COOKIE: session}), origin]
    ).first
    assert (page.status, certified.holds(session)) == (200, False)
    onward = page.body.decode().partition("0; url=")[2].partition('"')[0].replace("&amp;", "&")
    status, confirm = browser.look(onward)
    token = confirm.partition('name="xsrf" value="')[2].partition('"')[0]
    assert (status, len(token) > 20) == (200, True)
    left = browser.submit(f"{certified.issuer.url}/session/end/confirm", f"xsrf={token}&logout=yes".encode())
    assert left.partition("?")[0] == f"http://{certified.gate.host}/.herma/login"
    assert certified.get("/.herma/login").status == 200


@pytest.mark.parametrize(
    ("client", "methods"),
    [("herma", "client_secret_post none"), ("herma-public", "client_secret_basic none")],
)
def test_other_ways_to_say_who_the_gate_is(
    tmp_path: Path, upstream: RecordingUpstream, client: str, methods: str
) -> None:
    """The secret in the form, where the provider takes it nowhere else; and no secret at all."""
    gate, issuer = real(tmp_path, upstream, methods=methods, client_id=client)
    if client == "herma-public":
        del gate.config["auth"]["login"]["oidc"]["client_secret"]
        gate.write_config(gate.config)
    with issuer, gate:
        issuer.is_now(**GOOD)
        assert Meeting(gate, issuer).login().status == 303


def test_a_token_that_says_little_is_completed(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """By what the provider says beside it: house and group of the same person."""
    gate, issuer = real(tmp_path, upstream, thin=True)
    with issuer, gate:
        meeting = Meeting(gate, issuer)
        issuer.is_now(**GOOD)
        session = meeting.enter()
        assert b'"scopes": ["admin"]' in meeting.get("/.herma/session", {SESSION_COOKIE: session}).body
        issuer.is_now(**{**GOOD, "sub": "mallory-1", "email": "a@evil.com@good.com"})
        assert meeting.login().status == 403


def test_workers_share_logins_and_a_reload_ends_those_of_other_rules(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """A login that one worker began ends at another; who came in under other rules is out, at every worker."""
    gate, issuer = real(tmp_path, upstream)
    gate.config["workers"] = 2
    gate.write_config(gate.config)
    with issuer, gate:
        meeting = Meeting(gate, issuer)
        issuer.is_now(**GOOD)
        sessions = [meeting.enter() for _ in range(6)]
        assert all(meeting.holds(session) for session in sessions for _ in range(4))
        url, cookies = meeting.begin()
        where = Browser().visit(url)
        assert meeting.come_back(where, cookies).status == 303
        assert {meeting.come_back(where, cookies).status for _ in range(4)} == {403}
        gate.config["auth"]["login"]["oidc"]["allowed_domains"] = ["other.example"]
        gate.write_config(gate.config)
        deadline = monotonic() + PATIENCE_S
        while any(meeting.holds(session) for session in sessions for _ in range(4)):
            assert monotonic() < deadline
            sleep(0.1)
        assert meeting.login().status == 403


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://evil.example"},
    "the issuer with a slash": {"iss": "http://127.0.0.1/"},
    "another client's token": {"aud": "another-client"},
    "several audiences": {"aud": [CLIENT, "another-client"]},
    "made for another party": {"aud": [CLIENT, "another-client"], "azp": "another-client"},
    "no audience": {"aud": None},
    "another nonce": {"nonce": "A" * 43},
    "no nonce": {"nonce": None},
    "expired": {"iat": 1_000_000_000, "exp": 1_000_000_600},
    "from the future": {"nbf": 9_000_000_000},
    "no end": {"exp": None},
    "no subject": {"sub": None},
    "a subject of two words": {"sub": "root\nadmin"},
    "an address that is not verified": {"email_verified": False},
    "an address that is verified by a text": {"email_verified": "true"},
    "an address in two houses": {"email": "a@evil.com@good.com"},
    "an address in quotes": {"email": '"a@good.com"@evil.com'},
    "a look-alike house": {"email": "a@g\u043e\u043ed.com"},
    "a house below": {"email": "a@evil.good.com"},
    "an empty address": {"email": ""},
    "an address in a ligature": {"email": "a@\ufb01ne.com"},
    "a list of addresses": {"email": ["a@evil.com", "a@good.com"]},
}


@pytest.mark.bypass(44)
@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_lies_opens_nothing(lying: Meeting, upstream: RecordingUpstream, lie: str) -> None:
    """Though the right key signed it."""
    lying.issuer.claims = LIES[lie]
    response = lying.login()
    assert response.status == 403
    assert response.all("location") == []
    assert SESSION_COOKIE not in cookies_of(response.all("set-cookie"))
    upstream.assert_untouched()


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"{}", b"[]", b'{"id_token": ""}', b'{"id_token": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0."}', b'{"id_token": {"sub": "root"}}', b"x" * 100_000, b"{" * 5000,
    ],
)  # fmt: skip
def test_an_answer_without_a_token_opens_nothing(lying: Meeting, answer: bytes) -> None:
    """Whatever it is, and however large."""
    lying.issuer.answer = answer
    response = lying.login()
    assert response.status in {403, 503}
    assert SESSION_COOKIE not in cookies_of(response.all("set-cookie"))


@pytest.mark.parametrize(
    "query",
    [
        "{code}&state=", "{code}&state=A", "{code}", "{state}", "{code}&{state}A", "{code}&{state}&state=A", "{code}&state=A&{state}", "{code}&{code}&{state}", "code=&{state}",
        "{code}&{state}&error=access_denied", "error=access_denied&state=A", "{code}&{state}&iss=https%3A%2F%2Fevil.example", "{code}&{state}&iss=", "{code}&{state}%00", "{code}&{state}%0d%0a",
        "CODE=x&{state}", "code[]=x&{state}", "{code};{state}", "",
    ],
)  # fmt: skip
def test_an_answer_that_was_tampered_with_ends_the_login(lying: Meeting, query: str) -> None:
    """Another state, two of one, an error beside a code, another issuer's name."""
    url, cookies = lying.begin()
    code, _, state = lying.issuer.visit(url, iss=None).partition("&")
    before = len(lying.issuer.asked)
    response = lying.come_back(query.format(code=code, state=state), cookies)
    assert response.status in {400, 403}
    assert SESSION_COOKIE not in cookies_of(response.all("set-cookie"))
    assert lying.issuer.asked[before:] == []


def test_while_the_provider_is_away_the_gate_goes_on(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A page in plain words for who wants to log in, and the agent for who has a key; nothing of it keeps the gate from starting."""
    with serving() as issuer:
        away = issuer.url
    with Gate(tmp_path, upstream.url, configured(away)) as gate:
        meeting = Meeting(gate, issuer)
        response = meeting.get(BEGIN)
        assert response.status == 503
        assert b"does not answer" in response.body
        assert gate.ask("GET", READ, key="reader").status == 200
        assert meeting.get("/.herma/login").status == 200
        assert meeting.get(f"{CALLBACK}?code=c&state=s").status == 400


def test_guessing_at_the_way_back_is_slowed_down(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """By the address, whatever a caller claims to be; others are not held up."""
    with serving() as issuer:
        overrides = configured(issuer.url)
        overrides["auth"]["failures"] = {"free_attempts": 3, "base_delay_s": 60}
        with Gate(tmp_path, upstream.url, overrides) as gate:
            meeting, source, statuses = Meeting(gate, issuer), source_address(), []
            for number in range(7):
                url, cookies = meeting.begin()
                query = issuer.visit(url, code=f"guess-{number}")
                response = meeting.come_back(query, cookies, source)
                statuses.append(response.status)
            assert statuses == [403] * 4 + [429] * 3
            assert meeting.login().status == 303


def test_logins_that_are_begun_and_left_hold_up_nobody(lying: Meeting) -> None:
    """The gate keeps none of them: the first of very many still ends where it should."""
    url, cookies = lying.begin()
    for _ in range(300):
        lying.begin()
    assert lying.come_back(lying.issuer.visit(url), cookies).status == 303


@pytest.mark.bypass(40)
def test_a_planted_session_is_not_adopted(lying: Meeting) -> None:
    """The login gives a new one, and the one that was there ends, whosever it was."""
    theirs = lying.enter()
    url, cookies = lying.begin()
    response = lying.come_back(lying.issuer.visit(url), cookies | {SESSION_COOKIE: theirs})
    fresh = cookies_of(response.all("set-cookie"))[SESSION_COOKIE]
    assert (fresh != theirs, lying.holds(theirs), lying.holds(fresh)) == (True, False, True)


def test_where_a_login_leads_is_a_path_of_this_host(lying: Meeting) -> None:
    """Whatever `next` said at the beginning, and whatever cookie comes along."""
    from urllib.parse import quote

    for back in (
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/.herma/logout",
    ):
        url, cookies = lying.begin(quote(back, safe=""))
        response = lying.come_back(lying.issuer.visit(url), cookies)
        assert (response.status, response.get("location")) == (303, "/")


def test_no_password_is_taken_where_nobody_has_one(lying: Meeting) -> None:
    """The form is not there, and posting one all the same is answered as if it never was."""
    headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", f"http://{lying.gate.host}")]
    response = lying.gate.ask("POST", "/.herma/login", headers=headers, body=b"name=alice&password=x").first
    assert (response.status, code_of(response)) == (404, "herma.route.unknown")
    assert b"<form" not in lying.get("/.herma/login").body
