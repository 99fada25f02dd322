"""Credentials of vendors without a prefix: made-up names and values in the forms of code, configuration and prose.

What is drawn is seeded: names, words, casing, form and shape of the value are combined at random, and the twin with a name of
something else (`id`, `digest`, `etag`) must stay.
"""

import random
import string
import uuid
from collections.abc import Callable

import pytest

from support.redactor import masked

SAMPLES = 1500
GONE_FLOOR = 0.97
TWINS_CHANGED_CEILING = 0.005

VENDORS = (
    "amplitude",
    "bitly",
    "codecov",
    "finnhub",
    "intercom",
    "kraken",
    "looker",
    "opsgenie",
    "rollbar",
    "zendesk",
)
SECRETS = (
    "api_key", "apikey", "token", "secret", "access_token", "client_secret", "private_key", "key", "password", "pass", "pwd",
    "webhook_secret", "license_key", "pat", "auth_key", "consumer_secret", "write_key", "credential", "auth", "session_token",
)  # fmt: skip
OTHERS = (
    "id", "sha", "digest", "etag", "commit", "checksum", "integrity", "fingerprint", "public_key", "uuid", "hash", "request_id",
    "cache_key", "idempotency_key", "primary_key", "token_count", "secret_name", "password_file", "key_version",
)  # fmt: skip
FORMS: dict[str, str] = {
    "assignment": '{n} = "{s}"',
    "shell": "export {n}={s}",
    "yaml": "  {n}: {s}",
    "json": '{{"{n}": "{s}", "n": 1}}',
    "escaped json": '"{{\\"{n}\\": \\"{s}\\"}}"',
    "go": '{n} := "{s}"',
    "ruby": ":{n} => '{s}'",
    "make": '{n} ?= "{s}"',
    "java": 'private static final String {n} = "{s}";',
    "php": "define('{n}', '{s}');",
    "c": '#define {n} "{s}"',
    "element": "<{n}>{s}</{n}>",
    "attribute": '<service {n}="{s}"/>',
    "pair": '<add key="{n}" value="{s}" />',
    "property list": "<key>{n}</key>\n<string>{s}</string>",
    "call": 'System.setProperty("{n}", "{s}");',
    "setter": 'client.set_{n}("{s}")',
    "default": 'config.get("{n}", default="{s}")',
    "alternative": "process.env.{n} || '{s}'",
    "flag": "tool --{n} {s}",
    "system property": "java -D{n}={s} -jar app.jar",
    "header": 'curl -H "X-{n}: {s}" https://api.h/v1',
    "query": "GET /v1/items?limit=5&{n}={s} HTTP/1.1",
    "comment": "# {n}: {s}",
    "sentence": "The {n} is {s}",
    "list": '- name: {n}\n  value: "{s}"',
    "cell": "{n},{s}",
    "row": "| {n} | `{s}` |",
    "arrow": "{n} -> {s}",
    "erlang": '{{{n}, <<"{s}">>}},',
    "connection string": "endpoint=https://h;{n}={s};ttl=5",
}
CASES: dict[str, Callable[[list[str]], str]] = {
    "snake": "_".join,
    "upper": lambda words: "_".join(words).upper(),
    "kebab": "-".join,
    "camel": lambda words: words[0] + "".join(word.capitalize() for word in words[1:]),
    "flat": "".join,
}
SHAPES: dict[str, tuple[str, int]] = {
    "hexadecimal": ("0123456789abcdef", 32),
    "long hexadecimal": ("0123456789abcdef", 64),
    "letters and digits": (string.ascii_letters + string.digits, 24),
    "small letters and digits": (string.ascii_lowercase + string.digits, 32),
    "base64": (string.ascii_letters + string.digits + "+/", 43),
}


def drawn(seed: int, words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Draw texts and the values in them."""
    source = random.Random(seed)
    texts = []
    for _ in range(SAMPLES):
        name = CASES[source.choice(list(CASES))]([source.choice(VENDORS), *source.choice(words).split("_")])
        letters, length = SHAPES[source.choice(list(SHAPES))]
        value = "".join(source.choice(letters) for _ in range(length))
        if source.random() < 0.15:
            value = str(uuid.UUID(int=source.getrandbits(128), version=4))
        texts.append((FORMS[source.choice(list(FORMS))].format(n=name, s=value), value))
    return texts


@pytest.fixture(scope="module")
def secrets() -> list[tuple[str, str]]:
    return drawn(1, SECRETS)


def test_a_value_beside_a_vendor_and_a_word_for_a_secret_goes(secrets: list[tuple[str, str]]) -> None:
    """However the name is written and joined to the value."""
    left = [text for text, value in secrets if value in masked(text)]
    assert len(left) <= (1 - GONE_FLOOR) * SAMPLES, left[:10]


def test_the_same_beside_a_name_of_something_else_stays() -> None:
    """Digests, identifiers and public keys look the same; only the name tells."""
    changed = [text for text, _ in drawn(2, OTHERS) if masked(text) != text]
    assert len(changed) <= TWINS_CHANGED_CEILING * SAMPLES, changed[:10]


def test_masking_twice_is_masking_once(secrets: list[tuple[str, str]]) -> None:
    """A mask is never taken for a secret."""
    once = [masked(text) for text, _ in secrets[:400]]
    assert [masked(text) for text in once] == once


def test_masked_pieces_put_together_hold_no_secret(secrets: list[tuple[str, str]]) -> None:
    """Half a text, masked, and the other half, masked, give nothing back that both hide."""
    for (first, one), (second, other) in zip(secrets[:200:2], secrets[1:200:2], strict=True):
        joined = masked(masked(first) + "\n" + masked(second))
        assert (one in joined) <= (one in masked(first))
        assert (other in joined) <= (other in masked(second))
