"""The ingress is tested on the loop that serves it; the wire's own tests run on both."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Name the loop the tests run on."""
    return {"uvloop": uvloop.new_event_loop}
