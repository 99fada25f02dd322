"""What a body costs in memory beyond its own size, whatever packets it comes in."""

import asyncio
import tracemalloc

import pytest

from herma.wire.framing import FixedDecoder
from herma.wire.request_body import RequestBody

BODY_BYTES = 256 * 1024


@pytest.mark.parametrize("packet_bytes", [2, 7])
async def test_a_body_in_tiny_packets_costs_little_more_than_its_size(packet_bytes: int) -> None:
    """The memory for bodies is shared out by their size; two bytes a packet must not multiply it by thirty."""
    body = RequestBody(FixedDecoder(BODY_BYTES), asyncio.get_running_loop())
    body.begin(BODY_BYTES)
    packets = [bytes(packet_bytes - 1) + bytes([index % 256]) for index in range(BODY_BYTES // packet_bytes)]
    tracemalloc.start()
    try:
        for packet in packets:
            body.feed(bytes(bytearray(packet)))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 4 * BODY_BYTES
