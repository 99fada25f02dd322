"""What goes upstream, and which way its answer comes back."""

import base64
import hashlib
import json

import pytest

from herma.policy.limits.throttle import ThrottleLimits
from support.inprocess import KEYS, SECRET, UPSTREAM_KEY, Call, Gated, code, gated, held, json_of
from support.raw import Ended
from support.upstream import answer

MODELS = {"object": "list", "data": []}
CHAT = "/v1/chat/completions"
JSON = [("Content-Type", "application/json")]
HEALTH = {"status": "ok", "platform": "hermes-agent", "version": "0.19.0"}


# --- what the upstream is sent


async def test_the_target_goes_up_byte_for_byte() -> None:
    """What was judged is what is asked for, its spelling included."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/mod%65ls", MODELS)
        assert (await gate.ask("GET", "/v1/mod%65ls?a=%41&b=c+d")).status == 200
        assert gate.agent.asked == ["GET /v1/mod%65ls?a=%41&b=c+d"]


async def test_the_upstream_hears_who_asked_through_the_gate() -> None:
    """The caller's claims about itself are replaced by what the gate saw."""
    headers = [
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
        ("X-Real-IP", "192.0.2.9"),
    ]
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        await gate.ask("GET", "/v1/models", headers=headers)
        call = await gate.agent.only()
        assert call.get("x-forwarded-for") == "127.0.0.1"
        assert call.get("x-forwarded-proto") == "http"
        assert call.get("x-forwarded-host") == f"127.0.0.1:{gate.port}"
        assert call.get("x-real-ip") is None
        assert call.get("host") == gate.plane.generation.authority.decode()


async def test_a_trusted_proxy_tells_the_scheme() -> None:
    """Where TLS ends in front of the gate, links of the upstream still have to be right."""
    async with gated(trusted_proxies=["127.0.0.1/32"]) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        await gate.ask(
            "GET", "/v1/models", headers=[("X-Forwarded-For", "203.0.113.5"), ("X-Forwarded-Proto", "https")]
        )
        assert (await gate.agent.only()).get("x-forwarded-proto") == "https"


async def test_each_caller_has_idempotency_keys_of_its_own() -> None:
    """The same key of two callers is two keys upstream, the same of one caller is one, and neither is the caller's."""
    async with gated() as gate:
        gate.agent.on("POST", CHAT, {"id": "c"})
        for key in ("runner", "runner", "other"):
            await gate.ask("POST", CHAT, key=key, body={}, headers=[("Idempotency-Key", "once")])
        sent = [call.get("idempotency-key") for call in gate.agent.calls]
        assert sent[0] == sent[1] == hashlib.sha256(b"runner\0once").hexdigest()
        assert sent[2] not in {sent[0], None, "once"}


async def test_a_gate_without_keys_sends_repeats_all_the_same() -> None:
    """A local caller is a caller."""
    async with gated(keys=False) as gate:
        gate.agent.on("POST", CHAT, {"id": "c"})
        await gate.ask("POST", CHAT, key=None, body={}, headers=[("Idempotency-Key", "once")])
        assert (await gate.agent.only()).get("idempotency-key") == hashlib.sha256(b"local\0once").hexdigest()


