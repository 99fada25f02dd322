"""Finds secrets in one text as it is written; decoded views are somebody else's business (`redaction_view`).

The gate names the places where a rule could begin; each place is handed to the grammar of its rule.
"""

import string
from collections.abc import Iterator, Sequence
from typing import Final

from herma.policy.redaction import header, url
from herma.policy.redaction.assignment import assigned, name_around
from herma.policy.redaction.block import private_key
from herma.policy.redaction.format import MAX_COMMAND_CHARS, CommandRule, FormatRule, any_format
from herma.policy.redaction.gate import Gate, lowered
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.name import Names
from herma.policy.redaction.number import NumberRule
from herma.policy.redaction.quote import open_argument, open_quote, open_windows
from herma.policy.redaction.run import Alphabet, plain
from herma.policy.redaction.sweep import STRETCH_CHARS, Grammar, Sweep
from herma.policy.redaction.work import COMMAND, HIT, LINE, RUN, VALUE, Work, passing
from herma.policy.rule import Rule

__all__ = ["Finder"]

# Formats without a literal (a Discord token, a Twilio key) are tried only where a run of token characters is this long.
MIN_RUN: Final = 34
# A pattern without a literal is tried at each character of a run; all of them take some three microseconds for a digest.
RUN_CHARS_PER_UNIT: Final = 25
_RUN: Final = Alphabet(string.ascii_letters + string.digits + "_.-", MIN_RUN)
# The grammar of names has many rules, and a number that none of them has.
_ASSIGNED: Final = -1
# Always one of the words whose line is held, so that their gate has one.
_COMMAND: Final = "echo"
# Always one of the names of lists.
_LIST: Final = "recovery codes"


class Finder:
    """All rules of the redaction family behind one gate."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = {rule.id: rule for rule in rules}
        self.names = Names(rule for rule in rules if rule.options.get("grammar") == "assignment")
        self._runs = [FormatRule(rule) for rule in rules if rule.options.get("grammar") == "run"]
        self._may_be_run = any_format(self._runs)
        # Optional classes: without one of them, no text is searched for numbers.
        self.numbers = [NumberRule(rule) for rule in rules if rule.options.get("grammar") == "number"]
        self._assigned = Grammar(
            lambda text, first, last, work: list(assigned(text, first, last, self.names, work)),
            _ASSIGNED,
            name=True,
            cost=0,
        )
        grammars: dict[str, list[Grammar]] = {}
        # What a header holds behind `Bearer` is judged once.
        self._schemes = (
            _ASSIGNED,
            *(n for n, rule in enumerate(rules) if rule.options.get("grammar") == "scheme"),
        )
        self._numbers = {rule.id: number for number, rule in enumerate(rules)}
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
        # In a stream, what stands behind these is held back for some lines: a list is told by its second entry.
        self.lists = Gate([_LIST, *(word for rule in rules for word in rule.options.get("hold_list", ()))])
        # What would explain a held line, if it came: when it may not be held any longer, it is judged with each of these.
        self.later = tuple(dict.fromkeys(text for rule in rules for text in rule.options.get("later", ())))
        # All beginnings of the prefixes above: a text may end in one.
        self.beginnings = frozenset(
            word[:count] for word in self.formats.keywords for count in range(1, len(word) + 1)
        )

    def _grammar(self, rule: Rule, number: int) -> Grammar | None:
        match rule.options.get("grammar"):
            case "format":
                fmt = FormatRule(rule)
                if fmt.behind:
                    return Grammar(lambda text, start, _, __: fmt.word_before(text, start), number)
                if fmt.around:
                    return Grammar(
                        lambda text, first, last, _: fmt.over(text, first, last), number, around=True
                    )
                return Grammar(
                    lambda text, start, _, work: fmt.at(text, start, work),
                    number,
                    bounded=fmt.bounded,
                    begins=fmt.begins,
                )
            case "command":
                command = CommandRule(rule)
                return Grammar(
                    lambda text, start, _, work: command.at(text, start, work),
                    number,
                    begins=command.begins if not command.whole_line else None,
                    line=command.whole_line,
                    command=True,
                    cost=LINE if command.whole_line else COMMAND,
                    covers=tuple(self._number(rule, other) for other in rule.options.get("covers", ())),
                )
            case "run" | "number":
                return None
            case "assignment":
                return self._assigned
            case "authorization":
                return Grammar(
                    lambda text, _, end, __: list(header.authorization(text, end)),
                    number,
                    cost=VALUE,
                    covers=self._schemes,
                )
            case "scheme":
                return Grammar(
                    lambda text, _, end, __: list(header.bare_scheme(text, end)), number, cost=VALUE
                )
            case "cookie":
                return Grammar(
                    lambda text, _, end, work: list(header.cookie(text, end, self.names, work)),
                    number,
                    cost=VALUE,
                )
            case "url":
                return Grammar(lambda text, start, end, _: list(url.user_info(text, start, end)), number)
            case "block":
                return Grammar(lambda text, start, _, __: private_key(text, start), number)
            case other:
                raise ValueError(f"rule {rule.id}: unknown grammar {other!r}")

    def _number(self, rule: Rule, other: str) -> int:
        if other not in self._numbers:
            raise ValueError(f"rule {rule.id}: options.covers names {other!r}, which is no rule")
        return self._numbers[other]

    def open_quote(self, text: str, start: int) -> int:
        """Find the quoted value beside a secret's name, or behind a command's verb, that is still open at the end of a text.

        Its end when there is none.
        """
        for first, last in open_windows(text, start):
            for number, begin, end in self.gate.hits(lowered(text[first:last])):
                if self._assigned in self._by_number[number]:
                    at = open_quote(text, *name_around(text, first + begin, first + end), self.names)
                    if at >= 0:
                        return at
        line = max(text.rfind("\n") + 1, len(text) - MAX_COMMAND_CHARS)
        at = open_argument(text, line)
        # A keyword may hold the quote that opens the value.
        return at if at < len(text) and self._verb(lowered(text[line:at])) else len(text)

    def _verb(self, lower: str) -> bool:
        hits = self.gate.hits(lower)
        return any(grammar.command for number, _, _ in hits for grammar in self._by_number[number])

    def find(self, text: str, work: Work | None = None) -> list[Hit]:
        """Find every secret of one text, in no order; hits may overlap.

        Without `work` the text has its own.
        """
        if work is None:
            work = Work(len(text))
        work.left -= passing(len(text))
        hits: list[Hit] = list(self._in_runs(text, work)) if len(text) >= MIN_RUN else []
        for rule in self.numbers:
            hits.extend(rule.everywhere(text))
        lower = lowered(text)
        places = self.gate.hits(lower) if len(text) <= STRETCH_CHARS else None
        # Most short texts hold no keyword.
        if places is None or places:
            hits.extend(Sweep(text, lower, self.gate, self._by_number, self.names, work).run(places))
        return hits

    def _in_runs(self, text: str, work: Work) -> Iterator[Hit]:
        for start, end in _RUN.runs(plain(text)):
            work.left -= RUN + (end - start) / RUN_CHARS_PER_UNIT
            if work.left < 0:
                # Masked to the end: whoever fills a text with runs hides nothing between them.
                yield Hit.unseen(text, start, len(text))
                return
            if self._may_be_run(text, start, end) is None:
                continue
            for rule in self._runs:
                for hit in rule.everywhere(text, start, end):
                    work.left -= HIT
                    yield hit
