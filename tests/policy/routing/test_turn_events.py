"""What a profile says of turns over a WebSocket."""

import pytest

from herma.policy.routing.turn_events import TurnEvents


def test_something_has_to_tell_of_the_end() -> None:
    """Else slots would be held for ever."""
    with pytest.raises(ValueError, match="never ends"):
        TurnEvents("/type", ("/name",), "/name", begin=frozenset({"start"}))
    assert TurnEvents("/type", ("/name",), "/name", end=frozenset({"end"})).end
    assert TurnEvents("/type", ("/name",), "/name", idle="/busy").idle