async def test_connections_are_used_again() -> None:
    """A hundred requests in turn are one connection upstream."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        for _ in range(5):
            assert (await gate.ask("GET", "/v1/models")).status == 200
        assert gate.agent.connects == 1


# --- liveness


async def test_without_a_key_a_public_route_tells_only_that_it_lives() -> None:
    """No version, no platform, no header of the upstream; with a key the answer is whole."""
    async with gated() as gate:
        gate.agent.on(
            "GET", "/health", answer(200, json.dumps(HEALTH).encode(), [*JSON, ("X-Version", "0.19.0")])
        )
        talk = await gate.talk("GET", "/health", key=None)
        assert json_of(talk.first) == {"status": "ok"}
        assert b"0.19.0" not in talk.received
        assert talk.first.get("content-type") == "application/json"
        assert (await gate.agent.only()).get("authorization") == f"Bearer {UPSTREAM_KEY}"
        assert json_of(await gate.ask("GET", "/health")) == HEALTH


async def test_a_handshake_does_not_open_the_public_route() -> None:
    """Asking for a WebSocket there tells no more than asking plainly."""
    async with gated() as gate:
        gate.agent.on("GET", "/health", HEALTH)
        talk = await gate.talk("GET", "/health", key=None, headers=_HANDSHAKE)
        assert b"0.19.0" not in talk.received
        assert talk.status == 200
        assert json_of(talk.first) == {"status": "ok"}


_HANDSHAKE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "ZmFrZSBrZXkgZm9yIHRlcw=="),
]


@pytest.mark.parametrize("play", [answer(500, b"{}"), answer(401, b"{}"), answer(204)])
async def test_an_upstream_that_is_not_well_is_not_alive(play: bytes) -> None:
    """Whatever it says but 200 is 503 to a caller without a key, and nothing of it is told."""
    async with gated() as gate:
        gate.agent.on("GET", "/health", play)
        response = await gate.ask("GET", "/health", key=None)
        assert (response.status, code(response)) == (503, "herma.upstream.unreachable")


async def test_a_wrong_key_on_a_public_route_is_no_key() -> None:
    """It gets the liveness, and counts as a failed attempt."""
    async with gated() as gate:
        gate.store.apply(ThrottleLimits(free_attempts=0))
        gate.agent.on("GET", "/health", HEALTH)
        response = await gate.ask("GET", "/health", key="fake-wrong-key-0000000000000")
        assert json_of(response) == {"status": "ok"}
        assert (await gate.ask("GET", "/health", key="fake-wrong-key-0000000000000")).status == 429


STATUS = {
    "gateway_running": True,
    "active_agents": 2,
    "hermes_home": "/root/.hermes",
    "gateway_pid": 7,
    "version": "0",
}


async def test_a_watcher_sees_a_part_of_the_status() -> None:
    """Whoever may read sees all of it; of an error a watcher sees that there is one."""
    async with gated(profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/api/status", STATUS)
        watched = await gate.ask("GET", "/api/status?profile=work", key="watcher")
        assert json_of(watched) == {"gateway_running": True, "active_agents": 2}
        assert json_of(await gate.ask("GET", "/api/status", key="reader")) == STATUS
        gate.agent.on("GET", "/api/status", answer(500, b'{"detail":"/root/.hermes"}', JSON))
        failed = await gate.ask("GET", "/api/status", key="watcher")
        assert (failed.status, failed.body) == (500, b"{}")


@pytest.mark.parametrize("kind", ["image/png", "text/event-stream", "application/zip"])
async def test_a_status_of_another_kind_is_not_shown_to_a_watcher(kind: str) -> None:
    """What cannot be reduced does not leave."""
    async with gated(profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/api/status", answer(200, b'data: {"pid":7}\n\n', [("Content-Type", kind)]))
        response = await gate.ask("GET", "/api/status", key="watcher")
        assert response.status == 502
        assert b"pid" not in response.body


async def test_the_prefixed_twin_of_a_public_route_is_not_public() -> None:
    """Only the exact path is."""
    async with gated() as gate:
        assert (await gate.ask("GET", "/p/team/health", key=None)).status == 401
        assert gate.agent.calls == []


# --- an upstream that fails


async def _closes(call: Call) -> None:
    call.close()


@pytest.mark.parametrize(("method", "target"), [("GET", "/v1/models"), ("POST", CHAT), ("POST", "/v1/runs")])
async def test_an_upstream_that_hangs_up_is_a_bad_gateway(method: str, target: str) -> None:
    """502 in the route's envelope; a POST is never sent twice, and the SDK is told not to either."""
    async with gated() as gate:
        gate.agent.on(method, target, _closes)
        response = await gate.ask(method, target, body=b"{}" if method == "POST" else b"")
        assert (response.status, code(response)) == (502, "herma.upstream.failed")
        assert response.get("x-should-retry") == ("false" if method == "POST" else None)
        assert len(gate.agent.calls) == 1


