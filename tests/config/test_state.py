"""Where state is kept, in the configuration."""

from pathlib import Path

import pytest

from herma.config.values import Tcp, Unix
from support.config_text import parsed, problems


def test_state_is_kept_in_memory_by_default() -> None:
    """Neither file nor server."""
    made = parsed("").state
    assert (made.file, made.redis) == (None, None)


def test_a_file_starts_where_the_configuration_is(tmp_path: Path) -> None:
    """And its directory has to be there."""
    config = str(tmp_path / "herma.yaml")
    assert parsed("state: {file: used.db}\n", file=config).state.file == str(tmp_path / "used.db")
    assert "a directory that exists" in problems("state: {file: 'no/used.db'}\n", file=config)[0]


def test_a_server() -> None:
    """On this machine nothing more is needed."""
    made = parsed("state: {redis: {address: '127.0.0.1:6379'}}\n").state.redis
    assert made is not None
    assert (made.address, made.database, made.prefix, made.tls) == (Tcp("127.0.0.1", 6379), 0, "herma", False)
    unix = parsed("state: {redis: {address: 'unix:/run/redis.sock', database: 3}}\n")
    assert unix.state.redis is not None
    assert unix.state.redis.address == Unix("/run/redis.sock")
    assert not [one for one in unix.warnings if one.code.startswith("state.")]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", {"state.redis.cleartext", "state.redis.open"}),
        (", tls: true", {"state.redis.open"}),
        (", tls: true, password: '${FAKE_KEY}'", set()),
    ],
)
def test_a_server_elsewhere(more: str, expected: set[str]) -> None:
    """What would cross the network in clear, or is open to everybody there, is told."""
    settings = parsed(f"state: {{redis: {{address: 'agent.example.com:6379'{more}}}}}\n")
    assert {one.code for one in settings.warnings if one.code.startswith("state.")} == expected
    assert "fake0vL" not in repr(settings.state)


def test_state_is_kept_in_one_place(tmp_path: Path) -> None:
    """And authorities are for TLS."""
    text = "state: {file: used.db, redis: {address: '127.0.0.1:6379', ca_file: ca.pem}}\n"
    said = "\n".join(problems(text, file=str(tmp_path / "herma.yaml")))
    assert "keep one" in said
    assert "set tls: true" in said
    assert "no certificate" in said
    assert "take it out" in problems("state: {redis: {address: 'unix:/run/redis.sock', tls: true}}\n")[0]
