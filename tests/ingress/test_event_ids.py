"""Ids that a stream gives out belong to whoever asked for the stream, from the first event on."""

from support.inprocess import Call, Gated, event, gated, sse
from support.upstream import sse_head

RESPONSE = "resp_00000000000000000000000000000001"
CREATED = event({"type": "response.created", "response": {"id": RESPONSE}}, "response.created")
NOISE = event({"type": "response.in_progress", "n": 1})
TARGET = "/v1/responses"


async def _owner(gate: Gated, *parts: bytes) -> str | None:
    """Stream these events to `runner`; return who owns the response then."""
    gate.agent.on("POST", TARGET, sse(*parts))
    response = await gate.ask("POST", TARGET, body={"stream": True})
    assert response.body == b"".join(parts)
    owner = await gate.store.owner("response", RESPONSE)
    return owner.name if owner else None


async def test_the_first_event_binds_its_id() -> None:
    """It belongs to the caller of the stream."""
    async with gated() as gate:
        assert await _owner(gate, CREATED, NOISE) == "runner"


async def test_the_id_is_bound_before_the_caller_sees_it() -> None:
    """Whoever uses it at once may, while the stream is still open, and nobody else."""
    async with gated() as gate:

        async def play(call: Call) -> None:
            await call.send(sse_head())
            await call.chunk(CREATED)
            await call.gone()

        gate.agent.on("POST", TARGET, play)
        gate.agent.on("GET", f"{TARGET}/{RESPONSE}", {"id": RESPONSE})
        client = await gate.open("POST", TARGET, body={"stream": True})
        await client.until(RESPONSE.encode())
        assert (await gate.ask("GET", f"{TARGET}/{RESPONSE}")).status == 200
        assert (await gate.ask("GET", f"{TARGET}/{RESPONSE}", key="other")).status == 404


async def test_an_id_over_two_pieces_is_bound() -> None:
    """However the network cuts the event."""
    async with gated() as gate:

        async def play(call: Call) -> None:
            await call.send(sse_head())
            for at in range(0, len(CREATED), 3):
                await call.chunk(CREATED[at : at + 3])
            await call.end()

        gate.agent.on("POST", TARGET, play)
        assert (await gate.ask("POST", TARGET, body={"stream": True})).body == CREATED
        assert await gate.store.owner("response", RESPONSE) is not None


async def test_an_id_may_follow_other_events() -> None:
    """Comments, events without JSON or without an id come first in some streams."""
    async with gated() as gate:
        odd = [b": hello\n\n", b"data: not json\n\n", b"event: empty\n\n", NOISE]
        assert await _owner(gate, *odd, CREATED) == "runner"


async def test_only_the_first_events_are_read() -> None:
    """What comes later is the model's text, and announces nothing."""
    async with gated() as gate:
        assert await _owner(gate, *[NOISE] * 8, CREATED) is None


async def test_after_the_first_id_no_other_is_bound() -> None:
    """A stream makes one response."""
    async with gated() as gate:
        first = event({"type": "response.created", "response": {"id": "resp_first"}})
        assert await _owner(gate, first, CREATED) is None


async def test_a_large_event_announces_nothing() -> None:
    """It is a transcript: passed on and judged, but not searched for ids."""
    async with gated() as gate:
        large = event({"type": "x", "text": "word " * 400_000})
        assert await _owner(gate, large, CREATED) is None


async def test_a_route_that_makes_nothing_binds_nothing() -> None:
    """The same event on another route is only an event."""
    async with gated() as gate:
        gate.agent.on("POST", "/api/sessions/s1/chat/stream", sse(CREATED))
        assert (await gate.ask("POST", "/api/sessions/s1/chat/stream", body={})).body == CREATED
        assert await gate.store.owner("response", RESPONSE) is None
