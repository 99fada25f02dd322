"""What fields of a job say together: a list or the parts of a message read as one sentence, a script that is run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["fields"]

# A sentence that is cut into members has more than two of them; two names of skills are a pair of names.
MIN_MEMBERS: Final = 3


def fields(job: Any) -> Iterator[tuple[str, str]]:
    """Give the texts that fields make, each with the pointer of its field; members of members are read one by one only."""
    if not isinstance(job, Mapping):
        return
    for name, value in job.items():
        place = "/" + name.replace("~", "~0").replace("/", "~1")
        if isinstance(value, list):
            members = [member for member in value if isinstance(member, str)]
            if len(members) >= MIN_MEMBERS:
                yield place, " ".join(members)
            # Of these two are read together: whoever takes the message reads them as one text.
            parts = [text for member in value if isinstance(text := _text_of(member), str)]
            if len(parts) > 1:
                yield place, " ".join(parts)
        elif name.lower() == "script" and isinstance(value, str):
            yield place, f"run the script {value}"


def _text_of(part: object) -> object:
    return part.get("text") if isinstance(part, Mapping) else None
