"""The keys that open the console."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

from herma.identity import KeyRecord, Keyring
from herma.policy.grant import Scope
from herma.policy.limits.throttle import ThrottleLimits
from herma.policy.secret import Secret
from herma.runtime.admin_keys import AdminKeys
from herma.store import MemoryStore
from support.shared_state import Clock

NOW = datetime(2026, 12, 2, tzinfo=UTC)
ADMIN, RUNNER, ENDED, AWAY = (Secret(f"fake-key-of-a-test-{name}".encode()) for name in "abcd")


def keys(store: MemoryStore) -> AdminKeys:
    admin = frozenset({Scope.ADMIN})
    ring = Keyring(
        [
            KeyRecord("laptop", admin, ADMIN),
            KeyRecord("runner", frozenset(Scope) - admin, RUNNER),
            KeyRecord("ended", admin, ENDED, expires=NOW - timedelta(days=1)),
            KeyRecord("away", admin, AWAY, networks=(ip_network("192.0.2.0/24"),)),
        ]
    )
    return AdminKeys(lambda: ring, store, lambda: NOW)


def test_only_a_key_that_holds_and_administers_is_one() -> None:
    """Not another scope, not one that ended, not one from elsewhere, and nothing else."""
    found = keys(MemoryStore(Clock()))
    assert found.admin(ADMIN, "127.0.0.1") == "laptop"
    assert found.admin(AWAY, "192.0.2.7") == "away"
    for key, address in ((RUNNER, "127.0.0.1"), (ENDED, "127.0.0.1"), (AWAY, "127.0.0.1"), (AWAY, "")):
        assert found.admin(key, address) == ""
    assert found.admin(Secret(b"nobody's"), "127.0.0.1") == ""


async def test_wrong_keys_cost_a_wait_of_a_minute_at_most() -> None:
    """A neighbour who guesses cannot lock out for long who holds a key; callers of the gate are not touched."""
    clock = Clock()
    store = MemoryStore(clock, ThrottleLimits(free_attempts=2, max_delay_s=900))
    found = keys(store)
    for _ in range(2):
        await found.failed()
        assert await found.wait_s() == 0
    for _ in range(30):
        await found.failed()
    assert 30 < await found.wait_s() <= 60
    assert await store.blocked(("address:127.0.0.1", "all")) == 0
    clock.now += 61
    assert await found.wait_s() == 0
