"""Every test here runs on uvloop, which serves, and on asyncio's own loop, which must be able to."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Name the loops a test is run on."""
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
