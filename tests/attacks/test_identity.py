"""Bypass rows 25 to 33: who is asking is decided by one credential, and nothing a client sends can add to it."""

import re

import pytest

from support.gate import Gate
from support.raw import raw
from support.upstream import RecordingUpstream
from support.verdict import assert_refused

PROTECTED = "/v1/models"


# Names under which one product or another takes a caller's identity or address for granted.
IDENTITY = [
    "X-Forwarded-User",
    "X-Forwarded-Email",
    "X-Forwarded-Groups",
    "X-Forwarded-Preferred-Username",
    "X-Forwarded-Access-Token",
    "X-Forwarded-Roles",
    "X-Auth-Request-User",
    "X-Auth-Request-Email",
    "X-Auth-Request-Groups",
    "X-Auth-Request-Access-Token",
    "Remote-User",
    "Remote-Groups",
    "Remote-Email",
    "Remote-Name",
    "X-Remote-User",
    "X-User",
    "X-User-Role",
    "X-User-Id",
    "X-Authenticated-User",
    "X-WebAuth-User",
    "X-Webauth-Role",
    "X-Goog-Authenticated-User-Email",
    "X-Goog-Iap-Jwt-Assertion",
    "X-Amzn-Oidc-Identity",
    "X-Amzn-Oidc-Data",
    "X-Ms-Client-Principal",
    "X-Ms-Client-Principal-Name",
    "Cf-Access-Jwt-Assertion",
    "Cf-Access-Authenticated-User-Email",
    "Tailscale-User-Login",
    "Tailscale-User-Name",
    "X-Pomerium-Jwt-Assertion",
    "X-Authentik-Username",
    "X-Authentik-Groups",
    "X-Token-Subject",
    "X-Ssl-Client-Verify",
    "X-Ssl-Client-Cert",
    "Ssl-Client-Cert",
    "X-Client-Cert",
    "X-Forwarded-Client-Cert",
]


ADDRESS = [
    "X-Real-IP",
    "X-Client-IP",
    "True-Client-IP",
    "Cf-Connecting-IP",
    "Cf-Connecting-IPv6",
    "Fastly-Client-IP",
    "X-Cluster-Client-IP",
    "X-Envoy-External-Address",
    "X-Original-Forwarded-For",
    "X-ProxyUser-Ip",
    "Client-IP",
    "X-Remote-IP",
    "X-Remote-Addr",
    "X-Azure-ClientIP",
    "X-Appengine-User-Ip",
    "Fly-Client-IP",
]


def _header_line(gate: Gate, line: bytes, *, key: str | None = "admin") -> bytes:
    """Write a request with one header line exactly as given."""
    head = gate.message("GET", PROTECTED, key=key)
    return head[:-2] + line + b"\r\n\r\n"


@pytest.mark.bypass(24, 27, 34)
@pytest.mark.parametrize("name", [*IDENTITY, *ADDRESS])
def test_a_clients_identity_header_never_arrives(gate: Gate, upstream: RecordingUpstream, name: str) -> None:
    """Headers that claim who or where the caller is are deleted first, in any letter case."""
    for spelling in (name, name.upper(), name.lower()):
        upstream.forget()
        talk = gate.ask("GET", PROTECTED, key="admin", headers=[(spelling, "r00t-marker")])
        assert talk.status in {200, 400}
        assert all(b"r00t-marker" not in seen.raw for seen in upstream.forwarded)


@pytest.mark.bypass(27, 43)
@pytest.mark.parametrize(
    "name", [*IDENTITY[:12], "Authorization-User", "X-Api-Key", "Proxy-Authorization", "X-Herma-Principal"]
)
def test_an_identity_header_is_no_credential(gate: Gate, upstream: RecordingUpstream, name: str) -> None:
    """Naming oneself in a header opens nothing, not even from loopback."""
    for value in ("admin", "root", f"Bearer {gate.keys['admin']}", gate.keys["admin"]):
        talk = gate.ask("GET", PROTECTED, headers=[(name, value)], source="127.0.0.1")
        assert_refused(upstream, talk, 401, 400)


