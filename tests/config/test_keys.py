"""Keys, judged one by one and together."""

import hashlib

import pytest

from support.config_text import FAKE_KEY, codes, parsed, problems

SALT = bytes(16)
HASH = f"sha256:{SALT.hex()}:{hashlib.sha256(SALT + FAKE_KEY.encode()).hexdigest()}"


def keys(*entries: str, floor: int = 64) -> str:
    listed = ", ".join("{" + entry + ", scopes: [run]}" for entry in entries)
    return f"auth: {{min_entropy_bits: {floor}, keys: [{listed}]}}\n"


REFUSED = {
    "weak": (keys("name: a, key: aaaaaaaaaaaaaaaa"), ["auth.key.weak"]),
    "short": (keys("name: a, key: 8f3a1c07"), ["auth.key.short"]),
    "documented": (keys("name: a, key: change-me-local-dev"), ["auth.key.documented"]),
    "no bearer token": (keys("name: a, key: '8f3a1c07e5b92d64$%'"), ["auth.key.syntax"]),
    "below a raised floor": (keys("name: a, key: 8f3a1c07e5b92d64", floor=65), ["auth.key.weak"]),
    "same name": (
        keys("name: a, key: '${FAKE_KEY}'", "name: A, key: '${OTHER_FAKE_KEY}'"),
        ["auth.key.name"],
    ),
    "same key": (keys("name: a, key: '${FAKE_KEY}'", "name: b, key: '${FAKE_KEY}'"), ["auth.key.twice"]),
    "same key as a hash": (
        keys("name: a, key: '${FAKE_KEY}'", f"name: b, hash: '{HASH}'"),
        ["auth.key.twice"],
    ),
    "same key after a hash": (
        keys(f"name: a, hash: '{HASH}'", "name: b, key: '${FAKE_KEY}'"),
        ["auth.key.twice"],
    ),
    "same hash": (keys(f"name: a, hash: '{HASH}'", f"name: b, hash: '{HASH}'"), ["auth.key.twice"]),
    "both": (
        keys("name: a, key: '${FAKE_KEY}'", "name: a, key: '${FAKE_KEY}'"),
        ["auth.key.name", "auth.key.twice"],
    ),
    "delays the wrong way round": (
        "auth: {failures: {base_delay_s: 10, max_delay_s: 5}, keys: [{name: a, key: '${FAKE_KEY}', scopes: [run]}]}\n",
        ["auth.failures"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_bad_keys_are_refused(text: str, expected: list[str]) -> None:
    """A weak, known, unusable or repeated key stops the start."""
    assert codes(text, keys=False) == expected


def test_message_has_estimate_floor_and_command() -> None:
    """A person sees how weak the key is, and what to do."""
    (found,) = problems(keys("name: a, key: aaaaaaaaaaaaaaaa"), keys=False)
    assert "about 6 bits, the floor is 64; make a good one with `herma key new`" in found
    assert "aaaa" not in found


@pytest.mark.parametrize("key", ["aaaaaaaaaaaaaaaa", "your_api_key_here", "short"])
def test_floor_holds_for_the_upstream_too(key: str) -> None:
    """A weak key in front of the agent server is told as loudly as one in front of the gate."""
    (found,) = codes(f"upstream: {{url: 'http://127.0.0.1:8642', key: {key}}}\n", upstream=False)
    assert found.startswith("upstream.key.")


def test_raised_floor_holds_for_the_upstream_too() -> None:
    """One floor for all keys."""
    text = "upstream: {url: 'http://127.0.0.1:8642', key: 8f3a1c07e5b92d64}\n" + keys(
        "name: a, key: '${FAKE_KEY}'", floor=100
    )
    assert codes(text, upstream=False, keys=False) == ["upstream.key.weak"]


def test_hash_and_key_of_different_people_pass() -> None:
    """A hash is as good as a key."""
    settings = parsed(keys(f"name: a, hash: '{HASH}'", "name: b, key: '${OTHER_FAKE_KEY}'"), keys=False)
    assert [key.name for key in settings.auth.keys] == ["a", "b"]


def test_expired_key_is_warned_about() -> None:
    """It opens nothing, and should not stay."""
    expired = parsed(keys("name: a, key: '${FAKE_KEY}', expires: 2026-01-01T00:00:00Z"), keys=False)
    assert [warning.code for warning in expired.warnings] == ["auth.expired"]
    valid = parsed(keys("name: a, key: '${FAKE_KEY}', expires: 2027-01-01T00:00:00Z"), keys=False)
    assert valid.warnings == ()


def test_no_key_shows_in_any_form_of_the_settings() -> None:
    """Debug prints and messages are safe to paste."""
    settings = parsed(
        keys("name: a, key: '${FAKE_KEY}'", f"name: b, hash: '{HASH.replace('0', '1')}'"), keys=False
    )
    assert FAKE_KEY not in repr(settings)
    assert HASH[-20:].replace("0", "1") not in repr(settings)
