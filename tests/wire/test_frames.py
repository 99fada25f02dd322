"""WebSocket frames on bytes, against another's idea of them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side

from herma.wire import Frames, Message

MAX = 1024


def sent(*frames: Frame, mask: bool = True) -> bytes:
    return b"".join(frame.serialize(mask=mask, extensions=[]) for frame in frames)


def client_of(frames: Frames) -> Protocol:
    peer = Protocol(Side.CLIENT)
    peer.receive_data(frames.take())
    return peer


def facing_client() -> Frames:
    return Frames(client=True, max_bytes=MAX)


@given(
    st.lists(
        st.tuples(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=3)), min_size=1, max_size=4
    ),
    st.data(),
)
def test_messages_are_whole_however_frames_and_network_cut_them(
    wanted: list[tuple[bytes, list[int]]], data: st.DataObject
) -> None:
    """Fragments with pings between them, bytes one by one."""
    wire = b""
    for payload, cuts in wanted:
        bounds = [0, *sorted(min(cut, len(payload)) for cut in cuts), len(payload)]
        for number, (start, end) in enumerate(pairwise(bounds)):
            opcode = Opcode.CONT if number else Opcode.BINARY
            wire += sent(Frame(opcode, payload[start:end], fin=number == len(bounds) - 2))
            wire += sent(Frame(Opcode.PING, b"x"))
    cut = data.draw(st.integers(0, len(wire)))
    frames = facing_client()
    got = frames.feed(wire[:cut]) + frames.feed(wire[cut:])
    assert [message.data for message in got] == [payload for payload, _ in wanted]
    assert not any(message.text for message in got)
    assert frames.closed == 0


def test_what_is_sent_is_what_the_peer_reads() -> None:
    """Text as text, bytes as bytes; towards a server the frames are masked."""
    frames = Frames(client=False, max_bytes=MAX)
    frames.send(Message("grüße".encode()))
    frames.send(Message(b"\xff", text=False))
    peer = Protocol(Side.SERVER)
    peer.receive_data(frames.take())
    text, binary = peer.events_received()
    assert isinstance(text, Frame)
    assert (text.opcode, text.data) == (Opcode.TEXT, "grüße".encode())
    assert isinstance(binary, Frame)
    assert (binary.opcode, binary.data) == (Opcode.BINARY, b"\xff")
    assert frames.take() == b""


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (sent(Frame(Opcode.BINARY, b"x"), mask=False), 1002),
        (sent(Frame(Opcode.CONT, b"x")), 1002),
        (sent(Frame(Opcode.TEXT, b"x", fin=False), Frame(Opcode.TEXT, b"x")), 1002),
        (b"\xc1\x81mask\x15", 1002),
        (sent(Frame(Opcode.TEXT, b"\xff")), 1007),
        (sent(Frame(Opcode.TEXT, b"\xe2", fin=False), Frame(Opcode.CONT, b"\x82")), 1007),
        (sent(Frame(Opcode.BINARY, b"x" * (MAX + 1))), 1009),
        (sent(Frame(Opcode.BINARY, b"x" * MAX, fin=False), Frame(Opcode.CONT, b"x")), 1009),
        (sent(Frame(Opcode.TEXT, b"x", fin=False), Frame(Opcode.CLOSE, Close(1000, "").serialize())), 1000),
    ],
)
def test_a_broken_rule_ends_the_connection(wire: bytes, code: int) -> None:
    """The peer is told, and nothing behind it is read."""
    frames = facing_client()
    assert frames.feed(wire) == []
    assert frames.closed == code
    assert frames.feed(sent(Frame(Opcode.TEXT, b"more"))) == []
    assert client_of(frames).close_rcvd is not None


def test_what_came_before_a_broken_rule_counts() -> None:
    """Messages are judged in their order."""
    frames = facing_client()
    got = frames.feed(sent(Frame(Opcode.TEXT, b"a"), Frame(Opcode.TEXT, b"\xff"), Frame(Opcode.TEXT, b"b")))
    assert got == [Message(b"a")]
    assert frames.closed == 1007


def test_a_close_is_answered_and_its_code_told() -> None:
    """The reason is not passed on; a close without a code has none."""
    frames = facing_client()
    frames.feed(sent(Frame(Opcode.CLOSE, Close(4401, "why").serialize())))
    assert frames.closed == 4401
    peer = client_of(frames)
    assert peer.close_rcvd is not None
    assert peer.close_rcvd.code == 4401
    empty = facing_client()
    empty.feed(sent(Frame(Opcode.CLOSE, b"")))
    assert empty.closed == 1005


@pytest.mark.parametrize(("code", "told"), [(1001, 1001), (4401, 4401), (1005, 1000), (1006, 1000)])
def test_closing_tells_the_peer(code: int, told: int) -> None:
    """Codes that only an application is told become a plain end; afterwards nothing is sent."""
    frames = facing_client()
    frames.close(code)
    frames.close(code)
    frames.send(Message(b"late"))
    frames.ping()
    peer = client_of(frames)
    assert peer.close_rcvd is not None
    assert peer.close_rcvd.code == told
    assert len(peer.events_received()) == 1


def test_a_ping_is_answered_by_a_pong() -> None:
    """Both ways."""
    frames = facing_client()
    frames.ping()
    peer = client_of(frames)
    assert not frames.answered
    frames.feed(b"".join(peer.data_to_send()))
    assert frames.answered
    frames.feed(sent(Frame(Opcode.PING, b"you?")))
    (pong,) = client_of(frames).events_received()
    assert isinstance(pong, Frame)
    assert (pong.opcode, pong.data) == (Opcode.PONG, b"you?")


def test_what_has_begun_is_told_until_it_ends() -> None:
    """A frame that is not there whole, and a message that is not."""
    frames = facing_client()
    assert not frames.halfway
    wire = sent(Frame(Opcode.TEXT, b"ab", fin=False))
    frames.feed(wire[:3])
    assert frames.halfway
    frames.feed(wire[3:])
    assert frames.halfway
    frames.feed(sent(Frame(Opcode.CONT, b"c")))
    assert not frames.halfway
    frames.feed(sent(Frame(Opcode.CLOSE, b"")) + b"rest")
    assert not frames.halfway
