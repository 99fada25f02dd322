"""What the gate's process and the one that started it say to each other: a line of text each.

The first line to the gate is the key of fingerprints; the lines after it are orders, and their end is the order to stop. What the gate
says is one JSON object a line. Both sides read strictly: a field too many is as wrong as one too few, and a line has a bound.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from herma.egress.record import Facts
from herma.policy.decision import Finding, Level
from herma.policy.secret import Secret

__all__ = [
    "MAX_LINE_BYTES",
    "RELOAD",
    "Counts",
    "Failed",
    "LineError",
    "Note",
    "Ready",
    "Sent",
    "Told",
    "TooLongError",
    "decode",
    "encode",
    "key_line",
    "read_key",
]

# A record holds sixteen findings at the most, with places of a few hundred characters.
MAX_LINE_BYTES: Final = 64 * 1024
MIN_KEY_BYTES: Final = 16
# What a place or a reason is cut to.
MAX_TEXT_CHARS: Final = 2000

RELOAD: Final = b"reload\n"


class LineError(ValueError):
    """A line is none of those that are said; the message repeats nothing of it."""


class TooLongError(LineError):
    """A message does not fit on a line."""


def key_line(key: Secret) -> bytes:
    """Write the first line to the gate."""
    return base64.b64encode(key.reveal()) + b"\n"


def read_key(line: bytes) -> Secret:
    """Read the first line.

    Raises:
        LineError: it is no key.
    """
    try:
        key = base64.b64decode(line.rstrip(b"\r\n"), validate=True)
    except binascii.Error:
        raise LineError("the first line is no key in base64") from None
    if len(key) < MIN_KEY_BYTES:
        raise LineError(f"the first line holds no key of {MIN_KEY_BYTES} bytes or more")
    return Secret(key)


@dataclass(frozen=True, slots=True)
class Ready:
    """The gate listens, and has refused its canary; `address` is `host:port`."""

    address: str


@dataclass(frozen=True, slots=True)
class Told:
    """One finding, as it may be written down."""

    rule_id: str
    level: str = Level.HIGH.value
    place: str = ""
    attack: str = ""

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Tell of a finding."""
        place = finding.shown_place[:MAX_TEXT_CHARS]
        return cls(finding.rule_id, finding.level.value, place, finding.attack)


@dataclass(slots=True)
class Sent(Facts):
    """One that is over; `started_ms` is the time of day, `duration_ms` how long it took."""

    exchange: str
    started_ms: int
    duration_ms: int
    findings: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A hook failed and shut; `kind` is that of its error."""

    hook: str
    kind: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something an operator should know; `code` is stable."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is under way."""

    connections: int
    held_bytes: int


type Message = Ready | Sent | Failed | Note | Counts

_KINDS: Final[Mapping[str, type[Any]]] = {
    "ready": Ready,
    "sent": Sent,
    "failed": Failed,
    "note": Note,
    "counts": Counts,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def encode(message: Message) -> bytes:
    """Write a message as one line.

    Raises:
        TooLongError: it is longer than a line may be.
    """
    body = {"is": _NAMES[type(message)], **asdict(message)}
    line = json.dumps(body, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise TooLongError("the message is too long")
    return line


def decode(line: bytes) -> Message:
    """Read one line.

    Raises:
        LineError: it is no message.
    """
    if len(line) > MAX_LINE_BYTES:
        raise LineError("the line is too long")
    try:
        body = json.loads(line, object_pairs_hook=_pairs)
    except LineError:
        raise
    except (ValueError, RecursionError):
        raise LineError("the line is no JSON") from None
    name = body.pop("is", None) if isinstance(body, dict) else None
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise LineError("the line is no message that is known")
    if kind is Sent:
        body["findings"] = _findings(body.get("findings"))
    made: Message = _made(kind, body)
    return made


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise LineError("a field of the message is there twice")
    return found


def _findings(found: object) -> tuple[Told, ...]:
    if not isinstance(found, list):
        raise LineError("the findings are no list")
    return tuple(_made(Told, entry) for entry in found)


def _made[T](kind: type[T], body: object) -> T:
    wanted = {one.name: one.type for one in fields(kind)}  # type: ignore[arg-type]  # all kinds are dataclasses
    if not isinstance(body, dict) or body.keys() != wanted.keys():
        raise LineError("the message has other fields")
    for name, value in body.items():
        # A flag is a number to Python, and to nobody else.
        expected: type = str if wanted[name] is str else int if wanted[name] is int else tuple
        if not isinstance(value, expected) or isinstance(value, bool):
            raise LineError("a field of the message is of another kind")
        if isinstance(value, int) and value < 0:
            raise LineError("a number of the message is below zero")
    return kind(**body)
