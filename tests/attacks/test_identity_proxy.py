"""Headers in which a proxy says who is asking: said by others, twice, under other names, from other places, by other sites."""

import json
from collections.abc import Iterator

import pytest

from support.gate import Gate
from support.login import USERS
from support.raw import Talk, raw
from support.upstream import RecordingUpstream
from support.verdict import assert_refused, code_of

PROTECTED = "/v1/models"
JOBS = "/api/jobs"
SECRET = "fakeQ4mZt8Lw2Vr6Yc1Hs9Kd"
# The proxy that may speak for others; another that is trusted for addresses only; and somebody.
PROXY, OTHER_PROXY, SOMEBODY = "127.0.0.9", "127.0.0.7", "127.0.0.5"
PROVEN = ("X-Herma-Proxy-Secret", SECRET)
ADMIN = ("X-Forwarded-User", "root")
USER = ("X-Forwarded-User", "bob")
OWN = ("Sec-Fetch-Site", "same-origin")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate behind a proxy that knows its users."""
    proxy = {
        "peers": [PROXY],
        "secret": SECRET,
        "user_header": "X-Forwarded-User",
        "groups_header": "X-Forwarded-Groups",
        "roles": [{"user": "root", "role": "admin"}, {"group": "ops", "role": "operator"}],
        "default_role": "viewer",
    }
    below = {
        "auth": {"proxy_headers": proxy, "login": {"users": USERS}},
        "trusted_proxies": [PROXY, OTHER_PROXY],
    }
    with Gate(tmp_path_factory.mktemp("proxy"), upstream.url, below) as running:
        yield running


def ask(
    gate: Gate,
    *headers: tuple[str, str],
    source: str = PROXY,
    method: str = "GET",
    target: str = PROTECTED,
    key: str | None = None,
) -> Talk:
    body = b"" if method == "GET" else b"{}"
    return gate.ask(method, target, headers=list(headers), source=source, body=body, key=key)


def actor(gate: Gate) -> str:
    return str(gate.audit()[-1]["actor"])


def test_the_proxys_users_have_their_roles(gate: Gate, upstream: RecordingUpstream) -> None:
    """And nothing of what the proxy says about them reaches the agent."""
    assert ask(gate, PROVEN, USER).status == 200
    assert actor(gate) == "proxy:bob"
    assert ask(gate, PROVEN, USER, OWN, method="POST", target=JOBS).status == 403
    assert ask(gate, PROVEN, ("X-Forwarded-Groups", "dev,ops"), USER).status == 200
    for seen in upstream.forwarded:
        for told in (
            SECRET.encode(),
            b"X-Forwarded-User",
            b"x-forwarded-user",
            b"X-Forwarded-Groups",
            b"ops",
            b"bob",
        ):
            assert told not in seen.raw
    assert SECRET not in gate.written()


@pytest.mark.bypass(27, 34, 43)
@pytest.mark.parametrize("source", [SOMEBODY, OTHER_PROXY, "127.0.0.1"])
@pytest.mark.parametrize(
    "extra", [[], [("X-Forwarded-For", PROXY)], [("Forwarded", f"for={PROXY}")], [("X-Real-IP", PROXY)]]
)
def test_nobody_else_names_a_caller(
    gate: Gate, upstream: RecordingUpstream, source: str, extra: list[tuple[str, str]]
) -> None:
    """Though they know the secret, come from loopback, are trusted for addresses, or claim the proxy's address."""
    for headers in ([PROVEN, ADMIN], [ADMIN], [ADMIN, ("X-Forwarded-Groups", "ops")]):
        assert_refused(upstream, ask(gate, *headers, *extra, source=source), 401)


@pytest.mark.bypass(27)
@pytest.mark.parametrize(
    "secret", ["", "x", SECRET[:-1], SECRET + " x", SECRET.upper(), f"{SECRET},{SECRET}", "x" * 8000]
)
def test_the_proxys_address_is_not_enough(gate: Gate, upstream: RecordingUpstream, secret: str) -> None:
    """Whoever else is there does not know the secret; the answer does not say what was wrong."""
    bare = assert_refused(upstream, ask(gate), 401)
    for headers in ([ADMIN], [("X-Herma-Proxy-Secret", secret), ADMIN]):
        assert assert_refused(upstream, ask(gate, *headers), 401).body == bare.body


@pytest.mark.bypass(25, 26)
@pytest.mark.parametrize(
    "name",
    [
        "X_Forwarded_User",
        "X-Forwarded_User",
        "X-Forwarded-User ",
        "X-Forwarded-Us\u00e9r",
        "X-Forwarded-User\t",
        "\tX-Forwarded-User",
        "X-Forwarded-User:X",
    ],
)
def test_another_spelling_is_not_the_header(gate: Gate, upstream: RecordingUpstream, name: str) -> None:
    """Alone it names nobody, and beside the proxy's own it changes nothing."""
    head = gate.message("GET", PROTECTED)
    for own in ([], [USER]):
        upstream.forget()
        lines = [f"{key}: {value}\r\n".encode("latin-1") for key, value in (PROVEN, *own, (name, "root"))]
        talk = raw(gate.port, head[:-2] + b"".join(lines) + b"\r\n", source=PROXY)
        assert talk.status in ({400, 401} if not own else {200, 400})
        if talk.status == 200:
            assert actor(gate) == "proxy:bob"


