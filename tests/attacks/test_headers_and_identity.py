"""Bypass rows 25 to 47: who is asking is decided by one credential, and nothing a client sends can add to it."""

import json
import re
from collections.abc import Iterator

import pytest

from support.gate import Gate
from support.raw import Ended, raw, source_address
from support.upstream import CLOSE, RecordingUpstream, answer, json_answer
from support.verdict import assert_refused, code_of

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


@pytest.mark.bypass(34)
@pytest.mark.parametrize(
    "value", ["127.0.0.1", "10.0.0.1", "::1", "9.9.9.9, 127.0.0.1", "localhost", "unknown"]
)
def test_a_strangers_forwarded_for_is_not_believed(
    gate: Gate, upstream: RecordingUpstream, value: str
) -> None:
    """Without a configured peer the socket's address is the caller's, upstream and in the audit."""
    source = source_address()
    talk = gate.ask("GET", PROTECTED, key="admin", source=source, headers=[("X-Forwarded-For", value)])
    assert talk.status == 200
    assert upstream.only().all("x-forwarded-for") == [source.encode()]
    gate.ask("GET", PROTECTED, source=source, headers=[("X-Forwarded-For", value)])
    last = json.dumps(gate.audit()[-1])
    assert source in last


@pytest.mark.bypass(38)
@pytest.mark.parametrize(
    "agent",
    ["kube-probe/1.30", "GoogleHC/1.0", "ELB-HealthChecker/2.0", "Envoy/HC", "Consul Health Check", ""],
)
def test_a_health_checkers_name_opens_nothing(gate: Gate, upstream: RecordingUpstream, agent: str) -> None:
    """The user agent is not a credential."""
    for target in (PROTECTED, "/health/detailed", "/api/jobs"):
        assert_refused(upstream, gate.ask("GET", target, headers=[("User-Agent", agent)]), 401)


@pytest.mark.bypass(41)
@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "a/../b@c#d",
        "127.0.0.1:PORT@evil.example",
        "evil.example:PORT",
        "evil.example",
        "127.0.0.1:1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:PORT:PORT",
        "127.0.0.1:0PORT",
        "127.0.0.1, evil.example",
        "127.0.0.1%00.evil.example",
        "[::1",
        "[::1]x",
        "127.0.0.1\\@evil.example",
        "127.0.0.1:99999",
        "127.0.0.1:-1",
        "2130706433:PORT",
        "0x7f.1:PORT",
        "127.1:PORT",
        "127.0.0.1.:PORT",
        "0.0.0.0:PORT",
        "localhost.evil.example:PORT",
        "127.0.0.1.nip.io:PORT",
        "löcalhost",
    ],
)
def test_a_host_that_is_not_ours_is_refused(gate: Gate, upstream: RecordingUpstream, host: str) -> None:
    """Empty, malformed, foreign and wrongly ported hosts are refused with a key and without."""
    for key in (None, "admin"):
        talk = gate.ask("GET", PROTECTED, key=key, host=host.replace("PORT", str(gate.port)))
        assert_refused(upstream, talk, 400, 403, 421)


@pytest.mark.bypass(41)
@pytest.mark.parametrize(
    "host", ["LOCALHOST:PORT", "LocalHost:PORT", "localhost.:PORT", "localhost:PORT", "[::1]:PORT"]
)
def test_another_spelling_of_our_host_has_one_meaning(
    gate: Gate, upstream: RecordingUpstream, host: str
) -> None:
    """A spelling of our own name is refused, or becomes the one name the upstream is given."""
    talk = gate.ask("GET", PROTECTED, key="admin", host=host.replace("PORT", str(gate.port)))
    if talk.status == 200:
        assert upstream.only().get("host") == upstream.url.removeprefix("http://").encode()
    else:
        assert_refused(upstream, talk, 400, 403, 421)


