"""A route's defaults are the strict ones."""

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
