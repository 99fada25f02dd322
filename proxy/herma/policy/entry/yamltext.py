"""Configuration text in YAML, read as the agent's parser reads it, or not at all.

A small reader of YAML 1.1 in one document: blocks, flow collections, all kinds of scalars, anchors, merges, explicit keys. What it
does not know (directives, tags of other types, several documents, tabs where blanks belong) raises `YamlError`, and whoever
asked decides whether that is a refusal. What it reads, it reads to the same keys and texts.
"""

import re
from typing import Any

from herma.policy.entry.scalar import block, double_quoted, folded, single_quoted
from herma.policy.entry.yamlnode import Members, Node, Plain, YamlError, meant

__all__ = ["YamlError", "read_yaml"]

# Collections within collections; configurations nest eight deep.
MAX_DEPTH = 48
# Values of a document, those behind aliases counted each time: a bomb of aliases ends here. The longest configuration seen has
# some two thousand; reading takes 20 microseconds for each.
MAX_VALUES = 8 * 1024
# A key on one line; the agent's parser takes no longer one without `?`.
MAX_KEY_CHARS = 1024

_BREAK = re.compile("\r\n|[\r\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SKIP = re.compile(r"(?: |\n|#[^\n]*+)*+")
_BLANKS = re.compile(r" *+")
_MARK = re.compile(r"(?m)^(?:---|\.\.\.)(?=[ \t\n]|\Z)")
_ANCHOR = re.compile(r"[&*]([0-9A-Za-z_-]++)(?=[\s?:,\]}%@`]|\Z)")
_TAG = re.compile(r"!(?:!(?:str|int|float|bool|null|map|seq))?(?=[ \n]|\Z)")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^']|'')*+)'")
_PLAIN_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=\S)|[?:](?=\S)")
_FLOW_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=\S)")
_PLAIN = re.compile(r"(?:[^\s:#]|:(?=\S)|(?<! )#|\ +(?=[^\s#]))++")
_FLOW_PLAIN = re.compile(r"(?:[^\s:#,?\[\]{}]|:(?=[^\s,\[\]{}])|(?<![ \n])#|\ +(?=[^\s#]))++")
_NEXT_LINE = re.compile(r"(\n[ \n]*)(?=[^\s#])")
_INDICATOR = re.compile(r"[-?:](?=[ \n]|\Z)")


