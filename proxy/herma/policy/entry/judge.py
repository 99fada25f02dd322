"""Judges one entry by what it would do.

Every string of the entry is looked at in every form it can take: as written, as the shell resolves it, decoded, with
paths resolved, with look-alikes folded. The rules (`rules/mcp`) say what must not be in it, as patterns over these forms and as
effects that come together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from herma.policy.command.assembly import assembled, assembles
from herma.policy.command.code import joined
from herma.policy.decision import Finding, Level
from herma.policy.entry.assigned import AssignedError, assigned
from herma.policy.entry.condition import Rulebook, RulePattern
from herma.policy.entry.effect import effects
from herma.policy.entry.endpoint import Endpoints
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.environment import Environment
from herma.policy.entry.fields import Fields
from herma.policy.entry.reading import MAX_VIEW_CHARS, EntryReading, forms, render
from herma.policy.entry.runner import PackagesError
from herma.policy.entry.setting import Settings
from herma.policy.entry.source import Sources
from herma.policy.entry.split import filled, joined_parts
from herma.policy.entry.url import url_effects
from herma.policy.entry.vocabulary import Vocabulary
from herma.policy.indicator import IndicatorSet
from herma.policy.indicator.spelled import respelled, spelled_out
from herma.policy.rule import Rule
from herma.policy.text.views import conceals, views

__all__ = ["OVERSIZE", "EntryJudge", "RulePattern", "Trace"]

# All strings of one entry. Real ones have a few hundred characters, inline programs a few thousand.
MAX_ENTRY_CHARS = 8 * 1024
# Strings of one entry; a list of arguments is a line, not a book.
MAX_WORDS = 512
# Members of one entry that say where it runs; what it does is asked for each.
MAX_DIRECTORIES = 4

OVERSIZE = "mcp-oversize"

# What a name cannot need, and who puts it into a command line or the path of a file may trip over.
_MORE_THAN_A_NAME = re.compile(
    r"[\x00-\x1f\x7f`]|\$[({]|(?:^|[\\/])\.\.(?:[\\/]|$)|[;|&<>]\s{0,4}(?:/|\.{1,2}/|(?:curl|wget|sh|bash|nc|python3?|node|rm|cat|id)\b)"
)

_AS_KIN = {
    **dict.fromkeys(("shell:talks", "alone:talks", "alone:fetches", "alone:connects"), "kin:talks"),
    "env:endpoint:raw": "endpoint:raw",
    "env:endpoint:plain": "endpoint:loose",
    "env:endpoint:tunnel": "endpoint:tunnel",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """What an entry is read as: its texts normalised, what is encoded in them, the lines that would run, what these do."""

    texts: tuple[str, ...]
    decoded: tuple[str, ...]
    lines: tuple[str, ...]
    effects: tuple[str, ...]


_NOTHING = Trace((), (), (), ())


class EntryJudge:
    """Judges entries by a set of rules and indicators."""

    def __init__(self, rules: Sequence[Rule], indicators: IndicatorSet) -> None:
        self._book = Rulebook(rules)
        self._vocabulary = Vocabulary(rules)
        self._sources = Sources(rules)
        self._environment = Environment(rules, self._sources)
        self._settings = Settings(rules, self._sources)
        self._endpoints = Endpoints(rules, self._sources)
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
        fields = Fields.of(entry.fields)
        if entry.kind is Kind.UNREAD or _is_too_large(entry, fields):
            # What cannot be judged whole is refused, not judged in part.
            return (Finding(OVERSIZE, Level.HIGH, entry.place),)
        try:
            return self._findings(entry, fields, EntryReading.of(fields))
        except (PackagesError, AssignedError):
            return (Finding(OVERSIZE, Level.HIGH, entry.place),)

    def trace(self, entry: Entry) -> Trace:
        """Tell what an entry is read as; of one that is too large, nothing."""
        fields = Fields.of(entry.fields)
        if _is_too_large(entry, fields):
            return _NOTHING
        read = EntryReading.of(fields)
        try:
            effects = self._effects(fields, read)
        except (PackagesError, AssignedError):
            return _NOTHING
        texts = dict.fromkeys(
            form for text in forms((*read.texts, *read.told)) for form in views(text).each()
        )
        return Trace(
            texts=tuple(texts),
            decoded=read.decoded,
            lines=read.lines,
            effects=tuple(sorted(effects)),
        )

    def _findings(self, entry: Entry, fields: Fields, read: EntryReading) -> tuple[Finding, ...]:
        shown = {
            "argv": render([" ".join(fields.words)]),
            "line": render([*read.lines, *read.decoded]),
        }
        shown["any"] = "\n".join((render(read.texts), shown["line"]))[:MAX_VIEW_CHARS]
        whole = read.whole and all(len(text) < MAX_VIEW_CHARS for text in shown.values())
        rules = {rule.id: rule for rule in self._rules(entry, fields, read, shown)}
        found = [rule.finding(entry.place) for rule in rules.values()]
        if not whole:
            found.append(Finding(OVERSIZE, Level.HIGH, entry.place))
        return (*found, *self._hits(entry, fields, read, shown["any"]))

    def _rules(
        self, entry: Entry, fields: Fields, read: EntryReading, shown: dict[str, str]
    ) -> Iterator[Rule]:
        assignments = "\n".join(
            views(f"{key}={value}").folded.replace("\n", " ")
            for env in _environments(fields, read)
            for key, value in self._environment.rest(env).items()
        )
        yield from self._book.by_pattern(shown | {"env": assignments})
        does = self._effects(fields, read)
        does.update(self._settings.effects(entry), self._endpoints.effects(entry))
        if _MORE_THAN_A_NAME.search(entry.name) is not None:
            does.add("named:command")
        if entry.kind is not Kind.SERVER:
            # A hook may well ask a service for something; a server has no reason to, before it is one.
            does = {_AS_KIN.get(effect, effect) for effect in does}
        yield from self._book.by_effect(does)

    def _effects(self, fields: Fields, read: EntryReading) -> set[str]:
        does = {
            effect
            for where in fields.directories or ("",)
            for reading in read.readings
            for effect in effects(reading, self._vocabulary, where)
        }
        does.update(self._sources.effects(call for reading in read.readings for call in reading.calls))
        does.update(self._sources.disguised(" ".join(fields.words)))
        for env in _environments(fields, read):
            does.update(self._environment.effects(env))
        for url in dict.fromkeys((fields.url, filled(fields.url, fields.env))):
            does.update(url_effects(url, fields.headers, fields.words, self._sources))
        if any(conceals(text) for text in (*fields.words, *fields.env, *fields.env.values())):
            does.add("conceals")
        return does

    def _hits(self, entry: Entry, fields: Fields, read: EntryReading, shown: str) -> tuple[Finding, ...]:
        names = [entry.name, *fields.env, *(f"{key}={value}" for key, value in fields.env.items())]
        joins = (text for code in read.texts if assembles(code) for text in joined(assembled(code)))
        texts = dict.fromkeys((entry.name, *read.texts, *read.told, *read.lines, *read.decoded, *joins))
        texts |= dict.fromkeys(_filled(fields))
        texts |= dict.fromkeys(
            form for text in tuple(texts) for form in (*respelled(text), *spelled_out(text))
        )
        together = "\n".join(dict.fromkeys(joined_parts(fields.words, fields.env)))
        if self._indicators.names_one(together):
            texts[together] = None
        if not all(map(str.isascii, texts)):
            texts[shown] = None
        indicators = dict.fromkeys([indicator for indicator, _ in self._indicators.find("\n".join(texts))])
        indicators |= dict.fromkeys(self._indicators.of_names(names))
        return tuple(indicator.finding(entry.place) for indicator in indicators)


def _environments(fields: Fields, read: EntryReading) -> list[Mapping[str, str]]:
    """Give the variables of an entry, and those that its command lines set."""
    calls = (call for reading in read.readings for call in reading.calls)
    return [fields.env, *assigned(calls, read.lines, read.texts)]


def _filled(fields: Fields) -> Iterator[str]:
    """Give the texts of an entry that its own variables change, with these filled in."""
    own = (*fields.words, fields.url, *fields.headers.values(), *fields.others, *fields.env.values())
    yield from (whole for text in own if (whole := filled(text, fields.env)) is not text)


def _is_too_large(entry: Entry, fields: Fields) -> bool:
    return (
        len(fields.words) > MAX_WORDS
        or len(fields.directories) > MAX_DIRECTORIES
        or entry.size() > MAX_ENTRY_CHARS
        or any(len(text) > MAX_ENTRY_CHARS for text in _filled(fields))
    )
