"""Judges one MCP server entry by what it would do.

Every string of the entry is looked at in every form it can take: as written, as the shell resolves it, decoded, with
paths resolved, with look-alikes folded. The rules (`rules/mcp`) say what must not be in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from herma.policy.command.path import resolve_path
from herma.policy.command.shell import resolve_argv, resolve_script
from herma.policy.decision import Finding, Level
from herma.policy.entry.finder import Entry
from herma.policy.entry.url import url_effects
from herma.policy.indicator import IndicatorSet
from herma.policy.pattern import compile_pattern
from herma.policy.rule import Rule
from herma.policy.text.unfold import unfold
from herma.policy.text.views import conceals, views

__all__ = ["EntryJudge", "RulePattern"]

# All forms of one entry together. A page of script in a few forms; what is beyond is cut, the beginning is judged.
MAX_VIEW_CHARS = 64 * 1024
# One rule over one entry takes some 50 microseconds. The pattern subset bounds the worst case, but a hostile text of
# the full length may still cost a second in the two rules that look for two things far apart.
MAX_SEARCH_S = 0.2
# Decoded texts of one entry that are read as scripts.
MAX_DECODED = 64
# All strings of one entry. Real ones have a few hundred characters, inline programs a few thousand.
MAX_ENTRY_CHARS = 8 * 1024
# Strings of one entry; a list of arguments is a line, not a book.
MAX_WORDS = 512

OVERSIZE = "mcp-oversize"

_PATH = re.compile(r"(?<![\w:/])(?:~[\w.-]{0,32}|\$\{?HOME\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")


class RulePattern:
    """A rule with its pattern compiled and its keywords as a first look."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.view = str(rule.options.get("view", "any"))
        self._pattern = compile_pattern(rule.pattern) if rule.pattern else None

    def matches(self, text: str) -> bool:
        """Tell whether the rule applies to a lower-cased text; False for a rule that is judged in code."""
        if self._pattern is None or not (
            not self.rule.keywords or any(word in text for word in self.rule.keywords)
        ):
            return False
        try:
            return self._pattern.search(text, timeout=MAX_SEARCH_S) is not None
        except TimeoutError:
            # A text that is made to be slow is not an innocent one, and what cannot be judged is refused.
            return True


class EntryJudge:
    """Judges entries by a set of rules and indicators."""

    def __init__(self, rules: Sequence[Rule], indicators: IndicatorSet) -> None:
        self._rules = [RulePattern(rule) for rule in rules]
        self._by_id = {rule.id: rule for rule in rules}
        self._indicators = indicators

    def effect(self, finding: Finding) -> str:
        """Name the effect that a finding of this judge is about, for the refusal's code."""
        rule = self._by_id.get(finding.rule_id)
        if finding.rule_id == OVERSIZE:
            return "oversize"
        return str(rule.options.get("effect", "entry")) if rule is not None else "indicator"

    def judge_entry(self, entry: Entry) -> tuple[Finding, ...]:
        """Give what is wrong with an entry; a finding's level says whether it refuses."""
        fields = entry.fields
        env = {
            str(key): str(value)
            for key, value in _mapping(fields.get("env")).items()
            if isinstance(value, (str, int, float))
        }
        headers = {str(key): str(value) for key, value in _mapping(fields.get("headers")).items()}
        words = _words(fields.get("command"), fields.get("args"))
        url = fields.get("url")
        url = url if isinstance(url, str) else ""
        if len(words) > MAX_WORDS or entry.size() > MAX_ENTRY_CHARS:
            # What cannot be judged whole is refused, not judged in part.
            return (Finding(OVERSIZE, Level.HIGH, entry.place),)
        lines = self._lines(words, env)
        texts = list(
            _forms(
                [
                    " ".join(words),
                    "".join(words[1:]),
                    *words,
                    *env.values(),
                    url,
                    *headers.values(),
                    *_others(fields),
                ]
            )
        )
        decoded = list(islice((inner for text in texts for inner in unfold(text)), MAX_DECODED))
        decoded_lines = [line for inner in decoded for line in (inner, *resolve_script(inner, env))]
        shown = {
            "argv": _render([" ".join(words)]),
            "line": _render([*lines, *decoded_lines]),
            "any": _render([*texts, *lines, *decoded_lines]),
        }
        assignments = [views(f"{key}={value}").folded for key, value in env.items()]
        refused = [pattern.rule for pattern in self._rules if _applies(pattern, shown, assignments)]
        refused += [self._by_id[rule_id] for rule_id in url_effects(url, headers) if rule_id in self._by_id]
        if any(conceals(text) for text in (*words, *env, *env.values())):
            refused += [rule for rule in (self._by_id.get("mcp-concealed"),) if rule is not None]
        found = tuple(rule.finding(entry.place) for rule in {rule.id: rule for rule in refused}.values())
        hits = self._hits(entry, "\n".join([entry.name, shown["any"], *texts, *lines, *decoded_lines]), env)
        return found + hits

    def _lines(self, words: list[str], env: Mapping[str, str]) -> list[str]:
        if not words:
            return []
        lines = list(resolve_argv(words, env)[1:])
        if any(character in words[0].strip() for character in " ;|&$"):
            # Some clients split a command with blanks, some hand it to a shell.
            lines += resolve_script(" ".join(words), env)
        return lines

    def _hits(self, entry: Entry, text: str, env: Mapping[str, str]) -> tuple[Finding, ...]:
        names = [entry.name, *env, *(f"{key}={value}" for key, value in env.items())]
        indicators = dict.fromkeys([indicator for indicator, _ in self._indicators.find(text)])
        indicators |= dict.fromkeys(self._indicators.of_names(names))
        return tuple(indicator.finding(entry.place) for indicator in indicators)


def _applies(pattern: RulePattern, shown: Mapping[str, str], assignments: Iterable[str]) -> bool:
    if pattern.view == "env":
        return any(pattern.matches(assignment) for assignment in assignments)
    return pattern.matches(shown.get(pattern.view, shown["any"]))


def _mapping(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, list):
        # Some clients write the environment as a list of NAME=value.
        pairs = (item.partition("=") for item in value if isinstance(item, str))
        return {name: text for name, _, text in pairs}
    return value if isinstance(value, dict) else {}


def _words(command: Any, args: Any) -> list[str]:
    """Give the argument vector; nested lists and mappings are taken apart, for some clients join them."""
    return list(_flat([command, args]))


def _flat(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, list):
            stack += reversed(node)
        elif isinstance(node, dict):
            stack += reversed(list(node.values()))
        elif isinstance(node, (int, float)):
            yield str(node)


def _others(fields: Mapping[str, Any]) -> Iterator[str]:
    """Give the strings of fields that are not known: a guard that reads only what it knows is passed by the rest."""
    known = {"command", "args", "env", "url", "headers", "name", "description", "tools", "sampling"}
    yield from (text for key, value in fields.items() if key not in known for text in _flat(value))


def _forms(texts: Iterable[str]) -> Iterator[str]:
    for text in dict.fromkeys(texts):
        if text:
            yield text
            if "/" in text and (resolved := _PATH.sub(lambda match: resolve_path(match[0]), text)) != text:
                yield resolved


def _render(texts: Iterable[str]) -> str:
    """Write forms below each other, folded and lower-case, as the rules expect them."""
    forms = dict.fromkeys(form for text in _forms(texts) for form in views(text).each())
    return "\n".join(forms)[:MAX_VIEW_CHARS]