@pytest.mark.bypass(25)
@pytest.mark.parametrize(
    "name",
    [
        "X_Forwarded_User",
        "X_Forwarded-User",
        "X-Forwarded_User",
        "x_forwarded_for",
        "X_Real_IP",
        "Remote_User",
        "X_Auth_Request_User",
        "X_Hermes_Session_Id",
        "X_Original_URL",
        "Transfer_Encoding",
        "Content_Length",
        "AUTHORIZATION_",
        "_",
        "Proxy_Authorization",
    ],
)
def test_an_underscore_alias_never_arrives(gate: Gate, upstream: RecordingUpstream, name: str) -> None:
    """A name that a gateway interface would fold onto another header is refused or dropped."""
    talk = gate.ask("GET", PROTECTED, key="admin", headers=[(name, "r00t-marker")])
    assert talk.status in {200, 400}
    assert all(b"r00t-marker" not in seen.raw for seen in upstream.forwarded)


@pytest.mark.bypass(26)
@pytest.mark.parametrize(
    "line",
    [
        b"X-Forwarded-User : root",
        b"X-Forwarded-User\t: root",
        b" X-Forwarded-User: root",
        b"X-Forwarded\x00-User: root",
        "Ｘ-Forwarded-User: root".encode(),
        "X‐Forwarded‐User: root".encode(),
        "X-Forwarded-Us\u00e9r: root".encode(),
        b"X-Forwarded-User\xa0: root",
        b"X Forwarded User: root",
        b"X-Forwarded-User\x0b: root",
        b": root",
        b"X-Forwarded-User",
        b"X(Forwarded): root",
        b"X-Forwarded-User\x7f: root",
        b'"X-Forwarded-User": root',
        b"X-Forwarded/User: root",
    ],
)
def test_a_name_that_is_no_token_is_refused(gate: Gate, upstream: RecordingUpstream, line: bytes) -> None:
    """Blank, control or look-alike characters in a header name end the connection with 400."""
    assert_refused(upstream, raw(gate.port, _header_line(gate, line)), 400, closed=True)


@pytest.mark.bypass(28)
@pytest.mark.parametrize(
    "listed",
    [
        "close, X-Forwarded-User, Authorization",
        "Authorization",
        "X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host",
        "authorization, keep-alive",
        "Host",
        "Content-Length",
        "Content-Type",
        "X-Hermes-Session-Id",
    ],
)
def test_connection_cannot_delete_what_the_gate_adds(
    gate: Gate, upstream: RecordingUpstream, listed: str
) -> None:
    """Naming a protected header in `Connection` is refused, or leaves that header in place."""
    talk = gate.ask(
        "POST",
        "/v1/chat/completions",
        key="admin",
        headers=[("Connection", listed), ("X-Hermes-Session-Id", "abc")],
        body=b'{"messages":[{"role":"user","content":"hi"}]}',
    )
    if talk.status == 400:
        upstream.assert_untouched()
        return
    seen = upstream.only()
    assert seen.get("authorization") == f"Bearer {gate.upstream_key}".encode()
    assert seen.get("host") == upstream.url.removeprefix("http://").encode()
    assert seen.get("x-forwarded-for")
    assert seen.body == b'{"messages":[{"role":"user","content":"hi"}]}'


@pytest.mark.bypass(28)
@pytest.mark.parametrize(
    "connection",
    ["X-Secret", "close, x-secret", "X-SECRET , keep-alive", ",,x-secret,", "keep-alive,\tX-Secret"],
)
def test_a_header_named_in_connection_is_dropped(
    gate: Gate, upstream: RecordingUpstream, connection: str
) -> None:
    """A hop's own headers end at this hop, and so do the usual hop-by-hop headers."""
    hop = [
        ("X-Secret", "s"),
        ("Keep-Alive", "timeout=9"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "Basic eA=="),
        ("Proxy-Connection", "x"),
    ]
    assert gate.ask("GET", PROTECTED, key="admin", headers=[("Connection", connection), *hop]).status == 200
    seen = upstream.only()
    for name in ("x-secret", "keep-alive", "te", "proxy-authorization", "proxy-connection"):
        assert seen.all(name) == [], name


