"""A message to people, divided into what is text for them and the handles in it.

A handle was given out by the platform and is shown to others here and there; a credential is only between the agent and the platform,
and is in neither part.
"""

import json

from herma.policy.egress.platform import InUse
from herma.policy.message.form import as_text, form_decoded, parts
from herma.policy.redaction.document import spans

__all__ = ["divided", "form_of", "json_spans"]

type Span = tuple[int, int]


def divided(raw: bytes, content_type: bytes, in_use: InUse) -> tuple[bytes, bytes]:
    """Give the text, and the handles on lines of their own.

    Raises:
        FormError: it is a form that can be read in two ways.
    """
    match form_of(content_type):
        case b"multipart/form-data":
            pairs = [(part.name, raw[part.head], raw[part.content]) for part in parts(raw, content_type)]
        case b"application/x-www-form-urlencoded":
            split = [pair.partition(b"=") for pair in raw.split(b"&")]
            pairs = [(as_text(form_decoded(name)), b"", form_decoded(value)) for name, _, value in split]
            if b"=" not in raw:
                # What is sent as a form may be none.
                return raw, b""
        case _:
            return _of_json(raw, in_use)
    text: list[bytes] = []
    handles: list[bytes] = []
    for name, head, value in pairs:
        text += (head, name.encode("utf-8", "surrogateescape"))
        if in_use.leaves(f"/{name}", as_text(value)):
            handles += [] if in_use.is_credential(f"/{name}") else [value]
        else:
            inner, within = _of_json(value, in_use)
            text.append(inner)
            handles.append(within)
    return b"\n".join(text), b"\n".join(handles)


def _of_json(raw: bytes, in_use: InUse) -> tuple[bytes, bytes]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw, b""
    kept: list[str] = []
    handles: list[str] = []
    done = 0
    for pointer, (start, end) in sorted(json_spans(text).items(), key=lambda item: item[1]):
        if in_use.leaves(pointer, text[start:end]):
            kept.append(text[done:start])
            handles += [] if in_use.is_credential(pointer) else [text[start:end]]
            done = end
    return ("".join((*kept, text[done:])).encode() if done else raw), "\n".join(handles).encode()


def json_spans(text: str) -> dict[str, Span]:
    """Say where the strings of a JSON text stand, by their places; nowhere in what is none."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return spans(text)


def form_of(content_type: bytes) -> bytes:
    """Say what a body is sent as, without parameters."""
    return content_type.partition(b";")[0].strip().lower()
