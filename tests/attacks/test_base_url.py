"""Bypass row 73: an address of models has the same verdict through every door of a dashboard, and what was there is left alone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from attacks.test_sockets import CALLS, reached, talking, written
from support.gate import Gate
from support.raw import Response
from support.upstream import RecordingUpstream, json_answer
from support.verdict import code_of

STRANGER, PLAIN = "https://llm.example.com/v1", "http://llm.example.com/v1"
OWN, HERE = "https://openrouter.ai/api/v1", "http://127.0.0.1:11434/v1"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate in front of a dashboard, with its doors for files open."""
    below = {
        "upstream": {"profile": "hermes-dashboard"},
        "surfaces": {name: {"scope": "admin"} for name in ("file.write", "shell", "guard.write")},
    }
    with Gate(tmp_path_factory.mktemp("base_url"), upstream.url, below) as running:
        yield running


def model(url: str) -> dict[str, Any]:
    return {"provider": "openrouter", "default": "m", "base_url": url}


def entry(url: str) -> dict[str, Any]:
    return {"name": "x", "base_url": url, "key_env": "OPENROUTER_API_KEY"}


def yaml(url: str) -> str:
    return f"x: &x\n  base_url: '{url}'\nmodel:\n  <<: *x\n  provider: openrouter\n"


DOORS: dict[str, tuple[str, str, Any]] = {
    "configuration": ("PUT", "/api/config", lambda url: {"config": {"model": model(url)}}),
    "a helper's model": ("PUT", "/api/config", lambda url: {"config": {"auxiliary": {"vision": model(url)}}}),
    "a delegate": ("PUT", "/api/config", lambda url: {"config": {"delegation": model(url)}}),
    "what is fallen back on": ("PUT", "/api/config", lambda url: {"config": {"fallback_model": [model(url)]}}),
    "providers": ("PUT", "/api/config", lambda url: {"config": {"providers": {"openrouter": {"api": url}}}}),
    "own providers": ("PUT", "/api/config", lambda url: {"config": {"custom_providers": [entry(url)]}}),
    "keys with dots": ("PUT", "/api/config", lambda url: {"config": {"model.base_url": url, "model.provider": "or"}}),
    "of a profile": ("PUT", "/api/config?profile=work", lambda url: {"config": {"model": model(url)}}),
    "YAML": ("PUT", "/api/config/raw", lambda url: {"yaml_text": yaml(url)}),
    "YAML in flow style": ("PUT", "/api/config/raw", lambda url: {"yaml_text": json.dumps({"model": model(url)})}),
    "the model": ("POST", "/api/model/set", lambda url: {"scope": "main", "model": "m", **model(url)}),
    "a mixture": ("PUT", "/api/model/moa", lambda url: {"presets": {"p": {"models": [model(url)]}}}),
    "an endpoint": ("POST", "/api/providers/custom-endpoints", lambda url: {"name": "OpenRouter", "model": "m", "base_url": url}),
    "a probe": ("POST", "/api/providers/validate", lambda url: {"key": "OPENROUTER_BASE_URL", "value": url}),
    "a variable": ("PUT", "/api/env", lambda url: {"key": "OPENROUTER_BASE_URL", "value": url}),
    "a channel's variable": ("PUT", "/api/messaging/platforms/x", lambda url: {"env": {"OPENROUTER_BASE_URL": url}}),
    "a toolset's variable": ("PUT", "/api/tools/toolsets/web/env", lambda url: {"env": {"OPENROUTER_BASE_URL": url}}),
    "a memory": ("PUT", "/api/memory/providers/m/config", lambda url: {"values": model(url)}),
    "a job": ("POST", "/api/cron/jobs", lambda url: {"prompt": "say hello", "schedule": "1h", **model(url)}),
    "a job that is there": ("PUT", "/api/cron/jobs/abc", lambda url: {"updates": model(url)}),
}  # fmt: skip


def ask(gate: Gate, door: str, url: str) -> Response:
    method, target, body = DOORS[door]
    return gate.ask(method, target, key="admin", body=json.dumps(body(url)).encode()).first


def arrived(upstream: RecordingUpstream) -> bool:
    """Tell whether the write reached the agent; the gate itself asks what is there."""
    return any(request.method != "GET" for request in upstream.forwarded)


