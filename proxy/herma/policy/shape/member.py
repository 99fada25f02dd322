"""One member more in a JSON object, everything else byte for byte as it was."""

import json
import re
from typing import Any, Final

__all__ = ["with_member"]

_OPENING: Final = re.compile(r"\s*\{\s*")


def with_member(text: str, name: str, value: object) -> str:
    """Put a member in front of the others; text that is no object, or has a member of that name, stays as it is."""
    try:
        held: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    opening = _OPENING.match(text)
    if opening is None or name in held:
        return text
    written = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
    return f"{opening.group()}{written}{', ' if held else ''}{text[opening.end() :]}"
