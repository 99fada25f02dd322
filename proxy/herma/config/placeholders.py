"""Keys that stand in documentation, examples and templates: everybody knows them.

Compared without case, and with `_`, `.` and blanks read as `-`. No secret of ours; a key is refused however long it is.
"""

import re

__all__ = ["is_documented"]

_EXACT = frozenset(
    """
    * ** *** changeme change-me change-me-local-dev change-this changeit replace-me replaceme your-api-key your-api-key-here
    your-key your-key-here your-secret-key your-secret-key-here your-secret your-token your-token-here yourkey placeholder
    example example-key dummy dummy-key fake-key null none nil undefined empty todo fixme xxx test testing test-key secret
    secret-key my-secret-key mysecretkey my-api-key api-key apikey token password default admin hermes hermes-local-dev
    hermes-api-key hermes-secret herma-local-dev herma-dev-key local-dev local-dev-key dev dev-key dev-secret
    sk-no-key-required no-key-required sk-none sk-test sk-dummy sk-fake sk-placeholder sk-example sk-xxx sk-your-key
    sk-your-api-key sk-key sk-local not-needed not-used unused lm-studio ollama vllm token-abc123 super-secret-key
    super-secret-token insecure anything
    """.split()  # noqa: SIM905 - a list of words is easier to read and to extend than quoted strings
)
# Whoever fills in a template leaves its beginning.
_PREFIXES = (
    "sk-1234", "sk-xxxx", "sk-test-key", "sk-your", "test-key-", "test-api-key", "test-token-", "change-me", "changeme", "changethis",
    "change-this", "replace-me", "replace-with", "replace-this", "your-api-key", "your-secret", "your-key", "your-token",
    "yourapikey", "insert-", "enter-your", "put-your", "paste-your", "placeholder", "example-", "dummy-", "fake-",
    "do-not-use", "hermes-local-dev", "herma-local-dev", "not-a-real", "xxxxxxxx",
)  # fmt: skip
_INSIDE = (
    "changeme",
    "change-me",
    "your-api-key",
    "placeholder",
    "do-not-use",
    "not-a-secret",
    "example-key",
    "key-here",
    "not-a-real",
)
_SUFFIXES = ("-here", "-example", "-changeme", "-placeholder", "-local-dev")

_SEPARATORS = re.compile(r"[_.\s-]+")
_WRAPPING = "<>{}[]()$'\"`"


def is_documented(key: str) -> bool:
    """Tell whether the key is, begins or ends like one that documentation shows."""
    plain = _SEPARATORS.sub("-", key.strip().strip(_WRAPPING).lower())
    return (
        plain in _EXACT
        or plain.startswith(_PREFIXES)
        or plain.endswith(_SUFFIXES)
        or any(part in plain for part in _INSIDE)
    )