@pytest.mark.bypass(73)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("url", [STRANGER, PLAIN, OWN.replace("ai/", "ai.drop.example/")])
def test_a_provider_s_key_goes_to_no_stranger(
    gate: Gate, upstream: RecordingUpstream, door: str, url: str
) -> None:
    """Whoever would answer at that address would get it."""
    response = ask(gate, door, url)
    assert response.status == 403
    assert code_of(response) in {"herma.mcp.endpoint", "herma.mcp.remote"}
    assert "example" not in response.body.decode()
    assert not arrived(upstream)


@pytest.mark.bypass(73)
@pytest.mark.parametrize(
    "url", ["https:/llm.example.com/v1", "HTTPS:llm.example.com", "https:\\\\llm.example.com/v1"]
)
def test_an_address_that_programs_read_differently_is_refused(
    gate: Gate, upstream: RecordingUpstream, url: str
) -> None:
    """To some it names no host, to others the stranger's."""
    response = ask(gate, "own providers", url)
    assert (response.status, code_of(response)) == (403, "herma.mcp.endpoint")
    assert not arrived(upstream)


@pytest.mark.bypass(73)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("url", [OWN, HERE])
def test_every_door_takes_an_ordinary_address(
    gate: Gate, upstream: RecordingUpstream, door: str, url: str
) -> None:
    """The provider's own, and a server of models on this machine."""
    assert ask(gate, door, url).status == 404
    assert arrived(upstream)


FILE = """
model: {default: m, provider: openrouter, base_url: 'http://llm.example.com/v1'}
custom_providers: [{name: x, base_url: 'https://llm.example.com/v1', key_env: OPENAI_API_KEY}]
"""


@pytest.mark.bypass(73)
@pytest.mark.parametrize(
    ("target", "body", "passes"),
    [
        # What was there before is left alone, whichever model is asked there.
        ("/api/config", {"config": {"timezone": "UTC"}}, True),
        ("/api/config", {"config": {"model": {"default": "other"}}}, True),
        ("/api/config", {"config": {"model": {"base_url": PLAIN, "provider": "openrouter"}}}, True),
        ("/api/config/raw", {"yaml_text": FILE + "timezone: UTC\n"}, True),
        ("/api/config/raw", {"yaml_text": FILE.replace("default: m,", "default: other,")}, True),
        ("/api/config/raw", {"yaml_text": FILE.replace("http:", "https:").replace("openrouter", "custom")}, True),
        # The provider stays the one that the file names, which the page's own answer does not.
        ("/api/config", {"config": {"model": {"base_url": STRANGER}}}, False),
        ("/api/config", {"config": {"model": {"base_url": "http://198.51.100.7/v1"}}}, False),
        ("/api/config/raw", {"yaml_text": FILE.replace("example.com/v1', key", "example.net/v1', key")}, False),
        ("/api/config/raw", {"yaml_text": FILE.replace("OPENAI_API_KEY", "ANTHROPIC_API_KEY")}, False),
    ],
)  # fmt: skip
def test_only_what_changes_is_judged(
    gate: Gate, upstream: RecordingUpstream, target: str, body: object, passes: bool
) -> None:
    """An address of old is told; nobody has to mend it before something else is saved."""
    upstream.on("GET", "/api/config", json_answer({"model": "m", "timezone": ""}))
    upstream.on("GET", "/api/config/raw", json_answer({"yaml": FILE, "path": "/x"}))
    response = gate.ask("PUT", target, key="admin", body=json.dumps(body).encode()).first
    assert (response.status, arrived(upstream)) == ((404, True) if passes else (403, False))


@pytest.mark.bypass(71, 73)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("cron.manage", {"action": "add", "name": "x", "schedule": "1h", "prompt": "say hello", **model(STRANGER)}),
        ("config.set", {"key": "model.base_url", "value": PLAIN}),
        ("config.set", {"key": "model", "value": model(STRANGER)}),
        ("cli.exec", {"argv": ["config", "set", "model.base_url", PLAIN]}),
    ],
)  # fmt: skip
def test_a_call_is_no_other_door(
    gate: Gate, upstream: RecordingUpstream, method: str, params: dict[str, object]
) -> None:
    """Over the WebSocket it is judged like the body of a request."""
    call = json.dumps({"id": "1", "method": method, "params": params}).encode()
    with talking(gate, upstream, CALLS) as connection:
        connection.send(written(Frame(Opcode.TEXT, call)))
        connection.read_until(b"herma.mcp.endpoint")
    assert reached(upstream) == []