@pytest.mark.bypass(41)
def test_host_must_be_there_once(gate: Gate, upstream: RecordingUpstream) -> None:
    """No host, two hosts and HTTP/1.0 without a host are refused."""
    key = f"Bearer {gate.keys['admin']}"
    ours = ("Host", gate.host)
    cases = [
        gate.message("GET", PROTECTED, host=None, headers=[("Authorization", key)]),
        gate.message("GET", PROTECTED, host=None, version="1.0", headers=[("Authorization", key)]),
        gate.message("GET", PROTECTED, headers=[("Authorization", key), ours]),
        gate.message("GET", PROTECTED, headers=[("Authorization", key), ("host", "evil.example")]),
        gate.message("GET", PROTECTED, host="evil.example", headers=[("Authorization", key), ours]),
    ]
    for case in cases:
        assert_refused(upstream, raw(gate.port, case), 400)


@pytest.mark.bypass(42)
@pytest.mark.parametrize(
    "host",
    ["attacker.example", "attacker.example:PORT", "rebind.127.0.0.1.example:PORT", "192.168.1.10:PORT"],
)
def test_a_rebound_name_is_refused(gate: Gate, upstream: RecordingUpstream, host: str) -> None:
    """A browser that was led to loopback under another name gets 403 (421), before any key is looked at."""
    for target in (PROTECTED, "/health"):
        talk = gate.ask("GET", target, key="admin", host=host.replace("PORT", str(gate.port)))
        assert_refused(upstream, talk, 403, 421)


@pytest.mark.bypass(42)
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "file://",
        "chrome-extension://abcdef",
        "http://evil.example http://127.0.0.1",
        "HTTP://EVIL.EXAMPLE",
        "evil.example",
    ],
)
@pytest.mark.parametrize(
    ("method", "target"),
    [("GET", PROTECTED), ("POST", "/v1/runs"), ("GET", "/health"), ("OPTIONS", "/v1/runs")],
)
def test_a_foreign_origin_is_refused(
    gate: Gate, upstream: RecordingUpstream, origin: str, method: str, target: str
) -> None:
    """A page from elsewhere cannot use the gate through its reader's browser."""
    talk = gate.ask(method, target, key="admin", headers=[("Origin", origin)])
    response = assert_refused(upstream, talk, 403)
    assert response.get("access-control-allow-origin") is None


@pytest.mark.bypass(42)
def test_a_client_without_origin_is_served(gate: Gate, upstream: RecordingUpstream) -> None:
    """Programs send fetch metadata without an origin: they are not browsers led astray."""
    talk = gate.ask(
        "GET", PROTECTED, key="reader", headers=[("Sec-Fetch-Mode", "cors"), ("User-Agent", "node")]
    )
    assert talk.status == 200
    upstream.only()


@pytest.mark.bypass(43)
def test_loopback_is_not_a_credential(gate: Gate, upstream: RecordingUpstream) -> None:
    """A caller on this machine needs a key like any other."""
    for source in ("127.0.0.1", "127.0.0.2"):
        assert_refused(upstream, gate.ask("GET", PROTECTED, source=source), 401)


@pytest.fixture(scope="module")
def public_gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate that listens on every address."""
    public = Gate(tmp_path_factory.mktemp("public"), upstream.url)
    public.config["listen"] = [{"address": f"0.0.0.0:{public.port}", "public_names": ["agent.example.com"]}]
    public.write_config(public.config)
    with public:
        yield public


@pytest.mark.bypass(43, 41)
def test_loopback_is_no_credential_on_a_public_listener(
    public_gate: Gate, upstream: RecordingUpstream
) -> None:
    """From loopback to a listener on all addresses, a key is still needed and the name still has to be ours."""
    assert_refused(upstream, public_gate.ask("GET", PROTECTED, host="agent.example.com"), 401)
    assert_refused(
        upstream, public_gate.ask("GET", PROTECTED, host="evil.example", key="admin"), 400, 403, 421
    )
    assert public_gate.ask("GET", PROTECTED, host="agent.example.com", key="admin").status == 200


# A caller behind the configured peer; only its network may use the key.
TRUSTED_PEER = "127.0.0.9"
CALLER = "203.0.113.5"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate behind one trusted proxy, whose key is good from one network only."""
    behind = Gate(
        tmp_path_factory.mktemp("proxied"), upstream.url, {"trusted_proxies": [f"{TRUSTED_PEER}/32"]}
    )
    for record in behind.config["auth"]["keys"]:
        record["networks"] = ["203.0.113.0/24"]
    behind.write_config(behind.config)
    with behind:
        yield behind


