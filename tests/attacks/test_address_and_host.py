"""Bypass rows 34 to 44: from where and under which name a request comes is not the caller's word."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import Gate
from support.raw import raw, source_address
from support.upstream import RecordingUpstream
from support.verdict import assert_refused

PROTECTED = "/v1/models"


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


@pytest.mark.bypass(42, 43)
def test_no_page_uses_a_gate_that_asks_nobody_who_they_are(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """On loopback without keys every program of the machine is somebody; a page that the browser shows is none."""
    open_gate = Gate(tmp_path, upstream.url)
    del open_gate.config["auth"]
    open_gate.write_config(open_gate.config)
    image = [("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]
    link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    with open_gate as gate:
        assert gate.ask("GET", PROTECTED).status == 200
        upstream.forget()
        for site in ("cross-site", "same-site"):
            foreign = ("Sec-Fetch-Site", site)
            assert_refused(upstream, gate.ask("GET", PROTECTED, headers=[foreign, *image]), 403)
            # Jobs need more than to read; a link may lead to what shows something.
            assert_refused(upstream, gate.ask("GET", "/api/jobs", headers=[foreign, *link]), 403)
        assert gate.ask("GET", PROTECTED, headers=[foreign, *link]).status == 200
        own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors")]
        assert gate.ask("GET", "/api/jobs", headers=own).status not in {401, 403}


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
