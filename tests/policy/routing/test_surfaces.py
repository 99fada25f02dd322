"""What an operator switches on and off in a profile."""

from collections.abc import Mapping

import pytest

from herma.policy.decision import Deny
from herma.policy.grant import Scope
from herma.policy.message.target import canonical_target
from herma.policy.routing.profile import Match, Profile
from herma.policy.routing.route import Route
from herma.policy.routing.surfaces import objection, with_surfaces

PROFILE = Profile(
    name="some",
    min_version="1",
    routes=(
        Route("GET", "/files", "file.read", Scope.READ),
        Route("PUT", "/files", "file.write", Scope.ADMIN),
        Route("POST", "/sh", "shell", Scope.ADMIN),
        Route("GET", "/ws", "socket", Scope.ADMIN, closed=True),
    ),
    off=frozenset({"shell", "file.write"}),
)


def answer(surfaces: Mapping[str, Scope | None], method: str, path: str) -> str | Scope:
    """Give the scope that a route needs, or the code of its refusal."""
    target = canonical_target(path.encode())
    assert not isinstance(target, Deny)
    found = with_surfaces(PROFILE, surfaces).match(method, target)
    return found.route.scope if isinstance(found, Match) else found.code


def test_what_the_profile_switches_off_is_off_until_it_is_named() -> None:
    """Everything else is as the profile says."""
    assert answer({}, "POST", "/sh") == "herma.route.off"
    assert answer({}, "PUT", "/files") == "herma.route.off"
    assert answer({}, "GET", "/files") is Scope.READ
    assert answer({"shell": Scope.ADMIN}, "POST", "/sh") is Scope.ADMIN
    assert answer({"shell": Scope.ADMIN}, "PUT", "/files") == "herma.route.off"


def test_an_operation_can_be_switched_off_or_given_another_scope() -> None:
    """For all its routes."""
    assert answer({"file.read": None}, "GET", "/files") == "herma.route.off"
    assert answer({"file.read": Scope.RUN}, "GET", "/files") is Scope.RUN
    assert answer({"socket": None}, "GET", "/ws") == "herma.route.closed"


def test_the_refusal_names_what_to_switch_on() -> None:
    """In the words of the configuration."""
    target = canonical_target(b"/sh")
    assert not isinstance(target, Deny)
    found = with_surfaces(PROFILE, {}).match("POST", target)
    assert isinstance(found, Deny)
    assert found.status == 403
    assert "shell" in found.message
    assert "`surfaces`" in found.message


@pytest.mark.parametrize(
    ("name", "scope", "message"),
    [
        ("shel", Scope.ADMIN, "has no operation 'shel'; did you mean 'shell'?"),
        ("xyz", None, "has no operation 'xyz'; its routes stand in rules/profiles/some.yaml"),
        ("socket", Scope.ADMIN, "socket is closed in the profile some"),
        ("socket", None, ""),
        ("shell", Scope.ADMIN, ""),
        ("file.read", None, ""),
    ],
)
def test_what_cannot_be_switched_is_told(name: str, scope: Scope | None, message: str) -> None:
    """A wrong name would leave open what was meant to be off."""
    found = objection(PROFILE, name, scope)
    assert message in found
    assert bool(found) is bool(message)
