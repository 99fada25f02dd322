"""Certificates of callers: of others, with names that are nearly right, outlived, and claimed in headers."""

import json
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from support.certificates import Authority, make_authority
from support.gate import Gate, free_port
from support.raw import Connection, Talk, request
from support.upstream import RecordingUpstream
from support.verdict import assert_refused, code_of
from support.wire_tls import Pair

PROTECTED = "/v1/models"
JOBS = "/api/jobs"
CALLERS = [
    {
        "name": "bot",
        "san": ["dns:bot.example.com", "uri:spiffe://example.com/bot"],
        "scopes": ["run", "read"],
    },
    {"name": "ops", "san": ["email:ops@example.com"], "scopes": ["admin"]},
]


class Walled:
    """A gate with two listeners that speak TLS: one connects others too, one only callers with a certificate."""

    def __init__(self, gate: Gate, authority: Authority, optional: int, required: int) -> None:
        self.gate = gate
        self.authority = authority
        self.optional = optional
        self.required = required

    def context(self, pair: Pair | None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.authority.path)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if pair is not None:
            context.load_cert_chain(pair.cert, pair.key)
        return context

    def message(
        self,
        port: int,
        method: str = "GET",
        target: str = PROTECTED,
        *headers: tuple[str, str],
        key: str = "",
    ) -> bytes:
        body = b"" if method == "GET" else b"{}"
        return request(
            method,
            target,
            host=f"127.0.0.1:{port}",
            headers=headers,
            body=body,
            key=self.gate.keys[key] if key else None,
        )

    def ask(self, pair: Pair | None, *rest: object, port: int = 0, key: str = "") -> Talk:
        at = port or self.optional
        with Connection(at, tls=self.context(pair)) as connection:
            connection.send(self.message(at, *rest, key=key))  # type: ignore[arg-type] - handed through as they came
            return connection.talk()

    def actor(self) -> str:
        return str(self.gate.audit()[-1]["actor"])


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Walled]:
    directory = tmp_path_factory.mktemp("certificates")
    authority = make_authority(directory)
    server = authority.issue("server", "dns:localhost", "ip:127.0.0.1")
    gate = Gate(directory / "gate", upstream.url, {"auth": {"certificates": CALLERS}})
    optional, required = free_port(), free_port()
    tls = {"cert_file": server.cert, "key_file": server.key, "client_ca_file": authority.path}
    gate.config["listen"] += [
        {"address": f"127.0.0.1:{optional}", "tls": {**tls, "client_auth": "optional"}},
        {"address": f"127.0.0.1:{required}", "tls": tls},
    ]
    gate.write_config(gate.config)
    with gate:
        yield Walled(gate, authority, optional, required)


@pytest.fixture(scope="module")
def bot(walled: Walled) -> Pair:
    return walled.authority.issue("bot", "dns:Bot.example.com", "ip:192.0.2.1")


def test_a_certificate_opens_what_its_entry_says(
    walled: Walled, upstream: RecordingUpstream, bot: Pair
) -> None:
    """On both listeners, and the agent hears nothing of it."""
    for port in (walled.optional, walled.required):
        assert walled.ask(bot, port=port).status == 200
        assert walled.actor() == "cert:bot"
        assert walled.ask(bot, "POST", JOBS, port=port).status == 403
    ops = walled.authority.issue("ops", "email:ops@example.com")
    assert walled.ask(ops, "POST", JOBS).status not in {401, 403}
    assert all(b"bot" not in seen.raw.lower() for seen in upstream.forwarded)


def test_the_gate_tells_whose_certificate_it_is(
    walled: Walled, upstream: RecordingUpstream, bot: Pair
) -> None:
    """With what it opens and its end; there is no login here, and so no page for one."""
    said = json.loads(walled.ask(bot, "GET", "/.herma/session").first.body)
    assert (said["name"], said["scopes"]) == ("cert:bot", ["read", "run"])
    assert datetime.fromisoformat(said["expires"]) > datetime.now(UTC)
    for pair, target, status in (
        (None, "/.herma/session", 401),
        (bot, "/.herma/login", 404),
        (bot, "/.herma/logout", 404),
    ):
        assert_refused(upstream, walled.ask(pair, "GET", target), status)


