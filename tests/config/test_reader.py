"""Settings from YAML."""

import pytest

from herma.policy.decision import Mode
from herma.policy.grant import Scope
from support.config_text import codes, parsed, problems

KEY = "auth: {keys: [{name: a, key: '${FAKE_KEY}', scopes: [run]"

REFUSED = {
    "root is a list": ("- a\n", "config.type: found a list, expected keys and values"),
    "section is text": ("limits: a\n", "config.type: found text, expected keys and values"),
    "section is empty": ("limits:\n", "config.type: found nothing, expected keys and values"),
    "list is text": ("trusted_proxies: 10.0.0.1\n", "config.type: found text, expected a list"),
    "mapping is a list": ("checks: []\n", "config.type: found a list, expected keys and values"),
    "text is a number": (
        "listen: [{address: 80}]\n",
        "config.type: found a number, expected host:port or unix:/path",
    ),
    "number is text": ("workers: two\n", "config.type: found text, expected a whole number"),
    "number is a fraction": ("workers: 1.5\n", "config.type: found a number, expected a whole number"),
    "number is true": ("workers: true\n", "config.type: found true or false, expected a whole number"),
    "seconds are text": ("drain_timeout_s: 30s\n", "config.type: found text, expected a number"),
    "truth is yes": ("strict: yes\n", "config.type: found text, expected true or false"),
    "truth is a number": ("strict: 1\n", "config.type: found a number, expected true or false"),
    "too small": ("workers: 0\n", "config.range: found 0, expected 1 to 128"),
    "too large": ("drain_timeout_s: 86401\n", "config.range: found 86401, expected 0 to 86400"),
    "floor lowered": ("auth: {min_entropy_bits: 63}\n", "config.range: found 63, expected 64 to 192"),
    "unknown key": ("limts: {}\n", "config.unknown: unknown key 'limts'; did you mean 'limits'?"),
    "unknown key below": (
        "limits: {rates: {per_key: {per_s: 1, burst: 1, x: 1}}}\n",
        "config.unknown: unknown key 'x'; known here: per_s, burst",
    ),
    "derived key": (
        "listen: [{address: 'localhost:80', public: false}]\n",
        "config.unknown: unknown key 'public'; did you mean 'public_names'?",
    ),
    "missing key": ("listen: [{}]\n", "config.missing: the key 'address' is missing; add it"),
    "empty list": ("listen: []\n", "config.items: found 0 items"),
    "too many items": (
        f"cors: {{origins: [{', '.join(['https://a'] * 1001)}]}}\n",
        "config.items: found 1001 items",
    ),
    "unknown mode": (
        "checks: {cron: {mode: monitr}}\n",
        "config.value: expected one of enforce, monitor, off; did you mean 'monitor'?",
    ),
    "mode that is not allowed here": (
        "redaction: {mode: off}\n",
        "config.value: expected one of enforce, monitor",
    ),
    "mode is true": (
        "redaction: {mode: true}\n",
        "config.type: found true or false, expected one of enforce, monitor",
    ),
    "unknown scope": (
        "auth: {keys: [{name: a, key: '${FAKE_KEY}', scopes: [everything]}]}\n",
        "config.value: expected one of status, read",
    ),
    "no scopes": (
        "auth: {keys: [{name: a, key: '${FAKE_KEY}', scopes: []}]}\n",
        "config.items: found 0 items",
    ),
    "scopes missing": (
        "auth: {keys: [{name: a, key: '${FAKE_KEY}'}]}\n",
        "config.missing: the key 'scopes' is missing",
    ),
    "key missing": (
        "auth: {keys: [{name: a, scopes: [run]}]}\n",
        "config.missing: a key is missing; add key or key_file or hash",
    ),
    "key given twice": (
        "auth: {keys: [{name: a, key: '${FAKE_KEY}', key_file: x, scopes: [run]}]}\n",
        "config.secret.several: found key and key_file; keep one",
    ),
    "key is a number": (
        "auth: {keys: [{name: a, key: 1234567890123456, scopes: [run]}]}\n",
        "config.type: found a number, expected text; put it in quotes",
    ),
    "hash is none": (
        "auth: {keys: [{name: a, hash: fake, scopes: [run]}]}\n",
        "config.secret.hash: expected sha256:",
    ),
    "key file is missing": (
        "auth: {keys: [{name: a, key_file: missing, scopes: [run]}]}\n",
        "config.secret.file: the file cannot be read",
    ),
    "variable is empty": (
        "auth: {keys: [{name: a, key: '${EMPTY}', scopes: [run]}]}\n",
        "config.secret.unset: the environment variable EMPTY",
    ),
    "item is wrong": ("trusted_proxies: [10.0.0.1, x]\n", "config.value: expected a network"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_wrong_value_is_told_with_what_was_expected(text: str, expected: str) -> None:
    """Found, expected and fix stand in one line."""
    found = problems(text, keys=not text.startswith("auth"), upstream=not text.startswith("- "))
    if text.startswith("- "):
        found = problems(text, keys=False, upstream=False)
    assert any(expected in problem for problem in found), found


def test_all_problems_come_at_once_with_their_places() -> None:
    """A person mends the file in one go, from top to bottom."""
    found = problems("workers: 0\nstrict: maybe\nlimits:\n  max_headers: 1\n  nonsense: 1\n")
    assert [problem.rpartition(": ")[0].split(": ")[0] for problem in found] == [
        "herma.yaml:1:10",
        "herma.yaml:2:9",
        "herma.yaml:4:16",
        "herma.yaml:5:3",
    ]


def test_missing_upstream_is_told_beside_other_problems() -> None:
    """A missing section hides nothing, not even a broken start-up law."""
    found = codes("listen: [{address: '0.0.0.0:80'}]\nworkers: 0\n", upstream=False, keys=False)
    assert found == ["config.missing", "listen.unauthenticated", "config.range"]


def test_values_become_what_the_fields_say() -> None:
    """Lists are tuples, scopes a set, whole seconds fractions, modes members of their enum."""
    settings = parsed(
        "drain_timeout_s: 5\nchecks: {cron: {mode: off}}\ncors: {origins: ['https://a', 'https://b:1']}\n"
        "surfaces: {shell: {scope: off}, file.read: {scope: run}}\n"
        "auth: {keys: [{name: a, key: '${FAKE_KEY}', scopes: [run, read, run], networks: [10.0.0.0/8]}]}\n",
        keys=False,
    )
    assert settings.drain_timeout_s == 5.0
    assert isinstance(settings.drain_timeout_s, float)
    assert settings.modes() == {"cron": Mode.OFF}
    assert {name: it.scope.scope for name, it in settings.surfaces.items()} == {
        "shell": None,
        "file.read": Scope.RUN,
    }
    assert settings.cors.origins == ("https://a", "https://b:1")
    assert settings.auth.keys[0].scopes == frozenset({Scope.RUN, Scope.READ})


def test_unknown_key_that_disturbs_a_terminal_is_escaped() -> None:
    """No byte of the file that a terminal obeys reaches the screen."""
    (found,) = problems('"\\e[31m' + "x" * 200 + '": 1\n')
    assert "\x1b" not in found
    assert "x" * 50 not in found
