"""STIX patterns (STIX 2.1, section 9), read into a tree: what is compared, and what joins the comparisons.

Every construct of the language is read; what an indicator cannot express is judged by the caller. Bounds come first: a
pattern is text from somebody else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Comparison", "Every", "Node", "Observed", "PatternError", "Some", "parse_pattern"]

# Real patterns have a few hundred characters; lists of one campaign a few thousand.
MAX_PATTERN_CHARS = 64 * 1024
MAX_TESTS = 2000
MAX_DEPTH = 32

# Blanks and the two kinds of comments of the grammar.
_SPACE = r"(?:\s|/\*(?:[^*]|\*(?!/))*+\*/|//[^\r\n]*+)*+"
_BLANK = re.compile(_SPACE)
_TOKEN = re.compile(
    _SPACE
    + r"""(?:
    (?P<string>'(?:[^'\\]|\\.)*+')
    |(?P<typed>[tbh]'(?:[^'\\]|\\.)*+')
    |(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)(?![\w.])
    |(?P<path>[a-z0-9-]{3,250}:(?:[\w-]+|'(?:[^'\\]|\\.)*+')(?:\.(?:[\w-]+|'(?:[^'\\]|\\.)*+')|\[(?:[0-9]{1,6}|\*)\])*+)
    |(?P<word>[A-Za-z]+)
    |(?P<sign>==|!=|<>|<=|>=|[=<>\[\](),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_PATH_PART = re.compile(r"'((?:[^'\\]|\\.)*+)'|([\w-]+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_OPERATORS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_WORDS = {"LIKE", "MATCHES", "ISSUBSET", "ISSUPERSET"}


class PatternError(ValueError):
    """The text is no STIX pattern, or larger than one should be; the message repeats nothing of it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison: `path` as `file:hashes.SHA-256`, the operator upper-case, the values as text."""

    path: str
    operator: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Some:
    """Any of the parts is enough (OR)."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Every:
    """All parts are needed (AND, FOLLOWEDBY); `joined` inside one observation, otherwise over several."""

    parts: tuple["Node", ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation with a qualifier: within a time, so many times, or in a window."""

    part: "Node"


type Node = Comparison | Some | Every | Observed


def parse_pattern(text: str) -> Node:
    """Read a pattern whole.

    Raises:
        PatternError: it is none, or too large.
    """
    if len(text) > MAX_PATTERN_CHARS:
        raise PatternError(f"the pattern has more than {MAX_PATTERN_CHARS} characters")
    return _Parser(text).run()


class _Parser:
    """Recursive descent with a counted depth; operators bind as the standard says: AND, then OR, then FOLLOWEDBY."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0
        self._tests = 0

    def run(self) -> Node:
        node = self._observations()
        if self._at < len(self._tokens):
            raise PatternError("something stands behind the end of the pattern")
        return node

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *wanted: str) -> str:
        kind, text = self._peek()
        if text not in wanted and kind not in wanted:
            raise PatternError(f"expected {' or '.join(wanted)} at token {self._at + 1}")
        self._at += 1
        return text

    def _is(self, *words: str) -> bool:
        kind, text = self._peek()
        return kind in {"word", "sign"} and text in words

    def _observations(self) -> Node:
        return self._level(self._either, "FOLLOWEDBY", self._apart)

    def _either(self) -> Node:
        return self._level(lambda: self._level(self._observation, "AND", self._apart), "OR", Some)

    @staticmethod
    def _apart(parts: tuple[Node, ...]) -> Node:
        return Every(parts, joined=False)

    @staticmethod
    def _joined(parts: tuple[Node, ...]) -> Node:
        return Every(parts, joined=True)

    def _level(self, part: Callable[[], Node], word: str, join: Callable[[tuple[Node, ...]], Node]) -> Node:
        parts = [part()]
        while self._is(word):
            self._at += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else join(tuple(parts))

    def _observation(self) -> Node:
        with_depth = self._enter()
        if self._take("[", "(") == "[":
            node = self._comparisons()
            self._take("]")
        else:
            node = self._observations()
            self._take(")")
        self._depth = with_depth
        while self._is("WITHIN", "REPEATS", "START"):
            node = Observed(node)
            self._qualifier()
        return node

    def _qualifier(self) -> None:
        match self._take("word"):
            case "WITHIN":
                self._take("number")
                self._take("SECONDS")
            case "REPEATS":
                self._take("number")
                self._take("TIMES")
            case _:
                self._take("typed", "string")
                self._take("STOP")
                self._take("typed", "string")

    def _enter(self) -> int:
        before = self._depth
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise PatternError(f"the pattern is nested deeper than {MAX_DEPTH} levels")
        return before

    def _comparisons(self) -> Node:
        return self._level(lambda: self._level(self._comparison, "AND", self._joined), "OR", Some)

    def _comparison(self) -> Node:
        if self._is("("):
            before = self._enter()
            self._at += 1
            node = self._comparisons()
            self._take(")")
            self._depth = before
            return node
        return self._test()

    def _test(self) -> Node:
        self._tests += 1
        if self._tests > MAX_TESTS:
            raise PatternError(f"the pattern has more than {MAX_TESTS} comparisons")
        before = self._negation()
        if self._is("EXISTS"):
            self._at += 1
            return Comparison(_path(self._take("path")), "EXISTS", (), before)
        path = _path(self._take("path"))
        negated = self._negation() != before
        kind, text = self._peek()
        self._at += 1
        if text == "IN":
            return Comparison(path, "IN", self._list(), negated)
        operator = _OPERATORS.get(text) if kind == "sign" else text if text in _WORDS else None
        if operator is None:
            raise PatternError(f"expected an operator at token {self._at}")
        values = (self._literal(),)
        if operator == "!=":
            return Comparison(path, "=", values, not negated)
        return Comparison(path, operator, values, negated)

    def _negation(self) -> bool:
        if not self._is("NOT"):
            return False
        self._at += 1
        return True

    def _list(self) -> tuple[str, ...]:
        self._take("(")
        values = [self._literal()]
        while self._take(",", ")") == ",":
            values.append(self._literal())
            if len(values) > MAX_TESTS:
                raise PatternError(f"a list has more than {MAX_TESTS} values")
        return tuple(values)

    def _literal(self) -> str:
        kind, text = self._peek()
        self._take("string", "typed", "number", "true", "false")
        match kind:
            case "string":
                return _unescaped(text[1:-1])
            case "typed":
                return _unescaped(text[2:-1])
            case _:
                return text


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while _BLANK.fullmatch(text, at) is None:
        match = _TOKEN.match(text, at)
        if match is None:
            raise PatternError(f"found no token at character {at + 1}")
        kind = match.lastgroup or ""
        tokens.append((kind, match[kind]))
        at = match.end()
    return tokens


def _path(text: str) -> str:
    """Write a path without quotes and indexes: `file:hashes.'SHA-256'` becomes `file:hashes.SHA-256`."""
    kind, _, rest = text.partition(":")
    rest = re.sub(r"\[(?:[0-9]+|\*)\]", "", rest)
    parts = [
        _unescaped(match[1]) if match[1] is not None else match[2] for match in _PATH_PART.finditer(rest)
    ]
    return f"{kind}:{'.'.join(parts)}"


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