@pytest.mark.bypass(36)
@pytest.mark.parametrize("value", [CALLER, f"9.9.9.9, {CALLER}", f"{CALLER}, {TRUSTED_PEER}", f"a, {CALLER}"])
def test_the_last_untrusted_hop_is_the_caller(proxied: Gate, upstream: RecordingUpstream, value: str) -> None:
    """From a trusted peer the list is walked right to left over trusted hops."""
    talk = proxied.ask(
        "GET", PROTECTED, key="admin", source=TRUSTED_PEER, headers=[("X-Forwarded-For", value)]
    )
    assert talk.status == 200
    upstream.only()


@pytest.mark.bypass(34, 36)
@pytest.mark.parametrize(
    "values",
    [
        ["a"],
        [""],
        [f"{CALLER}, a"],
        [f"{CALLER}, 198.51.100.7"],
        [f"{CALLER}, 198.51.100.7:8080"],
        [f"{CALLER}, ::ffff:198.51.100.7"],
        [f"{CALLER}, [2001:db8::1]:443"],
        [f"{CALLER}, fe80::1%eth0"],
        [f"{CALLER}, unknown"],
        [f"{CALLER}, _hidden"],
        [f"{CALLER}, 203.0.113.5.evil.example"],
        [f"{CALLER},"],
        [f"{CALLER}, , 198.51.100.7"],
        [CALLER, "198.51.100.7"],
        [", ".join([CALLER] * 500 + ["198.51.100.7"])],
        [f"{CALLER} 198.51.100.7"],
        [f"{CALLER}, 203.000.113.005x"],
        [f"{CALLER}, 0xCB007105"],
        [f"{CALLER}, 3405803781"],
        [f"{CALLER}/24"],
    ],
)
def test_a_list_that_cannot_be_read_skips_no_rule(
    proxied: Gate, upstream: RecordingUpstream, values: list[str]
) -> None:
    """A hop that cannot be parsed stops the walk; a hop that is foreign is the caller. Neither may use the key."""
    headers = [("X-Forwarded-For", value) for value in values]
    talk = proxied.ask("GET", PROTECTED, key="admin", source=TRUSTED_PEER, headers=headers)
    assert_refused(upstream, talk, 400, 401, 403)


@pytest.mark.bypass(34, 36)
def test_only_the_configured_peer_may_speak_for_others(proxied: Gate, upstream: RecordingUpstream) -> None:
    """Another address that sends the same header is itself the caller."""
    talk = proxied.ask(
        "GET", PROTECTED, key="admin", source="127.0.0.10", headers=[("X-Forwarded-For", CALLER)]
    )
    assert_refused(upstream, talk, 401, 403)


@pytest.mark.bypass(37)
@pytest.mark.parametrize(
    "forwarded",
    [
        "for=198.51.100.7",
        'for="198.51.100.7:80"',
        "for=unknown",
        "for=_x",
        "for=",
        ";;",
        "for=203.0.113.5, for=198.51.100.7",
        'for="[2001:db8::1]"',
    ],
)
def test_two_lists_that_disagree_are_not_believed(
    proxied: Gate, upstream: RecordingUpstream, forwarded: str
) -> None:
    """When `Forwarded` and `X-Forwarded-For` name different callers, neither is taken."""
    headers = [("X-Forwarded-For", CALLER), ("Forwarded", forwarded)]
    talk = proxied.ask("GET", PROTECTED, key="admin", source=TRUSTED_PEER, headers=headers)
    assert_refused(upstream, talk, 400, 401, 403)


