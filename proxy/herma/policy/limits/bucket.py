"""Token buckets: so many requests per second, with so many at once."""

from dataclasses import dataclass

from herma.policy.limits.bounded_table import BoundedTable

__all__ = ["MAX_BUCKETS", "Buckets", "Level"]

# One bucket a key or address (an IPv6 /64), about 200 bytes each: at most some 20 MB.
MAX_BUCKETS = 100_000

# Rounding in the last digits must not send away a caller who waited exactly as long as was asked.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Level:
    """How full a bucket was at a time, and how it fills."""

    tokens: float
    at: float
    rate_per_s: float
    burst: float

    @classmethod
    def full(cls, rate_per_s: float, burst: float, now: float) -> "Level":
        """Return a full bucket."""
        if not rate_per_s > 0 or not burst >= 1:
            raise ValueError("a bucket fills at a positive rate and holds at least one token")
        return cls(burst, now, rate_per_s, burst)

    def refilled(self, now: float) -> "Level":
        """Return the bucket as it is `now`; a clock that goes backwards adds nothing."""
        tokens = min(self.burst, self.tokens + max(0.0, now - self.at) * self.rate_per_s)
        return Level(tokens, max(now, self.at), self.rate_per_s, self.burst)

    def taken(self) -> "Level":
        """Return the bucket with one token less, never less than none."""
        return Level(max(0.0, self.tokens - 1.0), self.at, self.rate_per_s, self.burst)

    @property
    def wait_s(self) -> float:
        """Seconds until a token is there; 0 when one is."""
        missing = 1.0 - self.tokens
        return missing / self.rate_per_s if missing > _ROUNDING else 0.0


class Buckets:
    """Buckets by name; when the table is full, callers without a bucket of their own share one."""

    def __init__(self, limit: int = MAX_BUCKETS) -> None:
        self._levels: BoundedTable[Level] = BoundedTable(limit, _is_full)

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, name: str, rate_per_s: float, burst: float, now: float) -> float:
        """Take a token and return 0, or take none and return the seconds until one is there.

        Rate and burst may change between calls: the tokens that are there stay, up to the new burst.
        """
        fresh = Level.full(rate_per_s, burst, now)
        known = self._levels.get(name, now)
        if known is None:
            level = fresh
        else:
            old = known.refilled(now)
            level = Level(min(burst, old.tokens), old.at, rate_per_s, burst)
        wait_s = level.wait_s
        self._levels.put(name, level if wait_s else level.taken(), now)
        return wait_s


def _is_full(level: Level, now: float) -> bool:
    return level.refilled(now).tokens >= level.burst
