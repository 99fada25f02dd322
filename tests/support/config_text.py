"""Configurations written out for tests, and the problems that they give."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from herma.config.load import parse
from herma.config.settings import Settings
from herma.errors import ConfigError

__all__ = ["FAKE_KEY", "OTHER_FAKE_KEY", "codes", "parsed", "problems", "resolver"]

NOW = datetime(2026, 6, 1, tzinfo=UTC)
# Random looking, and nobody's.
FAKE_KEY = "fake0vLm3RtYw7Zs9PbNc2Qx5"
OTHER_FAKE_KEY = "fakeJ8hTr2Wd6Kp4Vn1Gz7Mb"
ENVIRON = {"FAKE_KEY": FAKE_KEY, "OTHER_FAKE_KEY": OTHER_FAKE_KEY, "EMPTY": ""}
UPSTREAM = "upstream: {url: 'http://127.0.0.1:8642', key: '${OTHER_FAKE_KEY}'}\n"
KEYS = "auth: {keys: [{name: laptop, key: '${FAKE_KEY}', scopes: [run]}]}\n"
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "loop.example.com": ["127.0.0.2"],
    "agent.example.com": ["192.0.2.7"],
    "mixed.example.com": ["127.0.0.1", "192.0.2.7"],
    "mapped.example.com": ["::ffff:127.0.0.1"],
    "scoped.example.com": ["fe80::1%eth0"],
    "nothing.example.com": [],
}


def resolver(host: str) -> Sequence[str]:
    """Resolve the names of the table; no other name exists."""
    if host not in NAMES:
        raise OSError("no such name")
    return NAMES[host]


def parsed(
    text: str,
    *,
    environ: Mapping[str, str] = ENVIRON,
    file: str = "herma.yaml",
    upstream: bool = True,
    keys: bool = True,
    exposed: bool = False,
) -> Settings:
    """Parse a configuration; the upstream and a key are added behind it unless the text has its own."""
    whole = text + (UPSTREAM if upstream else "") + (KEYS if keys else "")
    ids = frozenset({"cron", "mcp"})
    return parse(whole.encode(), file, environ, resolver=resolver, now=NOW, exposed=exposed, check_ids=ids)


def problems(text: str, **rest: object) -> list[str]:
    """Return the problems of a configuration, as they are printed."""
    try:
        parsed(text, **rest)  # type: ignore[arg-type] - handed through as they came
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


def codes(text: str, **rest: object) -> list[str]:
    """Return the codes of the problems of a configuration."""
    return [problem.split(": ")[1] for problem in problems(text, **rest)]
