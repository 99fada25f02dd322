"""What workers and the coordinator say to each other.

A message is four bytes of length (big-endian) and that many bytes of JSON. Workers are ours, but a message is still read
strictly: whatever is not exactly one of the three forms is malformed, and a peer that sends it is cut off.

    [1, number, operation, [arguments]]   a call, worker to coordinator
    [2, number, answer]                   its answer
    [3, topic, payload]                   a notice, either way, without an answer
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, assert_never

from herma.errors import HermaError

__all__ = ["MAX_MESSAGE_BYTES", "Answer", "Call", "Decoder", "Message", "MessageError", "Notice", "encode"]

# The largest argument is a path of a few KiB, the largest answer a page of runs (see `remote`) of 40 KiB.
MAX_MESSAGE_BYTES = 64 * 1024

_LENGTH = struct.Struct(">I")
_CALL, _ANSWER, _NOTICE = 1, 2, 3


class MessageError(HermaError):
    """A message is malformed or too large; the message never repeats it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A wish of a worker; `number` comes back with the answer."""

    number: int
    operation: str
    arguments: list[Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the coordinator answers to the call of that number."""

    number: int
    value: Any


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the other side should know: `reload`, `drain`, `abort` to workers, `metrics` to the coordinator."""

    topic: str
    payload: Any = None


type Message = Call | Answer | Notice


def encode(message: Message) -> bytes:
    """Render a message with its length.

    Raises:
        MessageError: It is larger than the bound, or holds what JSON cannot.
    """
    match message:
        case Call(number, operation, arguments):
            form: list[Any] = [_CALL, number, operation, arguments]
        case Answer(number, value):
            form = [_ANSWER, number, value]
        case Notice(topic, payload):
            form = [_NOTICE, topic, payload]
        case _:
            assert_never(message)
    try:
        # ASCII only, so that a lone surrogate in a caller's text survives the way.
        body = json.dumps(form, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError("a message between workers holds what JSON cannot") from error
    if len(body) > MAX_MESSAGE_BYTES:
        raise MessageError("a message between workers exceeds 64 KiB")
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Cuts a byte stream into messages; it holds back at most one incomplete message."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take bytes, yield the messages that are complete.

        Raises:
            MessageError: A message is malformed or too large; the stream is of no use any more.
        """
        self._pending += data
        at = 0
        try:
            while len(self._pending) - at >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._pending, at)
                if length > MAX_MESSAGE_BYTES:
                    raise MessageError("a message between workers exceeds 64 KiB")
                end = at + _LENGTH.size + length
                if len(self._pending) < end:
                    break
                body = bytes(self._pending[at + _LENGTH.size : end])
                at = end
                yield _decode(body)
        finally:
            del self._pending[:at]


def _decode(body: bytes) -> Message:
    try:
        form = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MessageError("a message between workers is malformed") from error
    match form:
        case [1, int(number), str(operation), list(arguments)]:
            return Call(number, operation, arguments)
        case [2, int(number), value]:
            return Answer(number, value)
        case [3, str(topic), payload]:
            return Notice(topic, payload)
        case _:
            raise MessageError("a message between workers is malformed")


def _refuse_constant(_name: str) -> NoReturn:
    raise ValueError("RFC 8259 knows no NaN and no Infinity")
