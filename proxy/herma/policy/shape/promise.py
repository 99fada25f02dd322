"""Calls of a tool that promise to tell something later: when a command in the background ends, or prints a word.

Where nothing can be told once the answer is closed, the promise is not kept, and the caller is told so. Only the arguments of tools
are looked at: an answer that calls itself `background` is another thing.
"""

import json
import re
from typing import Any, Final

from herma.policy.sse.parser import Event, Splitter

__all__ = ["HEADER", "NOTE", "Promises", "promises"]

HEADER: Final = (b"x-herma-async-delivery", b"unsupported")
NOTE: Final = b": herma async-delivery unsupported\n\n"

_FLAGS: Final = ("background", "notify_on_complete", "watch_patterns")
_ARGUMENTS: Final = frozenset({"args", "arguments"})
# Most answers hold none of these words and are not read a second time.
_WORD: Final = re.compile(rb"\"(?:background|notify_on_complete|watch_patterns)\\*\"")

_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


class Promises:
    """Reads the events of one stream, and says once that a promise in it is not kept."""

    def __init__(self) -> None:
        self._owed = False
        self._said = False

    def read(self, events: bytes) -> None:
        """Look at whole events; behind half a one, at the very end of a stream, nothing is said."""
        if self._said or self._owed or not events.endswith(_ENDS) or _WORD.search(events) is None:
            return
        self._owed = any(
            isinstance(frame, Event) and promises(frame.data or b"") for frame in Splitter().feed(events)
        )

    def take(self) -> bytes:
        """Hand over the comment, if one is due; it goes between two events."""
        if not self._owed:
            return b""
        self._owed, self._said = False, True
        return NOTE


def promises(data: bytes) -> bool:
    """Tell whether a JSON document holds arguments of a tool that promise something for later."""
    if _WORD.search(data) is None:
        return False
    value = _read(data.decode("utf-8", "replace"))
    # A walk without recursion: what was parsed may be nested as deeply as the parser allows.
    open_values: list[tuple[Any, bool]] = [(value, False)]
    while open_values:
        node, inside = open_values.pop()
        if isinstance(node, list):
            open_values += [(item, inside) for item in node]
        elif isinstance(node, dict):
            if inside and any(node.get(flag) for flag in _FLAGS):
                return True
            for key, member in node.items():
                written = key in _ARGUMENTS and isinstance(member, str)
                open_values.append((_read(member) if written else member, inside or key in _ARGUMENTS))
    return False


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
