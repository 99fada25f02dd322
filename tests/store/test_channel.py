"""A worker's end of the connection, against a coordinator that the test plays."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from herma.errors import StoreError
from herma.store.channel import Channel
from herma.store.messages import Answer, Call, Decoder, Message, MessageError, Notice, encode


class Peer:
    """The other end: reads what the worker sends, and answers only when told."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, channel: Channel) -> None:
        self.channel = channel
        self.notices: list[Notice] = []
        self.lost = 0
        self._reader, self._writer = reader, writer
        self._decoder = Decoder()
        self._read: list[Message] = []

    async def next(self) -> Message:
        async with asyncio.timeout(10):
            while not self._read:
                data = await self._reader.read(65536)
                assert data, "the worker hung up"
                self._read += self._decoder.feed(data)
        return self._read.pop(0)

    async def call(self) -> Call:
        message = await self.next()
        assert isinstance(message, Call)
        return message

    async def say(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def ended(self) -> bool:
        async with asyncio.timeout(10):
            return await self._reader.read() == b""

    def hang_up(self) -> None:
        self._writer.transport.abort()


type Connect = Callable[..., Any]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    peers: list[Peer] = []

    async def connect(**settings: Any) -> Peer:
        settings = {"wait_s": 60, **settings}  # a busy machine is no coordinator that hangs
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=ours)

        def lost() -> None:
            peer.lost += 1

        loop = asyncio.get_running_loop()
        _, channel = await loop.create_unix_connection(
            lambda: Channel(lambda notice: peer.notices.append(notice), lost, **settings), sock=theirs
        )
        peer = Peer(reader, writer, channel)
        peers.append(peer)
        return peer

    yield connect
    for peer in peers:
        peer.channel.close()
        peer.hang_up()


async def settle(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


async def outcome(call: Awaitable[Any]) -> Any:
    try:
        return await call
    except StoreError as error:
        return error


async def test_answers_may_come_in_any_order(connect: Connect) -> None:
    """Each caller gets the answer to its own call."""
    peer = await connect()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(peer.channel.call("op", number)) for number in range(3)]
        calls = [await peer.call() for _ in range(3)]
        for call in reversed(calls):
            await peer.say(encode(Answer(call.number, call.arguments[0] * 10)))
    assert [task.result() for task in tasks] == [0, 10, 20]


async def test_call_without_an_answer_is_given_up(connect: Connect) -> None:
    """A coordinator that hangs makes callers fail, not wait."""
    peer = await connect(wait_s=0)
    with pytest.raises(StoreError, match="in time"):
        await peer.channel.call("op")


async def test_answer_that_comes_too_late_is_undone(connect: Connect) -> None:
    """What was granted to a caller who gave up is given back."""
    peer = await connect(wait_s=0)
    undone: list[Any] = []
    with pytest.raises(StoreError):
        await peer.channel.call("op", undo=undone.append)
    with pytest.raises(StoreError):
        await peer.channel.call("without undo")
    for _ in range(2):
        await peer.say(encode(Answer((await peer.call()).number, "granted")))
    await settle(lambda: undone == ["granted"])
    assert not peer.channel._outstanding


async def test_answer_to_a_cancelled_caller_is_undone(connect: Connect) -> None:
    """A client that goes while its slot is on the way does not keep it."""
    peer = await connect()
    undone: list[Any] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(peer.channel.call("op", undo=undone.append))
        call = await peer.call()
        task.cancel()
    await peer.say(encode(Answer(call.number, "granted")))
    await settle(lambda: undone == ["granted"])


async def test_answer_in_the_very_moment_of_cancelling_is_undone_once(connect: Connect) -> None:
    """There is no instant at which a grant belongs to nobody."""
    peer = await connect()
    undone: list[Any] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(peer.channel.call("op", undo=undone.append))
        call = await peer.call()
        peer.channel.data_received(encode(Answer(call.number, "granted")))
        task.cancel()  # the answer is there, the caller has not seen it
    assert task.cancelled()
    assert undone == ["granted"]


async def test_cancelling_a_call_that_needs_no_undoing_leaves_nothing(connect: Connect) -> None:
    """Without `undo` an unseen answer is dropped."""
    peer = await connect()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(peer.channel.call("op"))
        call = await peer.call()
        peer.channel.data_received(encode(Answer(call.number, 1)))
        task.cancel()
    assert not peer.channel._outstanding


async def test_lost_connection_fails_those_who_wait_and_those_who_come(connect: Connect) -> None:
    """After the connection is gone nothing is answered, at once and for good."""
    peer = await connect()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(outcome(peer.channel.call("op")))
        await peer.call()
        peer.hang_up()
    assert "lost" in str(waiting.result())
    with pytest.raises(StoreError, match="lost"):
        await peer.channel.call("op")
    peer.channel.tell("op")
    assert peer.channel.notify("metrics") is False
    peer.channel.close()
    assert peer.lost == 1


async def test_caller_who_gave_up_does_not_disturb_the_end(connect: Connect) -> None:
    """A cancelled call and one that nobody waits for end quietly with the connection."""
    peer = await connect(wait_s=0)
    with pytest.raises(StoreError, match="in time"):
        await peer.channel.call("op")
    peer.channel.tell("op")
    peer.channel.close()
    assert peer.lost == 1


async def test_coordinator_that_stops_answering_is_given_up(connect: Connect) -> None:
    """Beyond the bound the connection ends, so that no slot is held by a release that could not be sent."""
    peer = await connect(max_outstanding=2)
    peer.channel.tell("op")
    peer.channel.tell("op")
    with pytest.raises(StoreError, match="stopped"):
        await peer.channel.call("op")
    assert peer.lost == 1
    assert [(await peer.call()).operation for _ in range(2)] == ["op", "op"]
    assert await peer.ended()


async def test_call_that_does_not_fit_a_message_fails_alone(connect: Connect) -> None:
    """One absurd value does not cost the worker its connection."""
    peer = await connect()
    with pytest.raises(StoreError, match="fit"):
        await peer.channel.call("op", "x" * 100_000)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(peer.channel.call("op"))
        await peer.say(encode(Answer((await peer.call()).number, 1)))
    assert task.result() == 1


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        encode(Answer(7, None)),
        encode(Call(0, "op", [])),
        encode(Notice("a")) + b"\x00\x00\x00\x01{",
    ],
    ids=["too large", "unasked answer", "call", "malformed"],
)
async def test_coordinator_that_makes_no_sense_is_left(connect: Connect, data: bytes) -> None:
    """A stream that was misread once is not read on."""
    peer = await connect()
    await peer.say(data)
    assert await peer.ended()
    assert peer.lost == 1


async def test_notices_go_both_ways(connect: Connect) -> None:
    """What one side wants the other to know arrives, without an answer."""
    peer = await connect()
    assert peer.channel.notify("metrics", {"a": 1}) is True
    assert await peer.next() == Notice("metrics", {"a": 1})
    await peer.say(encode(Notice("reload")))
    await settle(lambda: peer.notices == [Notice("reload")])


async def test_notices_are_kept_back_when_nobody_reads_them(connect: Connect) -> None:
    """A coordinator that hangs does not fill the worker's memory."""
    peer = await connect()
    sent = 0
    while peer.channel.notify("metrics", "x" * 60_000):
        sent += 1
        assert sent < 1000
    assert sent > 10
    with pytest.raises(MessageError):
        peer.channel.notify("metrics", "x" * 100_000)