@pytest.mark.bypass(27, 30)
@pytest.mark.parametrize(
    "headers",
    [
        [PROVEN, USER, ADMIN],
        [PROVEN, ADMIN, USER],
        [PROVEN, USER, ("x-forwarded-user", "root")],
        [PROVEN, USER, ("X-FORWARDED-USER", "bob")],
        [PROVEN, PROVEN, ADMIN],
        [("X-Herma-Proxy-Secret", "guess"), PROVEN, ADMIN],
        [PROVEN, USER, ("X-Forwarded-Groups", "dev"), ("X-Forwarded-Groups", "ops")],
        [PROVEN, ("X-Forwarded-User", "bob, root")],
        [PROVEN, ("X-Forwarded-User", "bob;root")],
        [PROVEN, ("X-Forwarded-User", "root\u00a0")],
        [PROVEN, ("X-Forwarded-User", "ro\u00f6t")],
    ],
)
def test_two_answers_to_who_is_asking_are_none(
    gate: Gate, upstream: RecordingUpstream, headers: list[tuple[str, str]]
) -> None:
    """A header of the client that the proxy let through stands beside the proxy's own."""
    response = assert_refused(upstream, ask(gate, *headers), 400)
    assert code_of(response) == "herma.auth.proxy_headers"


@pytest.mark.bypass(28)
def test_connection_cannot_take_them_away(gate: Gate, upstream: RecordingUpstream) -> None:
    """Then somebody else would be asking, or nobody."""
    for listed in ("X-Forwarded-User", "x-herma-proxy-secret", "close, X-Forwarded-Groups"):
        assert_refused(upstream, ask(gate, ("Connection", listed), PROVEN, USER), 400)


@pytest.mark.bypass(44)
@pytest.mark.parametrize("user", ["Root", "root@example.com", "root.", "r\u014dot", "", "%72oot", "root%00"])
def test_a_user_is_compared_whole(gate: Gate, upstream: RecordingUpstream, user: str) -> None:
    """Who is like an administrator is none."""
    name = user.encode().decode("latin-1")
    talk = ask(gate, PROVEN, ("X-Forwarded-User", name), OWN, method="POST", target=JOBS)
    assert_refused(upstream, talk, 400, 401, 403)
    for groups in ("", "op", "opsx", "Ops", "o ps", '"ops"', "ops\u00a0"):
        talk = ask(gate, PROVEN, USER, ("X-Forwarded-Groups", groups), OWN, method="POST", target=JOBS)
        assert_refused(upstream, talk, 400, 403)


@pytest.mark.bypass(42, 56)
@pytest.mark.parametrize(
    "site",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)
def test_another_site_cannot_act_for_the_proxys_user(
    gate: Gate, upstream: RecordingUpstream, site: tuple[str, str]
) -> None:
    """The browser sends along what the proxy knows its user by."""
    for method, target in (("GET", PROTECTED), ("POST", JOBS)):
        response = assert_refused(upstream, ask(gate, PROVEN, ADMIN, site, method=method, target=target), 403)
        # What shows to be a foreign page's, or would change something for one, is refused before anybody is asked who it is.
        early = site[0] == "Origin" or method == "POST"
        assert code_of(response) == ("herma.request.origin" if early else "herma.auth.cross_site")
    assert_refused(upstream, ask(gate, PROVEN, ADMIN, method="POST", target=JOBS), 403)


@pytest.mark.bypass(27, 42)
def test_the_page_that_says_who_is_asking_believes_the_proxy_and_nobody_else(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """It is answered by the gate, for pages of the gate's own host."""
    page = "/.herma/session"
    said = json.loads(ask(gate, PROVEN, USER, OWN, target=page).first.body)
    assert said == {"name": "proxy:bob", "scopes": ["read", "status"], "expires": None}
    assert actor(gate) == "proxy:bob"
    for headers, source, status in (
        ([PROVEN, USER], SOMEBODY, 401),
        ([("X-Herma-Proxy-Secret", "guess"), USER], PROXY, 401),
        ([PROVEN, USER, ADMIN], PROXY, 400),
        ([PROVEN, USER, ("Sec-Fetch-Site", "cross-site")], PROXY, 403),
        ([PROVEN, USER, ("Authorization", "Bearer wrong-wrong-wrong-wrong")], PROXY, 401),
    ):
        assert_refused(upstream, ask(gate, *headers, source=source, target=page), status)


@pytest.mark.bypass(31)
def test_a_header_of_the_callers_own_decides_alone(gate: Gate, upstream: RecordingUpstream) -> None:
    """A right one and a wrong one, whatever the proxy says."""
    assert ask(gate, PROVEN, ADMIN, key="reader").status == 200
    assert actor(gate) == "reader"
    upstream.forget()
    wrong = ("Authorization", "Bearer wrong-wrong-wrong-wrong")
    assert_refused(upstream, ask(gate, PROVEN, ADMIN, wrong), 401)
