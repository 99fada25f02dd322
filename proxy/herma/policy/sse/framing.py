"""What stands in an event stream beside the data: comments, names, ids, unknown fields. A secret may stand there too.

Most lines of a stream are the same few over and over, so what was found clean is remembered.
"""

from typing import Final

from herma.policy.decision import Finding
from herma.policy.redaction.redactor import Redactor
from herma.policy.sse.parser import StreamRefused, field_of, lines_of

__all__ = ["Framing"]

# Names of events and heartbeats: a stream has some ten of them. Longer lines are no names, and are looked at each time.
MAX_KNOWN: Final = 256
MAX_KNOWN_BYTES: Final = 128
# The standard has four fields; a stream that has many more of its own is not followed through all of them.
MAX_FIELDS: Final = 16
MAX_VALUE_BYTES: Final = 1024


class Framing:
    """Masks the secrets in the lines of one stream that are no data."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: set[bytes] = set()
        self._last: dict[bytes, bytes] = {}

    def clean(self, raw: bytes, findings: list[Finding]) -> bytes:
        """Return the bytes of an event or comment with its framing masked; the same object when nothing was found.

        Raises:
            StreamRefused: a secret is spread over several lines, so that masking lines would leave its parts.
        """
        if raw.startswith(b"data:") and raw.count(b"\n") == 2 and raw.endswith(b"\n\n") and b"\r" not in raw:
            # One line of data, as most events are.
            return raw
        lines = lines_of(raw)
        beside = [(line, end) for line, end in lines if line and field_of(line)[0] != b"data"]
        if all(line in self._known for line, _ in beside):
            return raw
        values = [field_of(line) for line, _ in beside]
        if self._spread([value for _, value in values]):
            raise StreamRefused("herma.stream.secret_spread")
        for name, value in values:
            # The same field of two events, one behind the other, can be one text as well.
            before = self._last.get(name, value)
            self._last[name[:MAX_KNOWN_BYTES]] = value[-MAX_VALUE_BYTES:]
            if before != value and self._spread([before, value]):
                raise StreamRefused("herma.stream.secret_spread")
        while len(self._last) > MAX_FIELDS:
            self._last.pop(next(iter(self._last)))
        masked = {line: self._line(line, findings) for line, _ in beside}
        if all(line == written for line, written in masked.items()):
            return raw
        return b"".join(masked.get(line, line) + end for line, end in lines)

    def judge_lines(self, data: list[bytes]) -> None:
        """Refuse lines of one event's text that are harmless alone and a secret without the line ends between them.

        Raises:
            StreamRefused: they are.
        """
        if self._spread(data) and not any(self._redactor.edits(_text(line)) for line in data):
            raise StreamRefused("herma.stream.secret_spread")

    def _spread(self, values: list[bytes]) -> bool:
        """Tell whether a secret goes over from one value to the next."""
        borders, at = set(), 0
        for value in values:
            at += len(_text(value))
            borders.add(at)
        if len(borders) < 2:
            return False
        edits = self._redactor.edits("".join(_text(value) for value in values))
        return any(edit.start < border < edit.end for edit in edits for border in borders)

    def _line(self, line: bytes, findings: list[Finding]) -> bytes:
        masked, found = self._redactor.json(line)
        findings.extend(found)
        if not found and len(line) <= MAX_KNOWN_BYTES and len(self._known) < MAX_KNOWN:
            self._known.add(line)
        return masked


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
