r"""The subset of regular expressions that rules may use, so that no text makes one slow.

Refused: back-references, conditionals, look-around wider than one character, repeats without an upper bound (unless
possessive, which never gives back), and nested repeats whose bounds multiply beyond `MAX_NESTED_REPEATS`. Allowed beyond
RE2: possessive and atomic forms, and `(?<!x)` `(?!x)` `(?<=x)` `(?=x)` with exactly one literal, escape or class: a
boundary test that costs one comparison and that a captured character could not replace, because two secrets may share it.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import regex

__all__ = ["PatternError", "compile_branches", "compile_pattern", "examine_pattern"]

# One start position may try at most this many ways through one nest of repeats; a run of 4,096 characters is the longest
# thing that a rule describes (a key in one line), and nests such as (?:\w{1,20} ){0,8} stay far below.
MAX_NESTED_REPEATS: Final = 4096
MAX_PATTERN_CHARS: Final = 4096
_LOOK: Final = ("?=", "?!", "?<=", "?<!")


class PatternError(ValueError):
    """A pattern lies outside the subset; `column` counts characters from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(slots=True)
class _Group:
    look: bool = False
    start: int = 0
    # The largest product of repeat bounds inside.
    weight: int = 1
    atoms: list[int] = field(default_factory=list)


# Rules have some 700 patterns; a reload finds nearly all of them unchanged.
MAX_COMPILED: Final = 2048


@lru_cache(MAX_COMPILED)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    r"""Compile a rule's pattern; `\b` and `\w` see ASCII only, so that CJK text beside a key is a boundary."""
    return regex.compile(pattern, regex.ASCII | regex.VERSION0)


@lru_cache(MAX_COMPILED)
def compile_branches(pattern: str) -> tuple[regex.Pattern[str], ...]:
    """Compile what stands between the outermost `|` of a rule's pattern, each by itself.

    Where one matches, the pattern does. A branch that begins with a word is looked for as fast as the word; all of them in
    one pattern are tried one after the other at every character.

    Raises:
        PatternError: the pattern is outside the subset.
    """
    examiner = _Examiner(pattern)
    examiner.run()
    if examiner.flagged:
        return (compile_pattern(pattern),)
    starts = [0, *(bar + 1 for bar in examiner.bars)]
    ends = [*examiner.bars, len(pattern)]
    return tuple(compile_pattern(pattern[start:end]) for start, end in zip(starts, ends, strict=True))


