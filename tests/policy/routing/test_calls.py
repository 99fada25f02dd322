"""Which operation a call asks for."""

from dataclasses import replace
from typing import Any

import pytest

from herma.policy.decision import Deny
from herma.policy.grant import Scope
from herma.policy.routing.calls import CALL, CallRoute, CallTable
from herma.policy.routing.profile import Match, Profile
from herma.policy.routing.route import Route
from herma.policy.routing.surfaces import objection, with_surfaces


def way(name: str, operation: str, at: str = "", *values: str) -> CallRoute:
    return CallRoute(Route(CALL, name, operation, Scope.READ), at, frozenset(values))


CALLS = (way("jobs", "jobs.write"), way("jobs", "read", "/action", "list"), way("run", "shell"))
PROFILE = Profile(
    "x", "1", (Route("GET", "/", "status", Scope.STATUS),), calls=CALLS, off=frozenset({"shell"})
)


@pytest.mark.parametrize(
    ("params", "operation"),
    [
        ({"action": "list"}, "read"),
        ({"action": "add"}, "jobs.write"),
        ({"action": "LIST"}, "jobs.write"),
        ({"action": ["list"]}, "jobs.write"),
        ({"Action": "list"}, "jobs.write"),
        ({}, "jobs.write"),
    ],
)
def test_a_word_in_the_parameters_may_ask_for_less(params: dict[str, Any], operation: str) -> None:
    """Only exactly; every other call of the method is the one without a condition."""
    route = CallTable(CALLS).find("jobs", params)
    assert route is not None
    assert route.operation == operation


@pytest.mark.parametrize("calls", [CALLS[1:2], (CALLS[0], CALLS[0])])
def test_each_method_has_one_entry_for_the_rest(calls: tuple[CallRoute, ...]) -> None:
    """None, and some calls would be unknown; two, and nobody knows which."""
    with pytest.raises(ValueError, match="exactly one"):
        CallTable(calls)


def test_a_profile_knows_its_calls_and_no_others() -> None:
    """What it does not name is refused, strict or not."""
    match = PROFILE.match_call("jobs", {"action": "list"})
    assert isinstance(match, Match)
    assert match.known
    unknown = PROFILE.match_call("jobs2", {})
    assert isinstance(unknown, Deny)
    assert unknown.code == "herma.rpc.unknown"


def test_surfaces_switch_calls_like_routes() -> None:
    """Off by the profile, on by the configuration."""
    denied = with_surfaces(PROFILE, {}).match_call("run", {})
    assert isinstance(denied, Deny)
    assert denied.code == "herma.route.off"
    on = with_surfaces(PROFILE, {"shell": Scope.ADMIN}).match_call("run", {})
    assert isinstance(on, Match)
    assert on.route.scope is Scope.ADMIN
    assert objection(PROFILE, "shell", Scope.ADMIN) == ""
    assert "did you mean 'shell'" in objection(PROFILE, "shel", Scope.ADMIN)


def test_names_and_places_in_a_call() -> None:
    """A name is one, on every call; whoever names a place of the machine has the scope `admin`."""
    profile = replace(PROFILE, call_names=("/profile",), call_places=("/cwd",))
    for name in ("work", None):
        assert isinstance(profile.match_call("jobs", {"profile": name}), Match)
    for path in ("/tmp/x", "../x", "", "a b", 1, ["x"], "x" * 65):
        denied = profile.match_call("jobs", {"profile": path})
        assert isinstance(denied, Deny)
        assert denied.code == "herma.rpc.name"
    for place, scope in (("/srv", Scope.ADMIN), ("", Scope.READ), (None, Scope.READ)):
        match = profile.match_call("jobs", {"cwd": place})
        assert isinstance(match, Match)
        assert match.route.scope is scope