NEARLY = {
    "other name": ["dns:other.example.com"],
    "sub-domain": ["dns:a.bot.example.com"],
    "parent": ["dns:example.com"],
    "wildcard": ["dns:*.example.com"],
    "another kind": ["uri:dns:bot.example.com"],
    "host as address": ["email:bot@example.com"],
    "longer path": ["uri:spiffe://example.com/bot/x"],
    "path in capitals": ["uri:spiffe://example.com/BOT"],
    "other house": ["uri:spiffe://evil.example/bot"],
    "address": ["ip:127.0.0.1"],
    "of two callers": ["dns:bot.example.com", "email:ops@example.com"],
    "no name": [],
}


@pytest.mark.bypass(44)
@pytest.mark.parametrize("kind", list(NEARLY))
def test_a_name_is_compared_whole(walled: Walled, upstream: RecordingUpstream, kind: str) -> None:
    """The subject's common name says nothing, whatever stands there."""
    pair = walled.authority.issue("nearly", *NEARLY[kind], common_name="bot.example.com")
    for port in (walled.optional, walled.required):
        assert_refused(upstream, walled.ask(pair, port=port), 401)


def _connects(walled: Walled, pair: Pair | None, port: int) -> bool:
    """Tell whether a request over such a connection is answered at all."""
    try:
        return bool(walled.ask(pair, port=port).responses)
    except (ssl.SSLError, OSError):
        return False


def test_who_cannot_be_verified_is_not_heard(
    walled: Walled, upstream: RecordingUpstream, bot: Pair, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Another authority with the same names, a certificate that is over, and none where one is required."""
    stranger = make_authority(tmp_path_factory.mktemp("stranger")).issue("bot", "dns:bot.example.com")
    past = walled.authority.issue(
        "past", "dns:bot.example.com", until=datetime.now(UTC) - timedelta(minutes=5)
    )
    for port in (walled.optional, walled.required):
        assert not _connects(walled, stranger, port)
        assert not _connects(walled, past, port)
    assert not _connects(walled, None, walled.required)
    upstream.assert_untouched()
    assert_refused(upstream, walled.ask(None), 401)
    assert _connects(walled, bot, walled.required)


@pytest.mark.bypass(27)
@pytest.mark.parametrize(
    "name",
    [
        "X-Client-Cert",
        "X-SSL-Client-Cert",
        "Ssl-Client-Cert",
        "X-Forwarded-Client-Cert",
        "X-SSL-Client-Verify",
        "X-SSL-Client-DN",
        "X-SSL-Client-San",
    ],
)
def test_a_certificate_in_a_header_is_none(walled: Walled, upstream: RecordingUpstream, name: str) -> None:
    """Only the one that the connection was opened with counts."""
    for value in (
        "SUCCESS",
        "dns:bot.example.com",
        "By=spiffe://example.com/bot;URI=spiffe://example.com/bot",
        "CN=bot.example.com",
    ):
        assert_refused(upstream, walled.ask(None, "GET", PROTECTED, (name, value)), 401)


@pytest.mark.bypass(42, 56)
@pytest.mark.parametrize(
    "site",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Mode", "no-cors"),
    ],
)
def test_another_site_cannot_use_a_browsers_certificate(
    walled: Walled, upstream: RecordingUpstream, bot: Pair, site: tuple[str, str]
) -> None:
    """The browser shows it to whoever makes it connect."""
    response = assert_refused(upstream, walled.ask(bot, "POST", "/v1/chat/completions", site), 403)
    assert code_of(response).startswith("herma.")


@pytest.mark.bypass(31)
def test_a_header_decides_over_the_certificate(
    walled: Walled, upstream: RecordingUpstream, bot: Pair
) -> None:
    """A wrong key with a right certificate is a wrong key."""
    assert walled.ask(bot, key="reader").status == 200
    assert walled.actor() == "reader"
    upstream.forget()
    wrong = ("Authorization", "Bearer wrong-wrong-wrong-wrong")
    assert_refused(upstream, walled.ask(bot, "GET", PROTECTED, wrong), 401)


@pytest.mark.bypass(57)
def test_a_connection_outlives_its_certificate_as_a_strangers(
    walled: Walled, upstream: RecordingUpstream
) -> None:
    """What was verified once is over when its time is, on a connection that stays open as well."""
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=3)
    pair = walled.authority.issue("brief", "dns:bot.example.com", until=until)
    message = walled.message(walled.optional)
    with Connection(walled.optional, tls=walled.context(pair)) as connection:
        connection.send(message)
        assert connection.talk().status == 200
        while time.time() < until.timestamp():
            assert walled.gate.admin("/readyz").status == 200
        upstream.forget()
        connection.send(message)
        assert connection.talk(answers=2).statuses == [200, 401]
    upstream.assert_untouched()
