"""The key floor."""

import pytest

from herma.config.key_floor import weakness

STRONG = "8f3a1c07e5b92d64"

REFUSED = {
    "documented": ("test-key-8f3a1c07e5b92d64", 64, "documented"),
    "documented and short": ("changeme", 64, "documented"),
    "short": ("8f3a1c07e5b92d6", 1, "short"),
    "weak": ("aaaaaaaaaaaaaaaa", 64, "weak"),
    "one bit below a raised floor": (STRONG, 65, "weak"),
    "empty": ("", 64, "short"),
}


@pytest.mark.parametrize(("key", "floor", "code"), REFUSED.values(), ids=REFUSED)
def test_weak_key_is_refused(key: str, floor: float, code: str) -> None:
    """The message has the command that makes a good key, and never the key."""
    found = weakness(key, floor)
    assert found is not None
    assert found.code == code
    assert "`herma key new`" in found.message
    assert not key or key not in found.message


def test_weakness_tells_estimate_and_floor() -> None:
    """A person sees how far the key is from the floor."""
    found = weakness("aaaaaaaaaaaaaaaa", 64)
    assert found is not None
    assert "about 6 bits, the floor is 64" in found.message


def test_key_on_the_floor_passes() -> None:
    """Sixteen hex digits have exactly 64 bits."""
    assert weakness(STRONG, 64) is None
