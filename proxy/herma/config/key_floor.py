"""The key floor: no weak key, and no key that everybody knows, opens the gate or is trusted to guard the upstream."""

from dataclasses import dataclass

from herma.config.entropy import estimate_bits
from herma.config.placeholders import is_documented

__all__ = ["MIN_CHARACTERS", "Weakness", "weakness"]

# The upstream's own minimum: a shorter key would be refused there.
MIN_CHARACTERS = 16

_FIX = "make a good one with `herma key new`"


@dataclass(frozen=True, slots=True)
class Weakness:
    """Why a key is refused; the message has the estimate, never the key."""

    code: str
    message: str
    bits: float


def weakness(key: str, floor_bits: float) -> Weakness | None:
    """Judge a key; None means it is strong enough."""
    if is_documented(key):
        return Weakness(
            "documented", f"found a key that documentation shows, so anybody knows it; {_FIX}", 0.0
        )
    bits = estimate_bits(key)
    if len(key) < MIN_CHARACTERS:
        message = f"found a key of {len(key)} characters, expected at least {MIN_CHARACTERS}; {_FIX}"
        return Weakness("short", message, bits)
    if bits < floor_bits:
        message = f"found a key of about {int(bits)} bits, the floor is {floor_bits:g}; {_FIX}"
        return Weakness("weak", message, bits)
    return None
