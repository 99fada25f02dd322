"""The floor for a person's password."""

import pytest

from herma.config.password_floor import password_weakness


@pytest.mark.parametrize(
    "password",
    [
        "purple lantern gravel otter",
        "wooden kettle orbit sunday",
        "kj4hT9sLw2PqZx7",
        "übergröße kaffee lampe zug",
        "mango-teapot-river-47",
        "a" * 80 + "kj4hT9sLw2PqZx7",
    ],
)
def test_what_is_long_and_unusual_is_strong(password: str) -> None:
    """Of any kind of characters."""
    assert password_weakness(password) is None


@pytest.mark.parametrize("password", ["", "kj4hT9sLw2PqZx", "Tr0ub4dor&3"])
def test_what_is_short_is_refused(password: str) -> None:
    """However unusual it is."""
    assert "expected at least 15" in str(password_weakness(password))


@pytest.mark.parametrize(
    "password",
    [
        "password1234567",
        "qwertyuiopasdfgh",
        "iloveyouiloveyou",
        "Summer2024!Summer2024!",
        "herma herma herma",
        "correct horse battery staple",
        "a1b2" * 30,
        "x" * 500,
        "2024-11-12 holiday",
    ],
)
def test_what_people_think_of_first_is_refused(password: str) -> None:
    """However long it is; it is not repeated."""
    said = password_weakness(password)
    assert said is not None
    assert "the floor is 44" in said
    assert password not in said