def examine_pattern(pattern: str) -> None:
    """Accept a pattern of the subset.

    Raises:
        PatternError: it is outside, or does not compile.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternError(f"a pattern has at most {MAX_PATTERN_CHARS} characters", 1)
    _Examiner(pattern).run()
    try:
        compile_pattern(pattern)
    except (regex.error, ValueError) as error:
        # The module's own fuzzy syntax raises a bare ValueError where a number is missing.
        raise PatternError(f"not a regular expression: {error}", 1) from error


class _Examiner:
    """One pass over a pattern, with a stack of open groups."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._stack = [_Group()]
        # Where the outermost alternatives part, and whether flags reach from one into the next.
        self.bars: list[int] = []
        self.flagged = False

    def run(self) -> None:
        while self._at < len(self._text):
            self._step()

    def _fail(self, message: str) -> PatternError:
        return PatternError(message, self._at + 1)

    def _step(self) -> None:
        match self._text[self._at]:
            case "(":
                self._open()
            case ")":
                self._close()
            case "[":
                self._at = self._class_end()
                self._repeat(1)
            case "\\":
                self._escape()
                self._repeat(1)
            case sign:
                if sign == "|" and len(self._stack) == 1:
                    self.bars.append(self._at)
                self._at += 1
                self._repeat(1)

    def _escape(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if not following:
            raise self._fail("a lone backslash ends the pattern")
        if following in "123456789gkKGRX":
            raise self._fail("back-references and \\K \\G \\R \\X are outside the linear subset")
        self._at += 2
        if following in "pPN" and self._text[self._at : self._at + 1] == "{":
            close = self._text.find("}", self._at)
            if close < 0:
                raise self._fail("the name of a character property is not closed")
            self._at = close + 1

    def _class_end(self) -> int:
        at = self._at + 1
        if self._text[at : at + 1] == "^":
            at += 1
        if self._text[at : at + 1] == "]":
            at += 1
        while at < len(self._text) and self._text[at] != "]":
            at += 2 if self._text[at] == "\\" else 1
        if at >= len(self._text):
            raise self._fail("a character class is not closed")
        return at + 1

    def _open(self) -> None:
        rest = self._text[self._at + 1 : self._at + 4]
        look = rest.startswith(_LOOK)
        if rest.startswith("?") and not look and rest[1:2] not in {":", ">", "P", "i", "s", "m", "x", "a"}:
            raise self._fail("this kind of group is outside the linear subset")
        if rest.startswith("?P") and rest[2:3] != "<":
            raise self._fail("back-references by name are outside the linear subset")
        if rest.startswith("?") and rest[1:2] in "ismxa":
            self._flags()
            return
        if look:
            length = 3 if rest[1] == "<" else 2
            self._stack.append(_Group(look=True, start=self._at + 1 + length))
            self._at += 1 + length
            return
        self._stack.append(_Group())
        if rest.startswith("?P<"):
            self._at = self._text.find(">", self._at) + 1 or len(self._text)
        else:
            self._at += 3 if rest.startswith("?") else 1

    def _flags(self) -> None:
        end = self._at + 2
        while self._text[end : end + 1] in {"i", "s", "m", "x", "a"}:
            end += 1
        if self._text[end : end + 1] == ")":
            self._at = end + 1
            self.flagged = True
        elif self._text[end : end + 1] == ":":
            self._stack.append(_Group())
            self._at = end + 1
        else:
            raise self._fail("these inline flags are outside the linear subset")

    def _close(self) -> None:
        if len(self._stack) == 1:
            raise self._fail("a group is closed that was never opened")
        group = self._stack.pop()
        if group.look and not _one_character(self._text[group.start : self._at]):
            raise self._fail("look-around tests exactly one character")
        self._at += 1
        self._repeat(group.weight)

    def _repeat(self, weight: int) -> None:
        """Read the quantifier behind an atom, if any."""
        bound = self._quantifier()
        total = weight * max(bound, 1)
        if total > MAX_NESTED_REPEATS:
            raise self._fail(f"nested repeats multiply beyond {MAX_NESTED_REPEATS}")
        self._stack[-1].weight = max(self._stack[-1].weight, total)

    def _quantifier(self) -> int:
        sign = self._text[self._at : self._at + 1]
        if sign == "?":
            self._at += 1
            self._suffix()
            return 1
        if sign in {"*", "+"}:
            self._at += 1
            if not self._suffix():
                raise self._fail("a repeat needs an upper bound, such as {1,64}, or must be possessive")
            # A possessive repeat walks a text once and gives nothing back: one way through.
            return 1
        if sign != "{":
            return 1
        counted = regex.match(r"\{(\d{0,5})(?:(,)(\d{0,5}))?\}", self._text, pos=self._at)
        if counted is None:
            return 1
        self._at = counted.end()
        possessive = self._suffix()
        low, comma, high = counted.groups()
        if comma and not high:
            if not possessive:
                raise self._fail("a repeat needs an upper bound, such as {1,64}, or must be possessive")
            return 1
        # {n} takes exactly n: no choice, but its work counts as the bound of the nest.
        return 1 if possessive else int(high or low or 0)

    def _suffix(self) -> bool:
        """Skip a lazy or possessive mark; tell whether it was possessive."""
        mark = self._text[self._at : self._at + 1]
        if mark in {"?", "+"}:
            self._at += 1
        return mark == "+"


def _one_character(body: str) -> bool:
    return (
        regex.fullmatch(r"\\?[^\[\]\\(){}*+?|]|\\[\\\[\](){}*+?|.]|\[\^?\]?(?:\\.|[^\]\\])*+\]", body)
        is not None
    )
