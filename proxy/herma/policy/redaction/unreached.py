"""The part of a JSON text that nobody has judged: its strings, its names and its long numbers, masked at once.

What is left is JSON of the same structure: equal strings stay equal and different names different, so that no member is lost.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import batched
from typing import Final

__all__ = ["masked_unread"]

# Of so many names one that is loud costs the others their place.
BATCH_NAMES: Final = 64
# A name with its colon, another string, or a number that is long enough for a credential. One group: every second part is one.
_LEAF: Final = re.compile(r'("(?:[^"\\]|\\.)*+"(?:\s*:)?|(?<![^\s:,\[])[0-9]{4,}+(?![^\s,\]}]))')


def masked_unread(
    part: str, quiet: Callable[[str], bool], stand_ins: Callable[[Collection[str]], Mapping[str, str]]
) -> str:
    """Write a part of a JSON text without what it says; names stay that are `quiet`, as told of many at once."""
    pieces = _LEAF.split(part)
    leaves = dict.fromkeys(pieces[1::2])
    names = [leaf for leaf in leaves if leaf[-1] == ":"]
    kept = {'""'}
    for batch in [names] if _quiet(names, quiet) else batched(names, BATCH_NAMES):
        if batch is names or _quiet(batch, quiet):
            kept.update(batch)
    written = dict(zip(leaves, leaves, strict=True))
    for leaf, stand_in in stand_ins([leaf for leaf in leaves if leaf not in kept]).items():
        written[leaf] = f'"{stand_in}":' if leaf[-1] == ":" else f'"{stand_in}"'
    pieces[1::2] = map(written.__getitem__, pieces[1::2])
    return "".join(pieces)


def _quiet(names: Sequence[str], quiet: Callable[[str], bool]) -> bool:
    # The quotes are not part of a name.
    return quiet("\n".join(names).replace('":\n"', "\n")[1:-2])
