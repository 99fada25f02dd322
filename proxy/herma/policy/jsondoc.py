"""JSON with one meaning, or none.

Guard and upstream each parse the body. Wherever two parsers could read different things out of the same bytes
(duplicate names, NaN, a byte-order mark, lone surrogates), the body is refused instead of being judged by luck.

Rule 1: what `parse` accepts, Python's `json.loads` reads to the same value.
Rule 2: nothing here recurses on the input; the depth is known before the parser runs.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_VALUES", "Document", "JsonError", "find", "parse", "strings"]

# Values in one document. An empty list costs 3 bytes on the wire and some 70 in memory: a body of 10 MiB of them
# would take a quarter of a gigabyte. A prompt given as token numbers stays far below.
MAX_VALUES = 1_000_000

_BOM = b"\xef\xbb\xbf"
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TO_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class JsonError(ValueError):
    """A body that is not one JSON document with one meaning; `code` is stable, the message repeats nothing of it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Document:
    """A body and what it says.

    `value` is what the upstream will parse. For a form (`form` is True) it is `{field: [texts]}`, the decoded text
    of every field or part, so that the guards can read it like any other body.
    """

    raw: bytes
    value: Any
    form: bool = False


def parse(raw: bytes, *, max_depth: int, max_keys: int) -> Document:
    """Read `raw` as strict JSON (RFC 8259), UTF-8 only.

    Raises:
        JsonError: whatever the reason; never RecursionError, never another error.
    """
    if raw.startswith(_BOM):
        # RFC 8259 section 8.1: a parser may ignore a byte-order mark or call it an error. So they differ.
        raise JsonError("herma.body.encoding", "The body starts with a byte-order mark.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonError("herma.body.encoding", "The body is not valid UTF-8.") from None
    _check_size(raw, max_depth, max_keys)
    try:
        value = _DECODER.decode(text)
    except JsonError:
        raise
    except json.JSONDecodeError:
        raise JsonError("herma.body.malformed", "The body is not valid JSON.") from None
    except ValueError:
        # int() refuses more digits than sys.get_int_max_str_digits(); so would the upstream, less politely.
        raise JsonError("herma.body.number", "A number in the body has too many digits.") from None
    # One byte is found many times faster than two, and most bodies have no backslash.
    if b"\\" in raw and b"\\u" in raw:
        _check_escapes(raw, value)
    return Document(raw, value)


def _check_size(raw: bytes, max_depth: int, max_keys: int) -> None:
    """Refuse what is too deep or too wide before a parser sees it.

    The first lines are bounds that cost next to nothing; only a body above one of them is looked at exactly.
    """
    # A member takes 5 bytes, `"":1,`; a value takes 2.
    short = len(raw) < 5 * max_keys and len(raw) < 2 * MAX_VALUES
    if short and raw.count(b"[") + raw.count(b"{") <= max_depth:
        return
    bare = _STRING.sub(b"", raw)
    if bare.count(b":") > max_keys:
        raise JsonError("herma.body.keys", "The body has too many members.")
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > MAX_VALUES:
        raise JsonError("herma.body.keys", "The body has too many values.")
    nesting = bare.translate(_TO_SQUARE, _NOT_BRACKETS)
    # Each round takes away the innermost level of every branch, at the speed of a copy.
    for _ in range(max_depth):
        if not nesting:
            return
        nesting = nesting.replace(b"[]", b"")
    if nesting.startswith(b"["):
        # What is left is deeper than allowed, or is not closed and so no JSON either.
        raise JsonError("herma.body.depth", "The body is nested too deeply.")


def _check_escapes(raw: bytes, value: Any) -> None:
    r"""Refuse lone surrogates anywhere, and NUL in names; both can only be written as `\u` escapes."""
    if b"\\ud" in raw or b"\\uD" in raw:
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise JsonError("herma.body.encoding", "The body has an unpaired surrogate escape.") from None
    if b"\\u0000" in raw and any("\0" in name for name in _names(value)):
        raise JsonError("herma.body.encoding", "A member's name has a NUL character.")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # RFC 8259 section 4: names SHOULD be unique. Parsers disagree about duplicates (first, last, both, error), so a
    # guard and its upstream could each see a different value. Compared after escapes were decoded.
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonError("herma.body.duplicate_key", "An object in the body has the same name twice.")
    if "__proto__" in members:
        # Harmless to Python, prototype pollution to a JavaScript dashboard or tool server behind it.
        raise JsonError("herma.body.key", "An object in the body has a forbidden name.")
    return members


def _constant(_name: str) -> Any:
    raise JsonError("herma.body.number", "NaN and Infinity are not JSON.")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonError("herma.body.number", "A number in the body is too large.")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_constant, parse_float=_float)


def _names(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield from node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def strings(value: Any, *, keys: bool = False) -> Iterator[tuple[str, str]]:
    """Give every string of a parsed value with its JSON Pointer (RFC 6901), in document order.

    With `keys`, the names of members too, each with the pointer of its member. Bounded by the document, which
    `parse` bounded; JSON inside a string is the caller's choice.
    """
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, str):
            yield pointer, node
        elif isinstance(node, dict):
            members = [(f"{pointer}/{_escaped(name)}", name, child) for name, child in node.items()]
            if keys:
                yield from ((place, name) for place, name, _ in members)
            stack.extend((place, child) for place, _, child in reversed(members))
        elif isinstance(node, list):
            stack.extend((f"{pointer}/{index}", node[index]) for index in range(len(node) - 1, -1, -1))


def find(value: Any, pointer: str) -> list[tuple[str, Any]]:
    """Give what a JSON Pointer names, with the concrete pointer of each; `*` stands for every member or element.

    Raises:
        ValueError: the pointer is neither empty nor starts with `/`.
    """
    if not pointer:
        return [("", value)]
    if not pointer.startswith("/"):
        raise ValueError("a JSON Pointer is empty or starts with '/'")
    found: list[tuple[str, Any]] = [("", value)]
    for step in pointer[1:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        found = [child for place, node in found for child in _children(place, node, name)]
    return found


def _children(place: str, node: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        if name == "*":
            yield from ((f"{place}/{_escaped(key)}", child) for key, child in node.items())
        elif name in node:
            yield f"{place}/{_escaped(name)}", node[name]
    elif isinstance(node, list):
        if name == "*":
            yield from ((f"{place}/{index}", child) for index, child in enumerate(node))
        elif name.isascii() and name.isdigit() and len(name) < 10 and int(name) < len(node):
            yield f"{place}/{int(name)}", node[int(name)]
