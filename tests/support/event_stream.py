"""Read a whole server-sent event stream in a test."""

import json
from typing import Any


def events(text: str) -> list[tuple[str, Any]]:
    """Give `(event name, data)` for each event; `[DONE]` stays a string, comments are left out."""
    found = []
    for frame in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if line and not line.startswith(":"))
        if "data" in fields:
            data = fields["data"]
            found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