async def test_an_upstream_that_is_not_there_is_unavailable() -> None:
    """Nothing was sent, so it may be repeated, a POST as well."""
    async with gated() as gate:
        gate.plane.generation.pool.retire()
        response = await gate.ask("POST", CHAT, body={})
        assert (response.status, code(response)) == (503, "herma.upstream.unreachable")
        assert response.get("x-should-retry") is None
        assert response.get("retry-after") == "2"


async def test_a_failure_has_the_envelope_of_the_route() -> None:
    """Jobs have flat errors, those of the gateway too."""
    async with gated() as gate:
        gate.agent.on("GET", "/api/jobs", _closes)
        response = await gate.ask("GET", "/api/jobs")
        assert (response.status, json_of(response)["code"]) == (502, "herma.upstream.failed")


async def test_an_upstream_that_does_not_answer_is_a_timeout() -> None:
    """504 after the configured wait."""
    async with gated(upstream_extra={"head_timeout_s": 1}) as gate:
        gate.agent.on("GET", "/v1/models", held(MODELS))
        response = await gate.ask("GET", "/v1/models")
        assert (response.status, code(response)) == (504, "herma.upstream.timeout")


async def test_an_upgrade_that_nobody_asked_for_is_refused() -> None:
    """An upstream cannot turn a request into a tunnel."""
    async with gated() as gate:
        gate.agent.on(
            "GET",
            "/v1/models",
            answer(101, headers=[("Connection", "Upgrade"), ("Upgrade", "x")], framed=False),
        )
        talk = await gate.talk("GET", "/v1/models")
        assert (talk.status, code(talk.first)) == (502, "herma.upstream.failed")


# --- answers without a body


async def test_a_head_request_is_answered_with_a_head() -> None:
    """It promises no length that GET would not have."""
    async with gated() as gate:
        gate.agent.on(
            "HEAD", "/v1/models", answer(200, headers=[*JSON, ("Content-Length", "12")], framed=False)
        )
        client = await gate.open("HEAD", "/v1/models")
        head = await client.until(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert b"content-length: 0" not in head.lower()
        client.send(gate.message("GET", "/v1/models", key=None))
        assert b" 401 " in await client.until(b"\r\n\r\n")


@pytest.mark.parametrize("status", [204, 304])
async def test_a_status_without_a_body_has_none(status: int) -> None:
    """The next answer on the connection begins right behind its head."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", answer(status, headers=[("ETag", '"a"')], framed=False))
        client = await gate.open("GET", "/v1/models")
        head = await client.until(b"\r\n\r\n")
        assert f" {status} ".encode() in head
        assert b'etag: "a"' in head
        assert b"transfer-encoding" not in head
        client.send(gate.message("GET", "/v1/models", key=None))
        assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 401 ")


# --- header values


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_an_error_in_a_header_is_redacted(method: str) -> None:
    """An error text that quotes a credential does not, however the answer is relayed."""
    quoted = [("X-Hermes-Error", f"denied: token={SECRET}"), ("X-Hermes-Session-Id", SECRET)]
    for media in ("application/json", "image/png", "text/event-stream"):
        async with gated() as gate:
            gate.agent.on(
                method,
                "/v1/models",
                answer(502, b"" if method == "HEAD" else b"{}", [*quoted, ("Content-Type", media)]),
            )
            response = await gate.ask(method, "/v1/models")
            shown = response.get("x-hermes-error") or ""
            assert shown.startswith("denied: token=[")
            assert SECRET not in shown
            assert response.get("x-hermes-session-id") == SECRET


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Location", "https://files.invalid/a?access_token={}"),
        ("Location", "https://user:{}@files.invalid/"),
        ("Link", "<https://x.invalid/?key={}>; rel=next"),
        ("Content-Disposition", 'attachment; filename="{}.txt"'),
        ("WWW-Authenticate", 'Bearer realm="{}"'),
        ("Warning", '199 - "tried {}"'),
        ("OpenAI-Error", "wrong key {}"),
        ("Set-Cookie", "last={}; Path=/"),
        ("Refresh", "5; url=/?t={}"),
    ],
)
async def test_no_header_is_trusted_to_hold_no_credential(name: str, value: str) -> None:
    """Redirects, file names and warnings quote what the agent was given, under any name."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", answer(200, b"{}", [*JSON, (name, value.format(SECRET))]))
        shown = (await gate.ask("GET", "/v1/models")).get(name)
        assert shown is not None
        assert SECRET not in shown
        assert shown.startswith(value.partition("{}")[0][:5])


