"""What remembers used tokens, as the configuration has it."""

import asyncio
from pathlib import Path

import pytest

from herma.errors import ConfigError
from herma.runtime import state
from herma.runtime.state import try_state, used_tokens
from herma.store import MemorySpent
from herma.store.spent_file import SpentFile
from herma.store.spent_redis import SpentRedis
from support.config_text import parsed
from support.inside import Lines


def settings(text: str = "", directory: Path = Path()):
    return parsed(text, file=str(directory / "herma.yaml"))


async def test_memory_by_default() -> None:
    """Of this process."""
    async with used_tokens(settings(), Lines()) as spent:
        assert isinstance(spent, MemorySpent)


def test_a_file_is_looked_at_before_anything_is_opened(tmp_path: Path) -> None:
    """It is made where there is none, and refused where it is something else."""
    text = "state: {file: used.db}\n"
    try_state(settings(text, tmp_path))
    file = tmp_path / "used.db"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 0600"):
        try_state(settings(text, tmp_path))


async def test_a_file_is_open_while_the_gate_runs(tmp_path: Path) -> None:
    """And closed after it."""
    async with used_tokens(settings("state: {file: used.db}\n", tmp_path), Lines()) as spent:
        assert isinstance(spent, SpentFile)
    assert [one.name for one in tmp_path.iterdir()] == ["used.db"]


async def test_a_server_that_is_not_there_is_told_and_waited_for() -> None:
    """The gate serves everything else meanwhile."""
    log = Lines()
    async with (
        used_tokens(settings("state: {redis: {address: '127.0.0.1:1'}}\n"), log) as spent,
        asyncio.timeout(20),
    ):
        assert isinstance(spent, SpentRedis)
        while "state.redis" not in log.events():
            await asyncio.sleep(0.01)


def test_what_asks_a_server_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the start says what to install."""
    monkeypatch.setattr(state.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"herma\[redis\]"):
        try_state(settings("state: {redis: {address: '127.0.0.1:1'}}\n"))
