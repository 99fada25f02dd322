"""Which rules apply: by a pattern in one of the views of an entry, or by effects that come together.

The keywords of all rules are looked for once; a pattern runs where one of its rule's keywords is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import ahocorasick_rs

from herma.policy.entry.near import Near
from herma.policy.indicator.literal import required_literal
from herma.policy.pattern import compile_branches
from herma.policy.rule import Rule

__all__ = ["RulePattern", "Rulebook"]

# One rule over one entry takes some 20 microseconds. The pattern subset bounds the worst case, but a hostile text of the full
# length may still be slow in a rule that looks for two things far apart.
MAX_SEARCH_S = 0.02


class RulePattern:
    """A rule with its pattern compiled and its keywords as a first look."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.view = str(rule.options.get("view", "any"))
        branches = compile_branches(rule.pattern) if rule.pattern else ()
        # What no match can lack is looked for first, at the speed of a search for a text.
        self._branches = [
            (required_literal(branch.pattern), branch, Near.of(branch.pattern)) for branch in branches
        ]

    def matches(self, text: str) -> bool:
        """Tell whether the rule applies to a lower-cased text; False for a rule that is judged in code."""
        keywords = self.rule.keywords
        return (not keywords or any(word in text for word in keywords)) and self.found(text)

    def found(self, text: str) -> bool:
        """Tell whether the pattern is in a text that holds one of the keywords."""
        try:
            return any(
                literal in text
                and (
                    branch.search(text, timeout=MAX_SEARCH_S) is not None
                    if near is None
                    else near.found(text, MAX_SEARCH_S)
                )
                for literal, branch, near in self._branches
            )
        except TimeoutError:
            # A text that is made to be slow is not an innocent one, and what cannot be judged is refused.
            return True


class Rulebook:
    """A set of rules, asked together."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._patterns = [RulePattern(rule) for rule in rules if rule.pattern]
        # Each combination under one of its effects: most entries have hardly any.
        self._conditions: dict[str, list[tuple[frozenset[str], Rule]]] = {}
        for rule in rules:
            for row in rule.options.get("when", ()):
                self._conditions.setdefault(str(row[0]), []).append((frozenset(map(str, row)), rule))
        words: dict[str, list[RulePattern]] = {}
        for pattern in self._patterns:
            for word in pattern.rule.keywords:
                words.setdefault(word, []).append(pattern)
        self._always = [pattern for pattern in self._patterns if not pattern.rule.keywords]
        self._by_word = list(words.values())
        self._gate = ahocorasick_rs.AhoCorasick(
            list(words),
            matchkind=ahocorasick_rs.MatchKind.Standard,
            implementation=ahocorasick_rs.Implementation.DFA,
        )

    def by_pattern(self, shown: Mapping[str, str]) -> Iterator[Rule]:
        """Give the rules whose pattern is in the view it is meant for."""
        text = "\n".join(shown.values())
        met = {index for index, _, _ in self._gate.find_matches_as_indexes(text, overlapping=True)}
        candidates = dict.fromkeys(self._always)
        for index in met:
            candidates |= dict.fromkeys(self._by_word[index])
        for pattern in candidates:
            view = shown.get(pattern.view, "")
            # Each assignment by itself: `^` is the beginning of a name, whichever variable comes first.
            parts = view.split("\n") if pattern.view == "env" else [view]
            if view and any(pattern.found(part) for part in parts):
                yield pattern.rule

    def by_effect(self, effects: Iterable[str]) -> Iterator[Rule]:
        """Give the rules one of whose combinations is among the effects."""
        have = frozenset(effects)
        for effect in have:
            for row, rule in self._conditions.get(effect, ()):
                if row <= have:
                    yield rule