@pytest.mark.bypass(29)
@pytest.mark.parametrize(
    ("connection", "upgrade"),
    [
        ("notupgrade", "websocket"),
        ("upgraded", "websocket"),
        ("x-upgrade", "websocket"),
        ("keep-alive", "websocket"),
        ("Upgrade", "notwebsocket"),
        ("Upgrade", "websocket2"),
        ("Upgrade", "TLS/1.0"),
        ("Upgrade", "HTTP/2.0"),
    ],
)
def test_a_part_of_a_word_is_no_upgrade(
    gate: Gate, upstream: RecordingUpstream, connection: str, upgrade: str
) -> None:
    """Only the whole word `upgrade` with the whole word `websocket` asks for a tunnel."""
    talk = gate.ask("GET", PROTECTED, key="admin", headers=[("Connection", connection), ("Upgrade", upgrade)])
    if talk.status in {400, 426, 501}:
        upstream.assert_untouched()
        return
    assert talk.status == 200
    assert upstream.only().all("upgrade") == []


@pytest.mark.bypass(30)
@pytest.mark.parametrize(
    "order", ["good,bad", "bad,good", "good,good", "good,empty", "empty,good", "basic,good", "good,basic"]
)
@pytest.mark.parametrize("second", ["Authorization", "authorization", "AUTHORIZATION"])
def test_two_credentials_in_one_place_are_refused(
    gate: Gate, upstream: RecordingUpstream, order: str, second: str
) -> None:
    """Two `Authorization` headers are 400, whichever is right and whatever their letter case."""
    values = {
        "good": f"Bearer {gate.keys['admin']}",
        "bad": "Bearer wrong-wrong-wrong-wrong",
        "empty": "",
        "basic": "Basic eDp5",
    }
    one, two = (values[name] for name in order.split(","))
    talk = gate.ask("GET", PROTECTED, headers=[("Authorization", one), (second, two)])
    assert_refused(upstream, talk, 400)


@pytest.mark.bypass(30)
def test_a_credential_list_in_one_header_is_no_credential(gate: Gate, upstream: RecordingUpstream) -> None:
    """A comma does not make room for a second credential."""
    key = gate.keys["admin"]
    for value in (
        f"Bearer wrong, Bearer {key}",
        f"Bearer {key}, Bearer wrong",
        f"Bearer {key} {key}",
        f"Bearer {key},",
    ):
        assert_refused(upstream, gate.ask("GET", PROTECTED, headers=[("Authorization", value)]), 400, 401)


@pytest.mark.bypass(31, 32)
@pytest.mark.parametrize(
    "name",
    [
        "token",
        "access_token",
        "api_key",
        "apikey",
        "api-key",
        "key",
        "auth",
        "authorization",
        "bearer",
        "Token",
        "x-api-key",
    ],
)
def test_a_key_in_the_query_is_refused_and_not_written_down(
    gate: Gate, upstream: RecordingUpstream, name: str
) -> None:
    """A credential in the query string is refused alone and beside a good header, and no log repeats it."""
    secret = gate.keys["other"]
    for key in (None, "admin"):
        for value in (secret, secret.upper()):
            talk = gate.ask("GET", f"{PROTECTED}?limit=1&{name}={value}", key=key)
            assert_refused(upstream, talk, 400, 401)
            assert talk.status == 400 or key is None
    written = gate.written()
    assert secret not in written
    assert secret.upper() not in written


@pytest.mark.bypass(31)
@pytest.mark.parametrize("name", ["X-Api-Key", "Api-Key", "X-Auth-Token", "X-Access-Token"])
def test_a_second_credential_in_another_header_is_refused_or_dropped(
    gate: Gate, upstream: RecordingUpstream, name: str
) -> None:
    """Only one place holds the credential: another header that carries one is refused or does not arrive."""
    for value in (gate.keys["reader"], "wrong-wrong-wrong-wrong"):
        upstream.forget()
        talk = gate.ask("GET", PROTECTED, key="admin", headers=[(name, value)])
        assert talk.status in {200, 400}
        assert all(value.encode() not in seen.raw for seen in upstream.forwarded)