async def test_a_clean_header_keeps_its_value() -> None:
    """Redaction leaves alone what holds no credential, and the words of standards altogether."""
    kept = [
        ("ETag", '"3f80f-1b6-3e1cb03b"'),
        ("Location", "/v1/artifacts/download/art_1?part=2"),
        ("Content-Disposition", 'attachment; filename="report.pdf"'),
        ("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT"),
        ("Cache-Control", "private"),
    ]
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", answer(200, b"{}", [*JSON, *kept]))
        response = await gate.ask("GET", "/v1/models")
        assert [(name, response.get(name)) for name, _ in kept] == kept


async def test_the_upstream_s_own_headers_do_not_pass() -> None:
    """What runs behind the gate is hidden; security headers are added."""
    headers = [*JSON, ("Server", "aiohttp"), ("X-Powered-By", "x"), ("Connection", "X-Gone"), ("X-Gone", "1")]
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", answer(200, b"{}", headers))
        response = await gate.ask("GET", "/v1/models")
        for name in ("server", "x-powered-by", "x-gone"):
            assert response.get(name) is None
        assert response.get("x-content-type-options") == "nosniff"


# --- what an answer says


async def _approve(gate: Gated, resolved: object) -> None:
    gate.agent.on("POST", "/v1/runs/run_1/approval", {"run_id": "run_1", "resolved": resolved})
    response = await gate.ask("POST", "/v1/runs/run_1/approval", key="admin", body={"choice": "once"})
    assert response.status == 200


@pytest.mark.parametrize(("resolved", "left"), [(1, ("once",)), (2, None)])
async def test_an_answered_prompt_is_no_longer_on_offer(resolved: int, left: tuple[str, ...] | None) -> None:
    """One answer takes one prompt off; an answer that settled several takes all."""
    async with gated() as gate:
        await gate.store.offer("run_1", ("once", "always"))
        await gate.store.offer("run_1", ("once",))
        await _approve(gate, resolved)
        assert await gate.store.offered("run_1") == left


async def test_an_answer_that_the_upstream_refused_takes_nothing_off() -> None:
    """The prompt still waits."""
    async with gated() as gate:
        await gate.store.offer("run_1", ("once",))
        gate.agent.on("POST", "/v1/runs/run_1/approval", answer(409, b"{}", JSON))
        await gate.ask("POST", "/v1/runs/run_1/approval", key="admin", body={"choice": "once"})
        assert await gate.store.offered("run_1") == ("once",)


async def test_stopping_a_run_takes_every_prompt_off() -> None:
    """Nothing waits any more."""
    async with gated() as gate:
        await gate.store.offer("run_1", ("once",))
        await gate.store.offer("run_1", ("once",))
        gate.agent.on("POST", "/v1/runs/run_1/stop", {"status": "stopping"})
        assert (await gate.ask("POST", "/v1/runs/run_1/stop", key="admin")).status == 200
        assert await gate.store.offered("run_1") is None


async def test_a_profile_without_runs_polls_none() -> None:
    """Another kind of upstream has no run whose end could be seen."""
    async with gated(profile="openai") as gate:
        gate.agent.on("POST", CHAT, {"id": "chatcmpl-1"})
        gate.agent.on("GET", f"{CHAT}/chatcmpl-1", {"id": "chatcmpl-1"})
        assert (await gate.ask("POST", CHAT, body={})).status == 200
        assert (await gate.ask("GET", f"{CHAT}/chatcmpl-1")).status == 200
        assert (await gate.ask("GET", f"{CHAT}/chatcmpl-1", key="other")).status == 404


async def test_no_answer_shows_a_key() -> None:
    """An upstream that repeats what it was sent shows neither its own key nor the caller's."""

    async def play(call: Call) -> None:
        said = json.dumps({"error": "bad key", "Authorization": call.get("authorization")}).encode()
        await call.send(answer(401, said, JSON))

    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", play)
        talk = await gate.talk("GET", "/v1/models")
        assert talk.ended is Ended.OPEN
        assert talk.status == 401
        assert UPSTREAM_KEY.encode() not in talk.received
        assert KEYS["runner"].encode() not in talk.received


