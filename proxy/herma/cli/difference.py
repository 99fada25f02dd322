"""Shows how a configuration is going to change, without the secrets that stand in it."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from herma.yamlfile import YamlError, load

__all__ = ["difference"]

_SECRET_KEY = re.compile(r"(?:^|_)(?:key|hash)$")
# Where the file cannot be parsed, what follows such a key on its line is hidden.
_SECRET_LINE = re.compile(r"((?:key|hash)[\"']?\s*:\s*)(?!\$\{)\S.*$")
_MASK = "***"


def difference(before: str, after: str, name: str) -> list[str]:
    """Return a unified diff; secrets of `before` are masked, and all of it if it cannot be parsed."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (new)", lineterm="")
    try:
        value = load(before.encode(), name).value if before.strip() else None
    except YamlError:
        return [_MASK if line[:1] in {"-", " "} and not line.startswith("---") else line for line in lines]
    # Longest first: a short secret may be a part of a long one.
    words = sorted({word for text in _secrets(value, "") for word in text.split()}, key=len, reverse=True)
    return [_masked(line, words) for line in lines]


def _masked(line: str, words: list[str]) -> str:
    if line[:1] in {"-", " "}:
        for word in words:
            line = line.replace(word, _MASK)
        return _SECRET_LINE.sub(rf"\1{_MASK}", line)
    return line


def _secrets(value: Any, key: str) -> Iterator[str]:
    match value:
        case dict():
            for name, item in value.items():
                yield from _secrets(item, name)
        case list():
            for item in value:
                yield from _secrets(item, key)
        case None:
            pass
        case _:
            text = str(value)
            if _SECRET_KEY.search(key) and not text.startswith("${"):
                yield text
