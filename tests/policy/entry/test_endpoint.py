"""Claims about `herma.policy.entry.endpoint`."""

import json
from typing import Any

import pytest

from herma.policy.entry.endpoint import WORDS, endpoint_variable, endpoints_of, is_endpoint
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.finder import entries, may_hold_entry
from support.guard_content import entry_judge

STRANGER = "https://llm.example.com/v1"
KEY, PLAIN, TOLD, UNKNOWN = "mcp-endpoint-key", "mcp-endpoint-plain", "mcp-endpoint", "mcp-endpoint-stranger"


def found(body: Any) -> set[str]:
    assert may_hold_entry(json.dumps(body).encode())
    return {finding.rule_id for entry in entries(body) for finding in entry_judge().judge_entry(entry)}


def model(url: str, **others: object) -> Any:
    return {"config": {"model": {"base_url": url, **others}}}


JUDGED: dict[str, tuple[Any, set[str]]] = {
    "a stranger": (model(STRANGER), {UNKNOWN}),
    "a stranger that is named": (model(STRANGER, provider="custom"), {UNKNOWN}),
    "a stranger with a key of its own": (model(STRANGER, provider="custom", api_key="k" * 40), {UNKNOWN}),
    "a provider's key": (model(STRANGER, provider="openrouter"), {KEY, UNKNOWN}),
    "a provider in capitals": (model(STRANGER, Provider="OpenRouter"), {KEY, UNKNOWN}),
    "another name of one": (model(STRANGER, provider="Claude_Code"), {KEY, UNKNOWN}),
    "by the variable": (model(STRANGER, provider="custom", key_env="OPENAI_API_KEY"), {KEY, UNKNOWN}),
    "by the variable, in other words": (model(STRANGER, apiKeyEnv="anthropic_api_key"), {KEY, UNKNOWN}),
    "by a reference": (model(STRANGER, api_key="${OPENROUTER_API_KEY}"), {KEY, UNKNOWN}),
    "in a header": (model(STRANGER, extra_headers={"x": "Bearer ${GH_TOKEN}"}), {KEY, UNKNOWN}),
    "the agent's own": (model(STRANGER, key_env="API_SERVER_KEY"), {KEY, UNKNOWN}),
    "of a channel": (model(STRANGER, key_env="TELEGRAM_BOT_TOKEN"), {KEY, UNKNOWN}),
    "a variable of the stranger's": (model(STRANGER, key_env="LLM_EXAMPLE_KEY"), {UNKNOWN}),
    "a provider by its place": ({"providers": {"open-router": {"api": STRANGER}}}, {KEY, UNKNOWN}),
    "a provider by its place, with another key": (
        {"providers": {"openai": {"api": STRANGER, "api_key": "k" * 40}}},
        {UNKNOWN},
    ),
    "speech": ({"config": {"tts": {"openai": {"base_url": STRANGER}}}}, {KEY, UNKNOWN}),
    "as the dashboard adds one": ({"name": "OpenRouter", "base_url": STRANGER, "model": "m"}, {KEY, UNKNOWN}),
    "as the dashboard sets one": ({"scope": "main", "provider": "xai", "base_url": STRANGER}, {KEY, UNKNOWN}),
    "a provider's own": (model("https://openrouter.ai/api/v1", provider="openrouter"), set()),
    "a region of a provider's": (model("https://eu.api.openai.com/v1", provider="openai-api"), set()),
    "a part of a cloud": (
        model("https://bedrock-runtime.eu-central-1.amazonaws.com", provider="bedrock"),
        set(),
    ),
    "a place that is rented from a cloud": (
        model("https://drop.s3.eu-central-1.amazonaws.com", provider="bedrock"),
        {KEY, UNKNOWN},
    ),
    "another provider's": (model("https://api.z.ai/api/anthropic", provider="anthropic"), {UNKNOWN}),
    "a provider's, without a name": (model("https://api.groq.com/openai/v1"), set()),
    "a name that imitates": (model("https://api.openai.com.drop.example/v1"), {"mcp-url-imitates"}),
    "of one's own, by its other names": (
        {"custom_providers": [{"name": "x", "url": STRANGER, "key_env": "OPENAI_API_KEY"}]},
        {KEY, UNKNOWN},
    ),
    "without its slashes": (model("https:llm.example.com/v1", provider="openrouter"), {PLAIN}),
    "with one slash": (model("HTTPS:/llm.example.com/v1", provider="openrouter"), {PLAIN}),
    "with slashes the other way": (model("https:\\\\llm.example.com/v1"), {PLAIN}),
    "a port, and no scheme": (model("localhost:11434/v1", provider="openrouter"), set()),
    "in clear": (model("http://llm.example.com/v1"), {PLAIN, UNKNOWN}),
    "in clear to a provider": (model("http://api.openai.com/v1"), {PLAIN}),
    "an address in clear": (model("http://203.0.113.9:8000/v1"), {PLAIN, TOLD}),
    "an address": (model("https://203.0.113.9/v1"), {TOLD}),
    "an address in one number": (model("http://3405803785/v1"), {PLAIN, TOLD}),
    "an address with a key": (model("https://203.0.113.9/v1", provider="groq"), {KEY, TOLD}),
    "a tunnel": (model("https://a.trycloudflare.com/v1"), {TOLD}),
    "this machine": (model("http://localhost:11434/v1", provider="openai", key_env="OPENAI_API_KEY"), set()),
    "a neighbour": (model("http://10.1.2.3:8000/v1", provider="openrouter"), set()),
    "a container": (model("http://ollama:11434/v1"), set()),
    "the cloud's metadata": (
        model("http://169.254.169.254/latest"),
        {"mcp-url-internal", "mcp-service-abuse"},
    ),
    "two hosts": (model("https://openrouter.ai\\@llm.example.com/v1", provider="openrouter"), {PLAIN}),
    "somebody at a host": (model("https://openrouter.ai@llm.example.com/v1"), {PLAIN}),
    "an escaped host": (model("https://llm%2eexample.com/v1"), {PLAIN}),
    "a host on two lines": (model("https://openrouter.ai\n.example.com/v1"), {PLAIN}),
    "a variable": (model("${MODEL_URL}"), {UNKNOWN}),
    "a variable with a key": (model("https://${HOST}/v1", provider="openrouter"), {KEY, UNKNOWN}),
    "no scheme": (model("llm.example.com/v1"), {UNKNOWN}),
    "no host": (model("https:///v1"), {UNKNOWN}),
    "nothing": (model("  ", provider="openrouter"), set()),
    "no text": (model(5, provider="openrouter"), set()),  # type: ignore[arg-type]  # what a hostile body has
    "a variable of the agent": ({"key": "ANTHROPIC_BASE_URL", "value": STRANGER}, {KEY, UNKNOWN}),
    "a variable of a channel": ({"env": {"OPENAI_API_BASE": STRANGER}}, {KEY, UNKNOWN}),
    "a variable in clear": ({"key": "OPENAI_BASE_URL", "value": "http://llm.example.com"}, {KEY, PLAIN, TOLD, UNKNOWN}),
    "a variable of something else": ({"key": "HASS_BASE_URL", "value": STRANGER}, set()),
    "a variable here": ({"key": "OPENAI_BASE_URL", "value": "http://127.0.0.1:8000"}, set()),
    "a key that is set": ({"key": "model.base_url", "value": STRANGER}, {UNKNOWN}),
    "a key with a value below": ({"config": {"model.base_url": {"value": STRANGER}}}, {UNKNOWN}),
    "two keys with dots": ({"model.base_url": STRANGER, "model.provider": "groq"}, {KEY, UNKNOWN}),
    "a member twice": (model(STRANGER, baseUrl="https://api.groq.com/v1", provider="groq"), {KEY, UNKNOWN}),
    "a line": ({"line": f"hermes config set model.base_url {STRANGER}"}, {UNKNOWN}),
    "in YAML": ({"yaml_text": f"model:\n  provider: xai\n  base_url: &a '{STRANGER}'\n"}, {KEY, UNKNOWN}),
    "in a list": ({"custom_providers": [{"name": "x", "base_url": STRANGER, "key_env": "HF_TOKEN"}]}, {KEY, UNKNOWN}),
}  # fmt: skip


