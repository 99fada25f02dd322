"""Whether a request can be read in one way only, by the destination as by the gate.

mitmproxy passes on bytes that end a field for one program and stand in it for another, and what HTTP/2 carries as one value it writes
as lines for a destination that speaks HTTP/1 (RFC 9110 section 5.5, RFC 9113 section 8.2.1).
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["is_sound"]

_IN_VALUES: Final = re.compile(rb"[\0\r\n]")
_IN_TARGETS: Final = re.compile(rb"[\0-\x20\x7f]")
# Names of methods are words (the registry of RFC 9110 section 16.1); whatever else stands there is a message.
_METHOD: Final = re.compile(rb"[A-Z][A-Z_-]{1,19}|[a-z]{2,8}")


def is_sound(method: bytes, targets: Iterable[bytes], fields: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether neither the request line nor a field holds the end of a line, or what is read as one.

    Args:
        method: The method.
        targets: What the request line and the destination are written with.
        fields: Names and values of the header.
    """
    return (
        _METHOD.fullmatch(method) is not None
        and not any(map(_IN_TARGETS.search, targets))
        and not any(_IN_VALUES.search(value) for _, value in fields)
    )
