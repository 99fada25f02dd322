"""Recorded exchanges with a real upstream: what it answered, and what the profile makes of the request."""

from pathlib import Path
from typing import Any

import pytest

from herma.content.profiles import load_profile
from herma.policy.decision import Deny
from herma.policy.jsondoc import find, parse, strings
from herma.policy.message.canonical import Head, canonical_head
from herma.policy.routing.profile import Match, Profile, Turn
from herma.yamlfile import load

HERE = Path(__file__).parent
PROFILES = sorted(path.name for path in HERE.iterdir() if (path / "exchanges.yaml").is_file())


def recorded(profile: str) -> list[dict[str, Any]]:
    path = HERE / profile / "exchanges.yaml"
    value = load(path.read_bytes(), str(path)).value
    return list(value["exchanges"])


EXCHANGES = [(profile, exchange) for profile in PROFILES for exchange in recorded(profile)]


def asked(exchange: dict[str, Any]) -> Head | Deny:
    method, _, target = exchange["request"].partition(" ")
    headers = [(b"Host", b"127.0.0.1:8643"), (b"Authorization", b"Bearer fake-test-key")]
    return canonical_head(method.encode(), target.encode(), "1.1", headers)


def texts(value: Any, pointers: tuple[str, ...]) -> list[str]:
    found = [item for pointer in pointers for _, item in find(value, pointer)]
    return [text for item in found for _, text in strings(item)]


def ids(value: Any, places: list[tuple[str, str]]) -> list[str]:
    return [f"{kind} {name}" for kind, pointer in places for _, name in find(value, pointer)]


@pytest.mark.parametrize(("name", "exchange"), EXCHANGES, ids=[f"{p}: {e['name']}" for p, e in EXCHANGES])
def test_recorded_exchange_is_understood(name: str, exchange: dict[str, Any]) -> None:
    """Operation, scope, shape, turn, owner, prompt texts and ids are those of what really happened."""
    profile = load_profile(name)
    head = asked(exchange)
    gate = exchange["gate"]
    if isinstance(head, Deny):
        assert str(head.status) == gate
        return
    match = profile.match(head.method, head.target)
    if isinstance(match, Deny):
        assert str(match.status) == gate
        if match.status == 400:
            return
        assert profile.envelope_for(head.target) == exchange["envelope"]
        return
    check_match(exchange, match)
    check_bodies(exchange, match)


def check_match(exchange: dict[str, Any], match: Match) -> None:
    route = match.route
    assert exchange["gate"] == ("liveness" if route.public else "forward" if match.known else "unknown")
    assert route.operation == exchange.get("operation", "unknown")
    assert route.scope == exchange["scope"]
    assert route.envelope == exchange.get("envelope", "openai")
    if match.known:
        assert route.turn == exchange.get("turn", Turn.NONE)
        assert list(route.checks) == exchange.get("checks", [])
    owned = f"{route.owned.kind} {match.params[route.owned.param]}" if route.owned else None
    assert owned == exchange.get("owned")


def check_bodies(exchange: dict[str, Any], match: Match) -> None:
    route = match.route
    if "body" in exchange:
        body = parse(exchange["body"].encode(), max_depth=20, max_keys=100).value
        assert texts(body, route.text) == exchange.get("text", [])
        assert ids(body, list(route.refers)) == exchange.get("refers", [])
    if "answer" in exchange:
        answer = parse(exchange["answer"].encode(), max_depth=20, max_keys=100).value
        made = [(item.kind, item.pointer) for item in route.creates if item.pointer]
        assert ids(answer, made) == exchange.get("makes", [])
        if route.response_run_pointer:
            assert find(answer, route.response_run_pointer)


@pytest.mark.parametrize("name", PROFILES)
def test_every_operation_that_starts_a_turn_was_recorded(name: str) -> None:
    """A turn-starting route that nobody has seen on the wire is not claimed to be understood."""
    profile: Profile = load_profile(name)
    seen = {exchange.get("operation") for exchange in recorded(name)}
    turning = {
        route.operation for route in profile.routes if route.turn is not Turn.NONE and not route.closed
    }
    assert turning <= seen
