"""A route's defaults are the strict ones."""

import pytest

from herma.policy.grant import Scope
from herma.policy.routing.route import Auth, Envelope, Route, Stream, Turn


def test_route_is_neither_public_nor_closed_unless_it_says_so() -> None:
    """A route with nothing but the necessary needs a key, starts no turn, streams nothing."""
    route = Route("GET", "/a", "a", Scope.READ)
    assert not route.public
    assert not route.closed
    assert route.shut is None
    assert (route.auth, route.turn, route.stream) == (Auth.KEY, Turn.NONE, Stream.NEVER)
    assert route.envelope is Envelope.OPENAI


@pytest.mark.parametrize(
    ("method", "operation", "scope", "shows"),
    [
        ("GET", "read", Scope.READ, True),
        ("GET", "status", Scope.STATUS, True),
        ("GET", "session.list", Scope.READ, True),
        ("GET", "page", Scope.READ, True),
        ("GET", "page.file", Scope.READ, True),
        ("GET", "fetch", Scope.READ, False),
        ("GET", "plugin.write", Scope.READ, False),
        ("GET", "file.read", Scope.ADMIN, False),
        ("GET", "unknown", Scope.READ, False),
        ("POST", "read", Scope.READ, False),
    ],
)
def test_what_shows_something_does_nothing(method: str, operation: str, scope: Scope, shows: bool) -> None:
    """By its name and by what it needs; a scope that was lowered makes no reading of a deed."""
    assert Route(method, "/a", operation, scope).shows is shows
