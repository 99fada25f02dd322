"""User info in URLs."""

import pytest

from support.redactor import masked

S = "F4keK3yF0rT3stF4keK3y"
MASKED = {
    "postgres://app:F4ke_68@db:5432/x": "postgres://app:[",
    "redis://:F4ke!292@cache:6379/0": "redis://:[",
    "postgresql+asyncpg://u:F4k3.%yY%@db/x": "postgresql+asyncpg://u:[",
    f"https://{S}@h/r.git": "https://[",
    f"https://{S}:x-oauth-basic@h/r.git": "https://[",
    "http://admin:123456@h/": "http://admin:[",
    "https://f4ke0f4ke0f4ke0f4ke0f4ke0f4ke012:F4ke5ecret9@sentry.h/1": "https://f4ke0f4ke0f4ke0f4ke0f4ke0f4ke012:[",
    f"https://{S}:x@h/v1": "https://[",
}
KEPT = [
    "https://user@example.com/path",
    "https://4ca0e5f7b2d14c09a3e85d6f1b7092ce@o42.ingest.us.sentry.io/4500001",
    "https://4ca0e5f7b2d14c09a3e85d6f1b7092ce@sentry.example.org/7",
    "postgres://user:password@localhost:5432/db",
    "https://h/a:b@c",
    "://x:y@z",
    "http://u:$PASS@h/",
    "http://u:***@h/",
    "https://[url_user_info:01234567]@h/",
    "http://u:<password>@h/",
    "ssh://git@h/x",
    "a ://u:F4ke1@h",
]


@pytest.mark.parametrize(("text", "start"), MASKED.items())
def test_a_password_or_token_in_a_url_is_masked(text: str, start: str) -> None:
    """Scheme, user and host stay."""
    out = masked(text)
    assert out.startswith(start)
    assert out.rpartition("@")[2] == text.rpartition("@")[2]


@pytest.mark.parametrize("text", KEPT)
def test_a_url_without_a_credential_stays(text: str) -> None:
    """Users, references and example passwords stay."""
    assert masked(text) == text
