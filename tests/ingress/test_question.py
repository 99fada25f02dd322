"""Questions of the gate's own."""

import pytest

from herma.ingress import question
from herma.wire import UpstreamError
from support.inprocess import UPSTREAM_KEY, gated


async def test_it_is_asked_with_the_upstreams_key() -> None:
    """And read up to its bound."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", {"data": []})
        generation = gate.plane.generation
        assert await question(generation, b"/v1/models", max_bytes=1024, timeout_s=5) == (
            200,
            b'{"data": []}',
        )
        assert gate.agent.calls[0].get("authorization") == f"Bearer {UPSTREAM_KEY}"
        with pytest.raises(UpstreamError):
            await question(generation, b"/v1/models", max_bytes=4, timeout_s=5)