@pytest.mark.bypass(44)
def test_an_empty_group_joins_nobody(gate: Gate, upstream: RecordingUpstream) -> None:
    """Two keys without a group do not share runs because both groups are empty."""
    started = gate.ask("POST", "/v1/runs", key="runner", body=b'{"input":"hi"}')
    run_id = json.loads(started.first.body)["run_id"]
    upstream.forget()
    assert_refused(upstream, gate.ask("GET", f"/v1/runs/{run_id}", key="other"), 403, 404)


@pytest.mark.bypass(44)
@pytest.mark.parametrize("claim", ["a@x@y", "ADMIN@EXAMPLE.COM", "admın@example.com", "ﬁnance", ""])
def test_a_claim_in_a_header_is_not_read(gate: Gate, upstream: RecordingUpstream, claim: str) -> None:
    """No spelling of a name or mail address makes a caller somebody."""
    headers = [
        ("X-Forwarded-Email", claim.encode().decode("latin-1")),
        ("X-Forwarded-Groups", claim.encode().decode("latin-1")),
    ]
    assert_refused(upstream, gate.ask("GET", PROTECTED, headers=headers), 400, 401)


@pytest.mark.bypass(45)
@pytest.mark.parametrize(
    "line",
    [
        b"X-A: b\rc",
        b"X-A: b\nX-Forwarded-User: root",
        b"X-A: b\x00c",
        b"X-A: b\r\n c",
        b"X-A: b\r\n\tX-Forwarded-User: root",
        b"X-A: \x01",
        b"X-A: b\x7f",
        b"X-A: b\x0bc",
        b"X-A: \x1b[31m",
        b"X-A:\r\n b",
        b"X-A: b\r\rX-B: c",
        b"X-A: b\n",
        b"X-Hermes-Session-Id: a\rb",
        b"X-Hermes-Session-Id: a\x00b",
        b"Authorization: Bearer a\x00b",
    ],
)
@pytest.mark.parametrize("key", [None, "admin"])
def test_control_characters_in_a_value_end_the_connection(
    gate: Gate, upstream: RecordingUpstream, line: bytes, key: str | None
) -> None:
    """Line breaks, folds and control bytes in a header are 400, and nothing else is read."""
    assert_refused(upstream, raw(gate.port, _header_line(gate, line, key=key)), 400, closed=True)


@pytest.mark.bypass(45)
@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_bare_line_ends_are_refused(gate: Gate, upstream: RecordingUpstream, end: bytes) -> None:
    """A line ends with CR LF and nothing else."""
    whole = gate.message("GET", PROTECTED, key="admin")
    assert_refused(upstream, raw(gate.port, whole.replace(b"\r\n", end) + b"\r\n\r\n"), 400, closed=True)
    first, rest = whole.split(b"\r\n", 1)
    assert_refused(upstream, raw(gate.port, first + end + rest), 400, closed=True)


@pytest.mark.bypass(46)
def test_nothing_a_client_sends_can_forge_a_line_of_the_log(gate: Gate, upstream: RecordingUpstream) -> None:
    """Escape sequences and line breaks from the wire never stand raw in what an operator reads."""
    cases = [
        gate.message("GET", "/%1b[2J%0a{%22forged%22:1}", key="admin"),
        gate.message("GET", "/x%c2%9b31m", key="admin"),
        gate.message("GET", b"/x\x1b[31m", key="admin"),
        gate.message("GET", "/x", key="admin", headers=[("User-Agent", "\x1b[31m\x9b")]),
        gate.message("GET", "/x", key="admin", headers=[("X-Hermes-Session-Id", "a\x9b31mb")]),
        gate.message("GET", "/x%E2%80%AEfdp", key="admin"),
        gate.message("GET", '/x"},{"forged":"1', key="admin"),
        b"\x1b[31mGET / HTTP/1.1\r\n\r\n",
        gate.message("GET", "/v1/models", headers=[("Authorization", "Bearer \x1b[31m")]),
    ]
    for case in cases:
        raw(gate.port, case)
    written = gate.written()
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", written) is None
    assert all("forged" not in line for line in gate.audit())


