"""Which loop runs."""

import asyncio
import sys

import pytest
import uvloop

from herma.wire.loop import loop_factory, run


async def which() -> str:
    return type(asyncio.get_running_loop()).__module__


def test_uvloop_runs_where_it_can_be_had() -> None:
    """It is three quarters of the speed."""
    assert loop_factory() is uvloop.new_event_loop
    assert run(which()).startswith("uvloop")


def test_asyncio_runs_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without uvloop everything still works."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert loop_factory() is asyncio.new_event_loop
    assert run(which()).startswith("asyncio")