@pytest.mark.bypass(31, 39, 40)
@pytest.mark.parametrize(
    "cookie",
    [
        "session=KEY",
        "token=KEY",
        "__Host-herma=KEY",
        "herma_session=KEY; herma_session=x",
        "a=b; a=c",
        "=;;==;",
        "session=" + "x" * 8000,
        'session="\\"',
        "session=\xff\xfe",
        "$Version=1; session=KEY",
    ],
)
def test_a_cookie_opens_nothing(gate: Gate, upstream: RecordingUpstream, cookie: str) -> None:
    """No cookie, well formed or not, stands for a key, and none is planted by the answer."""
    talk = gate.ask("GET", PROTECTED, headers=[("Cookie", cookie.replace("KEY", gate.keys["admin"]))])
    response = assert_refused(upstream, talk, 400, 401, 431)
    assert response.all("set-cookie") == []


@pytest.mark.bypass(40)
def test_a_cookie_set_before_is_not_adopted(gate: Gate, upstream: RecordingUpstream) -> None:
    """A planted session cookie is neither taken over nor echoed when a good key comes with it."""
    for name in ("herma_session", "__Host-herma", "session"):
        talk = gate.ask("GET", PROTECTED, key="admin", headers=[("Cookie", f"{name}=planted-value")])
        assert talk.status in {200, 400}
        assert b"planted-value" not in talk.received


@pytest.mark.bypass(33, 78)
def test_scheme_games_get_one_uniform_401(gate: Gate, upstream: RecordingUpstream) -> None:
    """Whatever is wrong with the credential, the answer is the same 401 with `WWW-Authenticate`."""
    key = gate.keys["admin"]
    values = [
        f"bearer {key}",
        f"BEARER {key}",
        f"Bearer  {key}",
        f"Bearer\t{key}",
        f"Bearer{key}",
        f"Basic {key}",
        f"Token {key}",
        key,
        "Bearer ",
        "Bearer",
        f"Bearer {key[:-1]}",
        f"Bearer {key}x",
        f"Bearer {key.upper()}",
        f'Bearer "{key}"',
        f"Bearer token={key}",
        "Bearer x",
        f"Bearer {'x' * 4000}",
        f"Digest username={key}",
    ]
    bodies = set()
    for value in [None, *values]:
        headers = [("Authorization", value)] if value is not None else []
        response = assert_refused(upstream, gate.ask("GET", PROTECTED, headers=headers), 401)
        assert (response.get("www-authenticate") or "").startswith("Bearer")
        bodies.add(re.sub(rb'"(request_id|exchange|id)": ?"[^"]*"', b"", response.body))
    assert len(bodies) == 1, bodies


@pytest.mark.bypass(33)
def test_a_token_that_is_no_token68_is_refused(gate: Gate, upstream: RecordingUpstream) -> None:
    """Bytes that no bearer token has are 400 or 401, never a crash."""
    for value in (
        "Bearer \xff\xfe",
        "Bearer a b",
        "Bearer \u00a0x",
        "Bearer a=b=c",
        "Bearer ===",
        "Bearer {}",
    ):
        assert_refused(upstream, gate.ask("GET", PROTECTED, headers=[("Authorization", value)]), 400, 401)


@pytest.mark.bypass(78)
def test_a_401_names_nothing(gate: Gate, upstream: RecordingUpstream) -> None:
    """The refusal of a key tells neither the key's beginning, nor the upstream, nor what was asked."""
    key = "wrong-key-marker-0123456789"
    response = assert_refused(
        upstream, gate.ask("GET", "/v1/models?marker=q7", headers=[("Authorization", f"Bearer {key}")]), 401
    )
    text = (repr(response.headers) + response.body.decode()).lower()
    for word in (
        key[:8],
        "q7",
        str(upstream.port),
        "hermes-agent",
        "aiohttp",
        "python",
        "httptools",
        "hash",
        "sha256",
    ):
        assert word not in text


@pytest.mark.bypass(27, 30)
def test_the_callers_key_is_swapped_for_the_upstreams(gate: Gate, upstream: RecordingUpstream) -> None:
    """The caller's credential ends at the gate; the upstream gets its own."""
    assert gate.ask("GET", PROTECTED, key="reader").status == 200
    seen = upstream.only()
    assert seen.all("authorization") == [f"Bearer {gate.upstream_key}".encode()]
    assert gate.keys["reader"].encode() not in seen.raw
