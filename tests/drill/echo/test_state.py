"""What the echo agent remembers."""

import pytest

from herma.drill.echo.state import MAX_KEPT, EchoState, keep
from herma.policy.secret import Secret


def test_the_oldest_thing_is_forgotten_first() -> None:
    """Memory does not grow without end."""
    kept: dict[str, int] = {}
    for number in range(MAX_KEPT + 1):
        keep(kept, str(number), number)
    assert len(kept) == MAX_KEPT
    assert "0" not in kept
    assert str(MAX_KEPT) in kept


def test_ids_are_the_same_in_every_run() -> None:
    """Two agents give the same ids in the same order, none of them twice."""
    one, two = (EchoState(Secret(b"fake"), lambda: 0.0, 0.0) for _ in range(2))
    ids = [one.new_id(32) for _ in range(10)]
    assert ids == [two.new_id(32) for _ in range(10)]
    assert len(set(ids)) == 10


def test_an_empty_key_is_refused() -> None:
    """Without a key the agent would answer everybody."""
    with pytest.raises(ValueError, match="without a key"):
        EchoState(Secret(b""), lambda: 0.0, 0.0)