def read_yaml(text: str) -> Any:
    """Give what a text says: mappings with texts as keys, lists, texts, numbers, truth values, None.

    Raises:
        YamlError: the text cannot be read with certainty.
    """
    text = _BREAK.sub("\n", text.removeprefix("\ufeff"))
    if _UNPRINTABLE.search(text) is not None:
        raise YamlError
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._values = 0
        self._anchors: dict[str, Node] = {}

    def document(self) -> Any:
        self._skip()
        if (mark := _MARK.match(self._text, self._at)) is not None and mark[0] == "---":
            self._at = mark.end()
            # What follows on the line of the mark is no key of a block.
            node = self._node(-1, fresh=False)
        else:
            node = self._node(-1, fresh=True)
        self._skip()
        if _MARK.match(self._text, self._at) is not None and self._text.startswith("...", self._at):
            self._at += 3
            self._skip()
        if self._at < len(self._text):
            raise YamlError
        return meant(node.value)

    def _skip(self) -> None:
        match = _SKIP.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _column(self) -> int:
        return self._at - self._text.rfind("\n", 0, self._at) - 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _count(self, node: Node) -> Node:
        self._values += node.count
        if self._values > MAX_VALUES:
            raise YamlError(too_many=True)
        return node

    def _node(self, parent: int, *, fresh: bool, beside: bool = False) -> Node:
        """Read what follows an indicator; `beside` lets items stand in the column of their key."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise YamlError(too_many=True)
        try:
            return self._properties(parent, fresh=fresh, beside=beside)
        finally:
            self._depth -= 1

    def _properties(self, parent: int, *, fresh: bool, beside: bool) -> Node:
        anchor = ""
        tagged = False
        while True:
            at = self._at
            self._skip()
            if "\n" in self._text[at : self._at] or at == 0:
                fresh = True
            column = self._column() if fresh else parent + 1
            if self._ends(parent, column, beside=beside and not tagged):
                return self._named(anchor, self._count(Node("" if tagged else None)))
            if fresh and (block := self._block(column)) is not None:
                return self._named(anchor, block)
            if (
                (match := _ANCHOR.match(self._text, self._at)) is not None
                and match[0][0] == "&"
                and not anchor
            ):
                anchor = match[1]
            elif (match := _TAG.match(self._text, self._at)) is not None and not tagged:
                tagged = True
            else:
                return self._named(anchor, self._content(parent, tagged=tagged))
            self._at = match.end()
            fresh = False

    def _ends(self, parent: int, column: int, *, beside: bool) -> bool:
        if self._at >= len(self._text) or _MARK.match(self._text, self._at) is not None:
            return True
        item = self._peek() == "-" and _INDICATOR.match(self._text, self._at) is not None
        return column < parent or (column == parent and not (beside and item))

    def _named(self, anchor: str, node: Node) -> Node:
        if anchor:
            self._anchors[anchor] = node
        return node

    def _block(self, column: int) -> Node | None:
        """Read a block that begins here, if one does."""
        indicator = _INDICATOR.match(self._text, self._at)
        if indicator is None:
            return self._members(column) if self._is_key() else None
        if indicator[0] == "-":
            return self._items(column)
        if indicator[0] == "?":
            return self._members(column)
        raise YamlError

    def _is_key(self) -> bool:
        """Tell whether a key stands here, on this line; nothing is taken."""
        at, values = self._at, self._values
        try:
            self._key()
        except YamlError as error:
            if error.too_many:
                raise
            return False
        finally:
            self._at, self._values = at, values
        return True

    def _key(self) -> Node:
        start = self._at
        anchor = ""
        tagged = False
        while (match := _TAG.match(self._text, self._at)) or (
            self._peek() == "&" and (match := _ANCHOR.match(self._text, self._at))
        ):
            if match[0][0] == "&":
                anchor = match[1]
            else:
                tagged = True
            blanks = _BLANKS.match(self._text, match.end())
            self._at = blanks.end() if blanks else match.end()
        line = self._text.find("\n", start)
        node = self._line_scalar(tagged=tagged)
        blanks = _BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
        indicator = _INDICATOR.match(self._text, self._at)
        if (
            indicator is None
            or indicator[0] != ":"
            or 0 <= line < self._at
            or self._at - start > MAX_KEY_CHARS
        ):
            raise YamlError
        self._at += 1
        return self._named(anchor, node)

    def _line_scalar(self, *, tagged: bool) -> Node:
        char = self._peek()
        if char and char in "\"'*[{":
            return self._marked(char)
        if (
            _PLAIN_START.match(self._text, self._at) is None
            or (match := _PLAIN.match(self._text, self._at)) is None
        ):
            raise YamlError
        self._at = match.end()
        word = match[0].rstrip(" ")
        return self._count(Node(word if tagged else Plain(word), bare=True))

    def _marked(self, char: str) -> Node:
        """Read what its first character tells: a quoted text, an alias, a flow collection."""
        if char == "*":
            match = _ANCHOR.match(self._text, self._at)
            if match is None or (node := self._anchors.get(match[1])) is None:
                raise YamlError
            self._at = match.end()
            return self._count(Node(node.value, node.count))
        if char in "[{":
            return self._flow()
        pattern = _DOUBLE if char == '"' else _SINGLE
        match = pattern.match(self._text, self._at)
        if match is None or ("\n" in match[0] and _MARK.search(match[0], 1) is not None):
            raise YamlError
        self._at = match.end()
        value = double_quoted(match[1]) if char == '"' else single_quoted(match[1])
        if value is None:
            raise YamlError
        return self._count(Node(value))

    def _items(self, column: int) -> Node:
        start = self._values
        items: list[Any] = []
        while True:
            self._at += 1
            items.append(meant(self._node(column, fresh=True).value))
            self._skip()
            if self._at >= len(self._text) or self._column() < column or _MARK.match(self._text, self._at):
                break
            indicator = _INDICATOR.match(self._text, self._at)
            if self._column() > column:
                raise YamlError
            if indicator is None or indicator[0] != "-":
                break
        self._count(Node(None))
        return Node(items, self._values - start)

    def _members(self, column: int) -> Node:
        start = self._values
        members = Members()
        while True:
            indicator = _INDICATOR.match(self._text, self._at)
            if indicator is not None and indicator[0] == "?":
                self._at += 1
                key = self._node(column, fresh=True)
                self._skip()
                follows = _INDICATOR.match(self._text, self._at)
                if follows is not None and follows[0] == ":" and self._column() == column:
                    self._at += 1
                    value = self._node(column, fresh=True, beside=True)
                else:
                    value = self._count(Node(None))
            else:
                key = self._key()
                value = self._node(column, fresh=False, beside=True)
            members.put(key, value.value)
            self._skip()
            if self._at >= len(self._text) or self._column() < column or _MARK.match(self._text, self._at):
                break
            if self._column() > column:
                raise YamlError
        self._count(Node(None))
        return Node(members.whole(), self._values - start)

    def _content(self, parent: int, *, tagged: bool) -> Node:
        char = self._peek()
        if char in "\"'*[{":
            return self._marked(char)
        if char in "|>":
            return self._count(Node(self._literal(parent)))
        if (
            _PLAIN_START.match(self._text, self._at) is None
            or (match := _PLAIN.match(self._text, self._at)) is None
        ):
            raise YamlError
        parts = [match[0]]
        self._at = match.end()
        while (gap := _NEXT_LINE.match(self._text, _end(_BLANKS, self._text, self._at))) is not None:
            indent = gap.end() - self._text.rfind("\n", 0, gap.end()) - 1
            if indent <= parent or _MARK.match(self._text, gap.end()) is not None:
                break
            match = _PLAIN.match(self._text, gap.end())
            if match is None:
                break
            parts += [gap[1], match[0]]
            self._at = match.end()
        text = folded("".join(parts)).rstrip(" ")
        return self._count(Node(text if tagged else Plain(text), bare=True))

    def _literal(self, parent: int) -> str:
        read = block(self._text, self._at, parent)
        if read is None:
            raise YamlError
        value, self._at = read
        return value

    def _flow(self) -> Node:
        """Read a flow collection."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise YamlError(too_many=True)
        start = self._values
        closing = "]" if self._peek() == "[" else "}"
        items: list[Any] = []
        members = Members()
        self._at += 1
        while True:
            self._next()
            if self._peek() == closing:
                break
            key, value = self._pair()
            if closing == "}":
                members.put(key, value.value if value else None)
            elif value is not None:
                single = Members()
                single.put(key, value.value)
                items.append(single.whole())
            else:
                items.append(meant(key.value))
            self._next()
            if self._peek() == ",":
                self._at += 1
            elif self._peek() != closing:
                raise YamlError
        self._at += 1
        self._depth -= 1
        self._count(Node(None))
        return Node(items if closing == "]" else members.whole(), self._values - start)

    def _next(self) -> None:
        """Pass over blanks and comments inside a flow collection, in which no document may begin."""
        self._skip()
        if self._at >= len(self._text) or _MARK.match(self._text, self._at) is not None:
            raise YamlError

    def _pair(self) -> tuple[Node, Node | None]:
        if asked := self._peek() == "?":
            self._at += 1
            self._next()
        key = self._flow_node()
        self._next()
        if self._peek() != ":":
            return key, self._count(Node(None)) if asked else None
        self._at += 1
        self._next()
        return key, self._flow_node()

    def _flow_node(self) -> Node:
        anchor = ""
        tagged = False
        while (match := _TAG.match(self._text, self._at)) or (
            self._peek() == "&" and (match := _ANCHOR.match(self._text, self._at))
        ):
            if match[0][0] == "&":
                anchor = match[1]
            else:
                tagged = True
            self._at = match.end()
            self._next()
        char = self._peek()
        if char in "\"'*[{":
            return self._named(anchor, self._marked(char))
        if char in ",]}:":
            return self._named(anchor, self._count(Node("" if tagged else None)))
        if _FLOW_START.match(self._text, self._at) is None:
            raise YamlError
        parts: list[str] = []
        while (gap := self._flow_line(parts)) is not None:
            if _MARK.match(self._text, gap.end()) is not None:
                raise YamlError
            parts.append(gap[1])
            self._at = gap.end()
        text = folded("".join(parts)).rstrip(" ")
        return self._named(anchor, self._count(Node(text if tagged else Plain(text), bare=True)))

    def _flow_line(self, parts: list[str]) -> re.Match[str] | None:
        """Take what of a plain scalar is on this line; give the gap before its next line, if it has one."""
        end = _end(_FLOW_PLAIN, self._text, self._at)
        parts.append(self._text[self._at : end])
        self._at = end
        gap = _NEXT_LINE.match(self._text, _end(_BLANKS, self._text, end))
        return gap if gap is not None and _FLOW_PLAIN.match(self._text, gap.end()) is not None else None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