async def test_a_redirect_made_from_the_host_leads_back_to_the_gate() -> None:
    """A server that takes off a slash names the `Host` it was given; the caller stays at the gate."""
    async with gated() as gate:
        url = f"http://{gate.plane.generation.authority.decode()}/v1/models"
        gate.agent.on("GET", "/v1/models/", answer(307, headers=[("Location", url)]))
        response = await gate.ask("GET", "/v1/models/")
        assert (response.status, response.get("location")) == (307, "/v1/models")


# --- pages


async def test_a_page_gets_a_policy_and_a_stand_in() -> None:
    """Its own script may run, as it leaves; the upstream's key is not in it."""
    page = f'<script>window.__HERMES_SESSION_TOKEN__="{UPSTREAM_KEY}";</script>'
    headers = [("Content-Type", "text/html"), ("Content-Security-Policy", "default-src *")]
    async with gated(profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/chat", answer(200, page.encode(), headers))
        response = await gate.ask("GET", "/chat", key="reader")
        assert response.body == b'<script>window.__HERMES_SESSION_TOKEN__="held-by-the-gate";</script>'
        digest = hashlib.sha256(response.body[len("<script>") : -len("</script>")]).digest()
        policy = response.get("content-security-policy")
        assert policy is not None
        assert f"script-src 'self' 'sha256-{base64.b64encode(digest).decode()}';" in policy
        assert response.get("x-frame-options") == "DENY"


async def test_a_page_with_another_key_is_worthless_too() -> None:
    """An upstream that was started with a key that the gate does not have."""
    other = "7NQ80oB-c34FA4ddMGFvJtXyeOeMmL98L_LBQcGollk"
    page = f'<script>window.__HERMES_SESSION_TOKEN__="{other}";</script>'
    async with gated(profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/", answer(200, page.encode(), [("Content-Type", "text/html")]))
        assert other.encode() not in (await gate.ask("GET", "/", key="reader")).body


async def test_a_file_of_the_upstream_is_copied_as_it_is() -> None:
    """Code holds words that look like keys; a changed script does not run."""
    code_ = f'const password = "{SECRET}";'.encode()
    async with gated(profile="hermes-dashboard") as gate:
        gate.agent.on("GET", "/assets/a.js", answer(200, code_, [("Content-Type", "text/javascript")]))
        response = await gate.ask("GET", "/assets/a.js", key="reader")
        assert response.body == code_
        assert response.get("x-content-type-options") == "nosniff"


# --- what is promised for later


async def test_a_promise_in_a_whole_answer_is_told_in_its_head() -> None:
    """Nothing can be told once the answer is closed."""
    item = {"type": "function_call", "name": "terminal", "arguments": json.dumps({"background": True})}
    async with gated() as gate:
        for target, body in (("/v1/responses", {"id": "r", "output": [item]}), (CHAT, {"id": "c"})):
            gate.agent.on("POST", target, body)
            told = (await gate.ask("POST", target, body={"input": "x"})).get("x-herma-async-delivery")
            assert told == ("unsupported" if "output" in body else None)


async def test_the_list_of_what_there_is_says_so() -> None:
    """Everything else in it is the upstream's."""
    listed = {"object": "hermes.api_server.capabilities", "features": {"run_stop": True}}
    async with gated() as gate:
        gate.agent.on("GET", "/v1/capabilities", listed)
        for target in ("/v1/capabilities", "/p/default/v1/capabilities"):
            gate.agent.on("GET", target, listed)
            answered = json_of(await gate.ask("GET", target))
            assert answered == {"herma": {"async_delivery": "unsupported"}, **listed}


async def test_a_failed_list_stays_as_it_is() -> None:
    """An error is no list."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/capabilities", answer(500, b'{"error": "x"}', JSON))
        assert json_of(await gate.ask("GET", "/v1/capabilities")) == {"error": "x"}
