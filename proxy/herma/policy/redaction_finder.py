"""Finds secrets in one text as it is written; decoded views are somebody else's business (`redaction_view`).

The gate names the places where a rule could begin; each place is handed to the grammar of its rule.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from herma.policy import redaction_header, redaction_url
from herma.policy.fingerprint import PLACEHOLDER
from herma.policy.gate import Gate, lowered
from herma.policy.redaction_assignment import assigned, name_around
from herma.policy.redaction_block import private_key
from herma.policy.redaction_hit import Certainty, Hit
from herma.policy.redaction_name import Names
from herma.policy.redaction_pattern import CommandRule, FormatRule
from herma.policy.rule import Rule

__all__ = ["Finder", "Grammar"]


class Grammar:
    """How a rule of the redaction family finds its secrets (`options.grammar`)."""

    FORMAT = "format"
    COMMAND = "command"
    ASSIGNMENT = "assignment"
    RUN = "run"
    AUTHORIZATION = "authorization"
    SCHEME = "scheme"
    COOKIE = "cookie"
    URL = "url"
    BLOCK = "block"


type Find = Callable[[str, str, int, int], Iterable[Hit]]

# Formats without a literal (a Discord token, a Twilio key) are tried only where a run of token characters is this long.
_RUN: Final = re.compile(r"[A-Za-z0-9_.-]{34,4096}+", re.ASCII)
_DECODED: Final = {Grammar.FORMAT, Grammar.BLOCK}


class Finder:
    """All rules of the redaction family behind one gate."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.names = Names(rule for rule in rules if rule.options.get("grammar") == Grammar.ASSIGNMENT)
        self._finders: dict[str, list[Find]] = {}
        self._runs: list[FormatRule] = []
        self.rules = {rule.id: rule for rule in rules}
        for rule in rules:
            self._add(rule)
        self.gate = Gate(self._finders)
        self._by_number = [self._finders[word] for word in self.gate.keywords]
        # Whole lines must be held back in a stream when one of these words stands in them.
        self.line_words = tuple(
            word for rule in rules if rule.options.get("whole_line") for word in rule.keywords
        )

    def _add(self, rule: Rule) -> None:
        find: Find
        match rule.options.get("grammar"):
            case Grammar.FORMAT:
                fmt = FormatRule(rule)
                find = lambda text, _, start, __: fmt.at(text, start)  # noqa: E731 - one line each reads as a table
            case Grammar.COMMAND:
                command = CommandRule(rule)
                find = lambda text, _, start, __: command.at(text, start)  # noqa: E731
            case Grammar.RUN:
                self._runs.append(FormatRule(rule))
                return
            case Grammar.ASSIGNMENT:
                find = self._assigned
            case Grammar.AUTHORIZATION:
                find = lambda text, _, __, end: redaction_header.authorization(text, end)  # noqa: E731
            case Grammar.SCHEME:
                find = lambda text, _, __, end: redaction_header.bare_scheme(text, end)  # noqa: E731
            case Grammar.COOKIE:
                find = lambda text, _, __, end: redaction_header.cookie(text, end, self.names)  # noqa: E731
            case Grammar.URL:
                find = lambda text, _, start, end: redaction_url.user_info(text, start, end)  # noqa: E731
            case Grammar.BLOCK:
                find = lambda text, _, start, __: _block(text, start)  # noqa: E731
            case other:
                raise ValueError(f"rule {rule.id}: unknown grammar {other!r}")
        if not rule.keywords:
            raise ValueError(f"rule {rule.id}: a rule without keywords would never be tried")
        for word in rule.keywords:
            finders = self._finders.setdefault(word, [])
            if find not in finders:
                finders.append(find)

    def _assigned(self, text: str, lower: str, start: int, end: int) -> Iterator[Hit]:
        first, last = name_around(text, start, end)
        return assigned(text, first, last, self.names)

    def may_hold(self, text: str) -> bool:
        """Tell whether any keyword is in the text."""
        return self.gate.last_end(lowered(text)) > 0

    def find(self, text: str) -> list[Hit]:
        """Find every secret of one text, in no order; hits may overlap."""
        hits: list[Hit] = []
        lower = lowered(text)
        names: set[int] = set()
        block_end = 0
        masked = [found.span() for found in PLACEHOLDER.finditer(text)] if "[" in text else []
        for number, start, end in self.gate.hits(lower):
            # The class inside a placeholder (`[password:7f3a91c2]`) is a keyword as well.
            if any(first <= start < last for first, last in masked):
                continue
            for find in self._by_number[number]:
                if find == self._assigned:
                    # `api_key` is found as `api_key` and as `key`: one name, one look.
                    first, last = name_around(text, start, end)
                    if first in names:
                        continue
                    names.add(first)
                    hits.extend(assigned(text, first, last, self.names))
                elif start >= block_end:
                    for hit in find(text, lower, start, end):
                        hits.append(hit)
                        if hit.certainty is Certainty.BLOCK:
                            block_end = hit.end
        hits.extend(self._in_runs(text))
        if masked:
            # A hit that begins or ends inside a placeholder took it apart.
            hits = [hit for hit in hits if not any(a < hit.start < b or a < hit.end < b for a, b in masked)]
        return hits

    def _in_runs(self, text: str) -> Iterator[Hit]:
        for run in _RUN.finditer(text):
            for rule in self._runs:
                yield from rule.everywhere(text, run.start(), run.end())


def _block(text: str, start: int) -> Iterable[Hit]:
    hit = private_key(text, start)
    return () if hit is None else (hit,)
