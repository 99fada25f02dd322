"""Configuration text in YAML, read as far as a guard needs it: what key has what value.

Not a YAML parser: it knows blocks by their indentation, flow collections, quoted and plain scalars, literal blocks, anchors
and merge keys, and passes over what it does not know. It never fails; text that is no configuration gives little.
"""

import re
from typing import Any

__all__ = ["outline"]

# A configuration has a few hundred lines; the longest seen has some two thousand.
MAX_LINES = 4096
# Blocks within blocks; configurations nest six deep.
MAX_DEPTH = 24
MAX_FLOW_CHARS = 8 * 1024

_KEY = re.compile(
    r"(?:\"((?:[^\"\\]|\\.){1,200})\"|'([^']{1,200})'|([^\s\"'#{\[\]}:,&*!|>%@`-][^:\n]{0,200}?|-[^\s:][^:\n]{0,199}?))\s{0,8}:(?:\s{1,200}|$)"
)
_ANCHOR = re.compile(r"&(\S{1,64})\s{0,8}")
_TAG = re.compile(r"!\S{0,64}\s{1,8}")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "", "e": "", "a": "", "b": ""}
_FLOW = re.compile(
    r"[\[\]{},]|\"(?:[^\"\\]|\\.){0,4096}\"|'(?:[^']|''){0,4096}'|:(?=[\s\[\]{},\"']|$)|[^\s\[\]{},:\"'][^\[\]{},:\n]{0,2048}?(?=\s{0,64}(?:[\[\]{},\n]|:[\s\[\]{},]|:?$))|[^\[\]{},\s]{1,64}"
)


def outline(text: str) -> Any:
    """Give the mapping or list that a text writes, with all scalars as text; an empty mapping where there is none."""
    lines: list[tuple[int, str]] = []
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        bare = line.rstrip()
        content = bare.lstrip(" \t")
        if content and not content.startswith("#") and content not in {"---", "..."}:
            lines.append((len(bare) - len(content), content))
    if lines and lines[0][1][0] in "{[":
        return _flow(" ".join(content for _, content in lines))
    return _Reader(lines).block(0, 0) if lines else {}


class _Reader:
    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self._lines = lines
        self._at = 0
        self._anchors: dict[str, Any] = {}

    def block(self, indent: int, depth: int) -> Any:
        """Read the lines that are indented at least so far."""
        first = self._lines[self._at][1]
        if first == "-" or first.startswith("- "):
            return self._items(self._lines[self._at][0], depth)
        return self._members(max(indent, self._lines[self._at][0]), depth)

    def _items(self, indent: int, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._at < len(self._lines):
            at, text = self._lines[self._at]
            if at < indent or not (text == "-" or text.startswith("- ")):
                break
            rest = text[1:].lstrip()
            if _KEY.match(rest) is not None and depth < MAX_DEPTH:
                # The item is a mapping that begins on this line.
                self._lines[self._at] = (at + len(text) - len(rest), rest)
                items.append(self.block(at + 1, depth + 1))
            else:
                self._at += 1
                items.append(self._value(rest, at, depth))
        return items

    def _members(self, indent: int, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while self._at < len(self._lines):
            at, text = self._lines[self._at]
            if at < indent:
                break
            self._at += 1
            match = _KEY.match(text)
            if match is None:
                continue
            key = _unescaped(match[1]) if match[1] is not None else match[2] or match[3] or ""
            value = self._value(text[match.end() :], at, depth)
            if key == "<<" and isinstance(value, dict):
                members = value | members
            else:
                members[key.strip()] = value
        return members

    def _value(self, text: str, indent: int, depth: int) -> Any:
        text = _TAG.sub("", text, count=1) if text.startswith("!") else text
        anchor = _ANCHOR.match(text)
        value = self._plain(text[anchor.end() :] if anchor else text, indent, depth)
        if anchor is not None:
            self._anchors[anchor[1]] = value
        return value

    def _plain(self, text: str, indent: int, depth: int) -> Any:
        if text.startswith("*"):
            return self._anchors.get(text[1:].strip(), "")
        if text[:1] in {"|", ">"} and len(text) < 4:
            return self._literal(indent, "\n" if text[0] == "|" else " ")
        if text[:1] in {"{", "["}:
            return _flow(self._closed(text))
        if text and not text.startswith("#"):
            return _scalar(text)
        if self._at >= len(self._lines) or depth >= MAX_DEPTH:
            return ""
        inner, following = self._lines[self._at]
        listed = following == "-" or following.startswith("- ")
        return self.block(inner, depth + 1) if inner > indent or (listed and inner == indent) else ""

    def _literal(self, indent: int, glue: str) -> str:
        return glue.join(line.strip() for line in self._taken(indent))

    def _closed(self, text: str) -> str:
        """Add the lines that a flow collection goes on over."""
        while self._at < len(self._lines) and len(text) < MAX_FLOW_CHARS:
            if sum(map(text.count, "{[")) <= sum(map(text.count, "}]")):
                break
            text += " " + self._lines[self._at][1]
            self._at += 1
        return text

    def _taken(self, indent: int) -> list[str]:
        start = self._at
        while self._at < len(self._lines) and self._lines[self._at][0] > indent:
            self._at += 1
        return [line for _, line in self._lines[start : self._at]]


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] == '"':
        return _unescaped(text[1:].partition('"')[0] if text.count('"') == 2 else text[1:].rstrip('"'))
    if text[:1] == "'":
        return text[1:].rpartition("'")[0].replace("''", "'") or text[1:]
    return text.partition(" #")[0].rstrip()


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(
        lambda match: (
            chr(int(match[1] or match[2], 16)) if match[1] or match[2] else _SIMPLE.get(match[3], match[3])
        ),
        text,
    )


def _flow(text: str) -> Any:
    """Read a flow collection with a stack; what is not closed is closed at the end."""
    stack: list[Any] = []
    keys: list[str] = []
    root: Any = None
    key = ""
    pending: str | None = None
    for match in _FLOW.finditer(text[:MAX_FLOW_CHARS]):
        part = match[0]
        if part in "[{" and len(stack) < MAX_DEPTH:
            node: Any = [] if part == "[" else {}
            if root is None:
                root = node
            else:
                _put(stack[-1], key, node)
            stack.append(node)
            keys.append(key)
            key, pending = "", None
        elif part in "]}":
            if pending is not None:
                _put(stack[-1], key, pending)
            stack.pop()
            key, pending = keys.pop(), None
            if not stack:
                break
            key = ""
        elif part == ":":
            key, pending = pending or "", None
        elif part == ",":
            if pending is not None:
                _put(stack[-1], key, pending)
            key, pending = "", None
        else:
            pending = _scalar(part)
    if stack and pending is not None:
        _put(stack[-1], key, pending)
    return {} if root is None else root


def _put(node: Any, key: str, value: Any) -> None:
    if isinstance(node, list):
        node.append(value)
    else:
        node[key] = value
