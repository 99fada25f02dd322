"""WebSocket frames of one peer (RFC 6455) on bytes: no I/O, no clock.

Extensions are never agreed to, so that a message is what its frames hold. The peer's pings are answered here, its close too.
"""

from dataclasses import dataclass, field
from typing import cast

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Protocol, Side, State

__all__ = ["Frames", "Message"]

# RFC 6455 section 7.4.1: these are told to an application and never sent.
_UNSENDABLE = frozenset({1005, 1006, 1015})
_DATA = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})


@dataclass(frozen=True, slots=True)
class Message:
    """The data of all frames of one message; `text` tells that it is text, in UTF-8 (RFC 6455 section 5.6)."""

    data: bytes = field(repr=False)
    text: bool = True


class Frames:
    """Reads what one peer sends, and writes what it is sent; `max_bytes` bounds a message, however it is cut.

    `closed` is the code that the peer closed with, or that a broken rule of the protocol ended it with; 0 while it is open.
    `answered` tells that a pong came since it was last set to False.
    """

    def __init__(self, *, client: bool, max_bytes: int) -> None:
        # Towards a client the gate is the server, and the other way round: only a client masks its frames.
        self._protocol = Protocol(Side.SERVER if client else Side.CLIENT, max_size=max_bytes)
        self._open: bytearray | None = None
        self._text = False
        self.closed = 0
        self.answered = False

    def feed(self, data: bytes) -> list[Message]:
        """Take bytes; return the messages that are complete now. After `closed` is set there are none."""
        if self.closed:
            return []
        self._protocol.receive_data(data)
        messages: list[Message] = []
        for event in self._protocol.events_received():
            # This side starts open: no handshake is among the events.
            frame = cast("Frame", event)
            if frame.opcode in _DATA:
                if not self._take(frame, messages):
                    return messages
            elif frame.opcode is Opcode.PONG:
                self.answered = True
        self._note_end()
        return messages

    @property
    def halfway(self) -> bool:
        """Tell whether a message, or a frame, has begun and has not ended."""
        return not self.closed and (self._open is not None or bool(self._protocol.reader.buffer))

    def send(self, message: Message) -> None:
        """Send a message as one frame; nothing once the connection is closing."""
        if self._protocol.state is not State.OPEN:
            return
        if message.text:
            self._protocol.send_text(message.data)
        else:
            self._protocol.send_binary(message.data)

    def ping(self) -> None:
        """Ask the peer for a sign of life."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_ping(b"")

    def close(self, code: int) -> None:
        """Tell the peer that the connection ends, without a reason that could quote somebody."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE if code in _UNSENDABLE else code)

    def take(self) -> bytes:
        """Hand over the bytes to be written."""
        return b"".join(self._protocol.data_to_send())

    def _take(self, frame: Frame, messages: list[Message]) -> bool:
        if self._open is None:
            self._open, self._text = bytearray(), frame.opcode is Opcode.TEXT
        self._open += frame.data
        if not frame.fin:
            return True
        data, self._open = bytes(self._open), None
        if self._text and not _is_utf_8(data):
            self._protocol.fail(CloseCode.INVALID_DATA)
            self._note_end()
            return False
        messages.append(Message(data, self._text))
        return True

    def _note_end(self) -> None:
        if (received := self._protocol.close_rcvd) is not None:
            self.closed = int(received.code)
        elif self._protocol.parser_exc is not None or self._protocol.state is not State.OPEN:
            sent = self._protocol.close_sent
            self.closed = int(sent.code) if sent is not None else int(CloseCode.ABNORMAL_CLOSURE)


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
