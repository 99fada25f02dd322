"""The schema for editors."""

from typing import Any

import jsonschema
import pytest
import yaml

from herma.config.schema import schema
from support.config_text import KEYS, UPSTREAM, parsed

VALIDATOR = jsonschema.Draft202012Validator(schema())

ACCEPTED = {
    "smallest": UPSTREAM,
    "with a key": UPSTREAM + KEYS,
    "everything": """
listen:
  - address: 127.0.0.1:8643
    public_names: [agent.example.com, 'agent.example.com:8443']
  - {address: 'unix:/run/herma.sock', mode: '0600'}
upstream:
  url: https://127.0.0.1:8642
  key: ${OTHER_FAKE_KEY}
  tls: {}
  idle_timeout_s: 0x10
auth:
  min_entropy_bits: 80
  failures: {free_attempts: 3, base_delay_s: 0.5}
  keys:
    - {name: a, key: '${FAKE_KEY}', scopes: [run, read], expires: '2027-01-01T00:00:00Z', networks: [10.0.0.0/8], max_concurrent_runs: 2}
trusted_proxies: [10.1.2.0/24]
cors: {origins: ['https://app.example.com']}
limits: {max_headers: 50, rates: {per_key: {per_s: 1, burst: 5}}}
checks: {cron: {mode: monitor}, mcp: {}}
redaction: {mode: monitor}
strict: true
admin: {address: 'unix:/run/admin.sock'}
audit: {file: audit.jsonl}
workers: 2
drain_timeout_s: 0
""",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_schema_and_reader_accept_the_same_file(text: str) -> None:
    """What Herma starts with has no red line in an editor."""
    assert parsed(text, keys=False, upstream=False)
    VALIDATOR.validate(yaml.safe_load(text))


REFUSED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "unknown key": {"limts": {}},
    "unknown key below": {"limits": {"x": 1}},
    "derived key": {"listen": [{"address": "127.0.0.1:80", "binds": []}]},
    "path": {"path": "x"},
    "wrong type": {"workers": "2"},
    "out of bounds": {"workers": 0},
    "no listener": {"listen": []},
    "no scopes": {"auth": {"keys": [{"name": "a", "key": "x", "scopes": []}]}},
    "no key": {"auth": {"keys": [{"name": "a", "scopes": ["run"]}]}},
    "two keys": {"auth": {"keys": [{"name": "a", "key": "x", "key_file": "y", "scopes": ["run"]}]}},
    "unknown scope": {"auth": {"keys": [{"name": "a", "key": "x", "scopes": ["all"]}]}},
    "bad hash": {"auth": {"keys": [{"name": "a", "hash": "x", "scopes": ["run"]}]}},
    "two upstream keys": {"upstream": {"url": "http://a", "key": "x", "key_file": "y"}},
    "redaction off": {"redaction": {"mode": "off"}},
    "url with a path": {"upstream": {"url": "http://a/v1"}},
}


@pytest.mark.parametrize("part", REFUSED.values(), ids=REFUSED)
def test_schema_refuses_what_the_reader_refuses(part: dict[str, Any]) -> None:
    """An editor shows a mistake before the program does."""
    whole = {"upstream": {"url": "http://127.0.0.1:8642"}, **part} if part else {}
    assert not VALIDATOR.is_valid(whole)


def test_schema_is_a_schema() -> None:
    """It is valid JSON Schema 2020-12, and every key has a description."""
    jsonschema.Draft202012Validator.check_schema(schema())
    assert not list(undescribed(schema(), "root"))


def undescribed(node: Any, name: str):
    for key, value in node.get("properties", {}).items():
        if not value.get("description"):
            yield f"{name}.{key}"
        yield from undescribed(value, key)
        yield from undescribed(value.get("items", {}), key)


def test_defaults_of_the_schema_are_those_of_the_settings() -> None:
    """An editor that fills in a default changes nothing."""
    limits = schema()["properties"]["limits"]["properties"]
    settings = parsed("")
    shown = {name: part["default"] for name, part in limits.items() if "default" in part}
    assert shown
    assert all(getattr(settings.limits, name) == value for name, value in shown.items())