@pytest.mark.parametrize(("body", "rules"), JUDGED.values(), ids=JUDGED)
def test_an_address_counts_by_its_host_and_whose_key_goes_there(body: Any, rules: set[str]) -> None:
    """Wherever a configuration has it, and however it is written."""
    assert found(body) == rules


SPOKEN = {
    "a question": {"messages": [{"role": "user", "content": 'Is {"base_url": "%s"} right?'}]},
    "a text of a chat": {"text": 'model:\n  provider: openrouter\n  base_url: "%s"\n'},
    "an order": {"input": "Please run `hermes config set model.base_url %s`"},
    "arguments of a tool": {"messages": [{"content": [{"input": {"provider": "xai", "base_url": "%s"}}]}]},
}


@pytest.mark.parametrize("body", SPOKEN.values(), ids=SPOKEN)
def test_an_address_that_is_spoken_of_is_told(body: dict[str, Any]) -> None:
    """Somebody may ask what it does; the agent's own guards are there if it does it."""
    texts = json.dumps(body)
    assert found(json.loads(texts.replace("%s", "http://llm.example.com/v1"))) == {TOLD}
    assert found(json.loads(texts.replace("%s", "http://localhost:11434/v1"))) == set()


def test_what_holds_an_address_is_told_by_its_name() -> None:
    """The names that the first look looks for are among those."""
    assert all(map(is_endpoint, WORDS))
    assert not is_endpoint("url")
    assert not list(endpoints_of(("model",), {"url": STRANGER}, ""))
    assert not list(endpoint_variable("URL", STRANGER, ""))


def test_nothing_else_is_an_address() -> None:
    """An entry of another kind has none."""
    from herma.policy.entry.endpoint import Endpoints
    from herma.policy.entry.source import Sources

    assert not list(
        Endpoints([], Sources([])).effects(Entry("", {"endpoint": "http://x.example"}, "", Kind.SERVER))
    )
