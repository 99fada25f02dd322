"""Finds secrets in one text as it is written; decoded views are somebody else's business (`redaction_view`).

The gate names the places where a rule could begin; each place is handed to the grammar of its rule.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from herma.policy.redaction import header, url
from herma.policy.redaction.assignment import assigned, name_around, open_quote
from herma.policy.redaction.block import private_key
from herma.policy.redaction.fingerprint import PLACEHOLDER
from herma.policy.redaction.format import CommandRule, FormatRule
from herma.policy.redaction.gate import Gate, lowered
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.name import Names
from herma.policy.redaction.run import Alphabet, plain
from herma.policy.rule import Rule

__all__ = ["Finder"]

type Find = Callable[[str, int, int], Iterable[Hit]]

# Formats without a literal (a Discord token, a Twilio key) are tried only where a run of token characters is this long.
_WORD_CHARACTERS: Final = frozenset(string.ascii_letters + string.digits)
MIN_RUN: Final = 34
_RUN: Final = Alphabet(string.ascii_letters + string.digits + "_.-", MIN_RUN)
# Always one of the words whose line is held, so that their gate has one.
_COMMAND: Final = "echo"
_SEPARATOR: Final = re.compile(r"[\n;|&]")
# So often a verb may find nothing before its repetitions are thinned out.
FREE_TRIES: Final = 32
# A verb repeated within so few characters of one simple command is a hostile repetition, or a path (`mysql/mysql.sock`).
SAME_COMMAND_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class _Grammar:
    """How the rules behind one keyword look at a place: `name` widens to the name first, `line` looks at a line once."""

    find: Find
    number: int
    name: bool = False
    line: bool = False
    command: bool = False
    # A word character in front rules it out.
    bounded: bool = False


class Finder:
    """All rules of the redaction family behind one gate."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = {rule.id: rule for rule in rules}
        self.names = Names(rule for rule in rules if rule.options.get("grammar") == "assignment")
        self._runs = [FormatRule(rule) for rule in rules if rule.options.get("grammar") == "run"]
        self._assigned = _Grammar(
            lambda text, first, last: assigned(text, first, last, self.names), -1, name=True
        )
        grammars: dict[str, list[_Grammar]] = {}
        for number, rule in enumerate(rules):
            grammar = self._grammar(rule, number)
            if grammar is None:
                continue
            if not rule.keywords:
                raise ValueError(f"rule {rule.id}: a rule without keywords would never be tried")
            for word in rule.keywords:
                if grammar not in grammars.setdefault(word, []):
                    grammars[word].append(grammar)
        self.gate = Gate(grammars)
        # Public beginnings of credentials: what follows one is secret, whether or not it is complete.
        self.formats = Gate(
            word
            for rule in rules
            if rule.options.get("grammar") == "format"
            for word in rule.keywords
            if len(word) >= 3
        )
        self._by_number = [grammars[word] for word in self.gate.keywords]
        # In a stream, the line of these words is held back: what stands before them may be the secret.
        self.commands = Gate([_COMMAND, *(word for rule in rules for word in rule.options.get("hold", ()))])
        # All beginnings of the prefixes above: a text may end in one.
        self.beginnings = frozenset(
            word[:count] for word in self.formats.keywords for count in range(1, len(word) + 1)
        )

    def _grammar(self, rule: Rule, number: int) -> _Grammar | None:
        match rule.options.get("grammar"):
            case "format":
                fmt = FormatRule(rule)
                return _Grammar(lambda text, start, _: fmt.at(text, start), number, bounded=fmt.bounded)
            case "command":
                command = CommandRule(rule)
                return _Grammar(
                    lambda text, start, _: command.at(text, start),
                    number,
                    line=command.whole_line,
                    command=True,
                )
            case "run":
                return None
            case "assignment":
                return self._assigned
            case "authorization":
                return _Grammar(lambda text, _, end: header.authorization(text, end), number)
            case "scheme":
                return _Grammar(lambda text, _, end: header.bare_scheme(text, end), number)
            case "cookie":
                return _Grammar(lambda text, _, end: header.cookie(text, end, self.names), number)
            case "url":
                return _Grammar(url.user_info, number)
            case "block":
                return _Grammar(lambda text, start, _: private_key(text, start), number)
            case other:
                raise ValueError(f"rule {rule.id}: unknown grammar {other!r}")

    def open_quote(self, text: str, start: int) -> int:
        """Find the quoted value beside a secret's name that is still open at the end of a text; its end when there is none."""
        for number, first, last in self.gate.hits(lowered(text[start:])):
            if self._assigned in self._by_number[number]:
                at = open_quote(text, *name_around(text, start + first, start + last), self.names)
                if at >= 0:
                    return at
        return len(text)

    def find(self, text: str) -> list[Hit]:
        """Find every secret of one text, in no order; hits may overlap."""
        hits: list[Hit] = list(self._in_runs(text)) if len(text) >= MIN_RUN else []
        places = self.gate.hits(lowered(text))
        if not places:
            return hits
        places.sort(key=_start)
        masked = [found.span() for found in PLACEHOLDER.finditer(text)] if "[" in text else []
        # Where each grammar has already looked: a hostile repetition is read once, not once a repetition.
        seen: dict[int, int] = {}
        failures: dict[int, int] = {}
        marks = iter([*masked, (len(text), len(text))])
        first, last = next(marks)
        for number, start, end in places:
            while start >= last and first < len(text):
                first, last = next(marks)
            # The class inside a placeholder (`[password:7f3a91c2]`) is a keyword as well.
            if first <= start < last:
                continue
            inside = text[start - 1 : start] in _WORD_CHARACTERS
            for grammar in self._by_number[number]:
                if grammar.bounded and inside:
                    continue
                if start >= seen.get(grammar.number, 0):
                    hits.extend(self._look(grammar, text, start, end, seen, failures))
        if masked:
            # A hit that begins or ends inside a placeholder took it apart.
            hits = [hit for hit in hits if not any(a < hit.start < b or a < hit.end < b for a, b in masked)]
        return hits

    def _look(
        self,
        grammar: _Grammar,
        text: str,
        start: int,
        end: int,
        seen: dict[int, int],
        failures: dict[int, int],
    ) -> Iterable[Hit]:
        if grammar.name:
            start, end = name_around(text, start, end)
            # `api_key` is found as `api_key` and as `key`: one name, one look.
            seen[grammar.number] = end
            name = text[start:end].strip("-.")
            # What stands before a bare `key` may tell more.
            if self.names.classify(name) is None and name.lower() != "key":
                return ()
        elif grammar.line:
            line_end = text.find("\n", start)
            seen[grammar.number] = line_end if line_end >= 0 else len(text)
        hits = list(grammar.find(text, start, end))
        if hits and not grammar.line:
            seen[grammar.number] = max(hit.end for hit in hits)
        elif grammar.command and not grammar.line and failures.get(grammar.number, 0) < FREE_TRIES:
            failures[grammar.number] = failures.get(grammar.number, 0) + 1
        elif grammar.command and not grammar.line:
            # What this verb did not find, the same verb a few characters on will not find either.
            separator = _SEPARATOR.search(text, end, end + SAME_COMMAND_CHARS)
            seen[grammar.number] = separator.start() if separator else end + SAME_COMMAND_CHARS
        return hits

    def _in_runs(self, text: str) -> Iterator[Hit]:
        for start, end in _RUN.runs(plain(text)):
            for rule in self._runs:
                yield from rule.everywhere(text, start, end)


def _start(hit: tuple[int, int, int]) -> int:
    return hit[1]
