"""What people put into keys."""

import pytest

from herma.config.patterns import find_patterns

FOUND = {
    "word": ("zq8password8qz", "password", 6),
    "reversed word": ("zq8drowssap8qz", "drowssap", 6),
    "look-alikes": ("zq8p4ssw0rd8qz", "p4ssw0rd", 8),
    "word of the field": ("zq8hermes8qz", "hermes", 12),
    "walk": ("zq8sdfghjkl8qz", "sdfghjkl", 16),
    "sequence": ("zq8cdefghij8qz", "cdefghij", 16),
    "date": ("zq%13.05.1987%qz", "13.05.1987", 20),
    "year": ("zqx2026xqz", "2026", 8),
    "copy": ("k7#Rw9k7#Rw9", "k7#Rw9", 9),
    "reversed copy": ("k7#Rw99wR#7k", "9wR#7k", 9),
    "copy into itself": ("%%%%%%%%", "%%%%%%%", 7),
    "phrase": ("8sommer-regen-wolke8", "sommer-regen-wolke", 48),
}


@pytest.mark.parametrize(("key", "stretch", "bits"), FOUND.values(), ids=FOUND)
def test_stretch_is_recognised_at_its_price(key: str, stretch: str, bits: float) -> None:
    """Each finder marks what it knows, no dearer than an attacker finds it."""
    prices = [
        pattern.bits for pattern in find_patterns(key, 8.0) if key[pattern.start : pattern.end] == stretch
    ]
    assert prices
    assert min(prices) <= bits


def test_nothing_is_recognised_in_nothing() -> None:
    """An empty key has no patterns."""
    assert find_patterns("", 8.0) == []
