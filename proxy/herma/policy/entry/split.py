"""Texts that come together only from several words or variables of an entry: `--host a --tld b`, `https://${A}.${B}/x`.

Which of them a program puts together, and how, is its own matter. So neighbours are joined in each usual way, and asked only
whether they name an indicator.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["filled", "joined_parts"]

# Neighbours that are joined: an address has four numbers.
MAX_NEIGHBOURS = 4
_GLUES = ("", ".", "/")
_PART = re.compile(r"[\w.:/-]{1,253}")
_OPTION = re.compile(r"^(?:-{1,2}[\w.-]*+=|-{1,2}[A-Za-z][\w.-]*+)")
_VARIABLE = re.compile(
    r"\$\{(?:env:)?([A-Za-z_]\w*+)\}|\$([A-Za-z_]\w*+)|%([A-Za-z_]\w*+)%|\{\{\s*+([A-Za-z_]\w*+)\s*+\}\}"
)


def joined_parts(words: Sequence[str], env: Mapping[str, str]) -> Iterator[str]:
    """Give neighbours among the words behind the program, and among the variables in either order, joined."""
    values = (_OPTION.sub("", word, count=1) for word in words[1:])
    yield from _neighbours([value for value in values if _PART.fullmatch(value)])
    held = [value for value in env.values() if _PART.fullmatch(value)]
    yield from _neighbours(held)
    yield from _neighbours(held[::-1])


def _neighbours(parts: Sequence[str]) -> Iterator[str]:
    for start in range(len(parts) - 1):
        for end in range(start + 2, min(start + MAX_NEIGHBOURS, len(parts)) + 1):
            chosen = [part.strip("./") for part in parts[start:end]]
            yield from (glue.join(chosen) for glue in _GLUES)
            yield "".join(parts[start:end])


def filled(text: str, env: Mapping[str, str]) -> str:
    """Fill in the variables of an entry's own environment, as whoever starts it may do."""
    if not env or ("$" not in text and "%" not in text and "{{" not in text):
        return text
    return _VARIABLE.sub(lambda match: env.get(match[match.lastindex or 0], match[0]), text)