@pytest.mark.bypass(46)
@pytest.mark.parametrize("name", ["X-Hermes-Session-Id", "X-Hermes-Session-Key"])
@pytest.mark.parametrize("value", ["x" * 257, "a\x9fb", "a\tb", "\x85"])
def test_a_session_header_is_short_and_printable(
    gate: Gate, upstream: RecordingUpstream, name: str, value: str
) -> None:
    """Control characters and more than 256 characters in a session header are refused."""
    talk = gate.ask(
        "POST", "/v1/chat/completions", key="runner", headers=[(name, value)], body=b'{"messages":[]}'
    )
    assert_refused(upstream, talk, 400)


@pytest.mark.bypass(47)
def test_response_headers_are_cleaned(gate: Gate, upstream: RecordingUpstream) -> None:
    """The upstream's banner, hop-by-hop headers and identity echoes do not leave; what clients need does."""
    upstream.on(
        "GET",
        PROTECTED,
        json_answer(
            {"data": []},
            headers=[
                ("Server", "Python/3.11 aiohttp/3.14.1"),
                ("X-Powered-By", "secret-framework"),
                ("Connection", "X-Hop"),
                ("X-Hop", "hop"),
                ("Keep-Alive", "timeout=5"),
                ("Proxy-Authenticate", "Basic"),
                ("X-Forwarded-User", "root"),
                ("X-Auth-Request-Email", "root@example.com"),
                ("Set-Cookie", "__Host-herma=stolen"),
                ("Set-Cookie", "herma_session=stolen"),
                ("Set-Cookie", "theirs=kept"),
                ("X-Request-Id", "req-1"),
                ("X-Hermes-Session-Id", "sess-1"),
                ("Retry-After", "3"),
                ("Trailer", "X-T"),
            ],
        ),
    )
    response = gate.ask("GET", PROTECTED, key="admin").first
    assert response.status == 200
    for name in (
        "server",
        "x-powered-by",
        "x-hop",
        "keep-alive",
        "proxy-authenticate",
        "x-forwarded-user",
        "x-auth-request-email",
        "trailer",
    ):
        assert response.all(name) == [], name
    assert "stolen" not in repr(response.headers)
    assert response.get("x-request-id") == "req-1"
    assert response.get("x-hermes-session-id") == "sess-1"
    assert response.get("retry-after") == "3"
    assert response.get("x-content-type-options") == "nosniff"


@pytest.mark.bypass(47)
@pytest.mark.parametrize(
    "bad",
    [
        b"HTTP/1.1 200 OK\r\nX-A: b\rc\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        b"HTTP/1.1 200 OK\r\nX A: b\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 1_000_000 + b"\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n"
        + b"".join(b"X-%d: y\r\n" % i for i in range(5000))
        + b"Content-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        b"HTTP/1.1 999999 OK\r\nContent-Length: 2\r\n\r\nok",
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello",
    ],
)
def test_a_malformed_answer_becomes_a_502(gate: Gate, upstream: RecordingUpstream, bad: bytes) -> None:
    """An answer that is not HTTP to the letter is not passed on."""
    upstream.on("GET", PROTECTED, [bad, CLOSE])
    response = gate.ask("GET", PROTECTED, key="admin").first
    assert response.status == 502
    assert code_of(response).startswith("herma.")
    assert b"ok" not in response.body[:3]


@pytest.mark.bypass(47, 55)
def test_bytes_after_an_answer_are_never_a_second_answer(gate: Gate, upstream: RecordingUpstream) -> None:
    """What follows a complete answer is thrown away together with its connection."""
    extra = answer(200, b"evil", [("X-Evil", "1")])
    upstream.on("GET", PROTECTED, [answer(200, b"{}", [("Content-Type", "application/json")]) + extra])
    message = gate.message("GET", PROTECTED, key="admin")
    talk = raw(gate.port, message * 2, answers=2)
    assert b"evil" not in talk.received.lower()
    assert talk.ended is Ended.OPEN or talk.statuses[0] == 200
