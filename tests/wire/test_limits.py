"""The defaults are bounds, each of them."""

from dataclasses import fields

import pytest

from herma.wire import PoolLimits, ServerLimits


@pytest.mark.parametrize("limits", [ServerLimits(), PoolLimits()], ids=["server", "pool"])
def test_every_default_is_a_bound(limits: ServerLimits | PoolLimits) -> None:
    """Nothing is unlimited unless somebody says so."""
    assert all(getattr(limits, field.name) > 0 for field in fields(limits))


def test_we_close_idle_connections_before_any_usual_upstream_does() -> None:
    """Uvicorn closes after five seconds, aiohttp after 75."""
    assert PoolLimits().keepalive_s < 5
