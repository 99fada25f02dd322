"""Keys that documentation shows."""

import random

import pytest

from herma.config.placeholders import is_documented

DOCUMENTED = [
    "*", "**", "***", "changeme", "CHANGEME", "your_api_key", "your_api_key_here", "your-api-key", "placeholder", "example", "dummy",
    "null", "none", "sk-1234", "sk-1234567890abcdef", "change-me-local-dev", "CHANGE_ME_LOCAL_DEV", "test-key-1", "test-key-8f3a1c07e5b92d64",
    "sk-no-key-required", "your-secret-key-here", "EXAMPLE", "hermes-local-dev", "<your-api-key>", "${YOUR_API_KEY}", "replace.me.please",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "sk-your-key", "insert your key", "my-key-here", "prod-changeme-8f3a1c07", "lm-studio", "token-abc123",
    "super_secret_key", "do-not-use-8f3a1c07e5b9",
]  # fmt: skip


@pytest.mark.parametrize("key", DOCUMENTED)
def test_documented_key_is_known(key: str) -> None:
    """Case, separators and brackets do not hide it."""
    assert is_documented(key)


def test_random_key_is_not() -> None:
    """A real key is not taken for one."""
    source = random.Random(3)
    assert not any(is_documented(source.randbytes(16).hex()) for _ in range(500))
    assert not is_documented("sk-proj-" + source.randbytes(16).hex())
