"""What a push of git holds: the objects of its pack, each packed by itself (gitformat-pack, section "pack-*.pack files").

For inspection only. Code is full of what looks like a key to a stranger's eye, so only what is watched is looked for in it.
"""

import re
from collections.abc import Iterator
from typing import Final

from herma.policy.egress.packed import Room, unzipped

__all__ = ["git_objects", "is_git_pack"]

_PACK: Final = re.compile(rb"PACK\0\0\0[\x02\x03]")
# The head of zlib at each level. Most of what only looks like one ends at once.
_HEAD: Final = re.compile(rb"x[\x01\x5e\x9c\xda]")
# A repository of some years has so many objects.
MAX_OBJECTS: Final = 200_000


def is_git_pack(raw: bytes) -> bool:
    """Tell whether a body holds a pack of git."""
    return _PACK.search(raw) is not None


def git_objects(raw: bytes) -> Iterator[bytes]:
    """Give the objects of a pack, and the new parts of those that are told by what differs.

    Raises:
        TooLargeError: there is more than is looked at.
    """
    pack = _PACK.search(raw)
    if pack is None:
        return
    room, at = Room(len(raw), MAX_OBJECTS), pack.end()
    while (head := _HEAD.search(raw, at)) is not None:
        part, end = unzipped(raw, head.start(), room)
        if part:
            yield part
        at = max(head.end(), end)
