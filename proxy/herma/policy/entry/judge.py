"""Judges one entry by what it would do.

Every string of the entry is looked at in every form it can take: as written, as the shell resolves it, decoded, with
paths resolved, with look-alikes folded. The rules (`rules/mcp`) say what must not be in it, as patterns over these forms and as
effects that come together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading, read_argv, read_script
from herma.policy.decision import Finding, Level
from herma.policy.entry.condition import Rulebook, RulePattern
from herma.policy.entry.effect import effects
from herma.policy.entry.environment import Environment
from herma.policy.entry.fields import Fields
from herma.policy.entry.finder import Entry
from herma.policy.entry.source import Sources
from herma.policy.entry.url import url_effects
from herma.policy.entry.vocabulary import Vocabulary
from herma.policy.indicator import IndicatorSet
from herma.policy.rule import Rule
from herma.policy.text.unfold import unfold
from herma.policy.text.views import conceals, views

__all__ = ["EntryJudge", "RulePattern", "Trace"]

# All forms of one entry together. A page of script in a few forms has less.
MAX_VIEW_CHARS = 64 * 1024
# Decoded texts of one entry that are read as scripts.
MAX_DECODED = 32
# All strings of one entry. Real ones have a few hundred characters, inline programs a few thousand.
MAX_ENTRY_CHARS = 8 * 1024
# Strings of one entry; a list of arguments is a line, not a book.
MAX_WORDS = 512

OVERSIZE = "mcp-oversize"

_PATH = re.compile(r"(?<![\w:/])(?:~[\w.-]{0,32}|\$\{?HOME\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")
_SCRIPT = frozenset(" ;|&$")
# A value that a shell would make something of.
_COMMAND_LIKE = re.compile(r"[;|&`<>\n]\s{0,8}\S|\$\(|^\s{0,8}\S{0,80} -\w")


@dataclass(frozen=True, slots=True)
class Trace:
    """What an entry is read as: its texts normalised, what is encoded in them, the lines that would run, what these do."""

    texts: tuple[str, ...]
    decoded: tuple[str, ...]
    lines: tuple[str, ...]
    effects: tuple[str, ...]


class EntryJudge:
    """Judges entries by a set of rules and indicators."""

    def __init__(self, rules: Sequence[Rule], indicators: IndicatorSet) -> None:
        self._book = Rulebook(rules)
        self._vocabulary = Vocabulary(rules)
        self._sources = Sources(rules)
        self._environment = Environment(rules, self._sources)
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
        if len(fields.words) > MAX_WORDS or entry.size() > MAX_ENTRY_CHARS:
            # What cannot be judged whole is refused, not judged in part.
            return (Finding(OVERSIZE, Level.HIGH, entry.place),)
        read = _read(fields)
        shown = {
            "argv": _render([" ".join(fields.words)]),
            "line": _render([*read.lines, *read.decoded]),
            "any": _render([*read.texts, *read.lines, *read.decoded]),
        }
        rules = {rule.id: rule for rule in self._rules(fields, read.readings, shown)}
        found = [rule.finding(entry.place) for rule in rules.values()]
        if not all(reading.whole for reading in read.readings):
            found.append(Finding(OVERSIZE, Level.HIGH, entry.place))
        whole = "\n".join([entry.name, shown["any"], *read.texts, *read.lines, *read.decoded])
        return (*found, *self._hits(entry, fields, whole))

    def trace(self, entry: Entry) -> Trace:
        """Tell what an entry is read as; of one that is too large, nothing."""
        fields = Fields.of(entry.fields)
        if len(fields.words) > MAX_WORDS or entry.size() > MAX_ENTRY_CHARS:
            return Trace((), (), (), ())
        read = _read(fields)
        texts = dict.fromkeys(form for text in _forms(read.texts) for form in views(text).each())
        return Trace(
            texts=tuple(texts),
            decoded=read.decoded,
            lines=tuple(dict.fromkeys(read.lines)),
            effects=tuple(sorted(self._effects(fields, read.readings))),
        )

    def _rules(self, fields: Fields, readings: Sequence[Reading], shown: dict[str, str]) -> Iterator[Rule]:
        assignments = "\n".join(
            views(f"{key}={value}").folded.replace("\n", " ") for key, value in fields.env.items()
        )
        yield from self._book.by_pattern(shown | {"env": assignments})
        yield from self._book.by_effect(self._effects(fields, readings))

    def _effects(self, fields: Fields, readings: Sequence[Reading]) -> set[str]:
        does = {effect for reading in readings for effect in effects(reading, self._vocabulary)}
        does.update(self._sources.effects(call for reading in readings for call in reading.calls))
        does.update(self._environment.effects(fields.env))
        does.update(url_effects(fields.url, fields.headers, fields.words, self._sources))
        if any(conceals(text) for text in (*fields.words, *fields.env, *fields.env.values())):
            does.add("conceals")
        return does

    def _hits(self, entry: Entry, fields: Fields, text: str) -> tuple[Finding, ...]:
        names = [entry.name, *fields.env, *(f"{key}={value}" for key, value in fields.env.items())]
        indicators = dict.fromkeys([indicator for indicator, _ in self._indicators.find(text)])
        indicators |= dict.fromkeys(self._indicators.of_names(names))
        return tuple(indicator.finding(entry.place) for indicator in indicators)


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry, read."""

    texts: tuple[str, ...]
    decoded: tuple[str, ...]
    readings: tuple[Reading, ...]
    lines: tuple[str, ...]


def _read(fields: Fields) -> _Read:
    texts = (" ".join(fields.words), "".join(fields.words[1:]), *fields.texts())
    decoded = tuple(islice((inner for text in dict.fromkeys(texts) for inner in unfold(text)), MAX_DECODED))
    readings = (*_readings(fields), *(read_script(inner, fields.env) for inner in decoded))
    return _Read(texts, decoded, readings, tuple(line for reading in readings for line in reading.lines))


def _readings(fields: Fields) -> Iterator[Reading]:
    """Read the command as it is written, and as it looks where that differs."""
    yield from _of_command(fields.words, fields.env)
    read = fields.read()
    if read != fields:
        yield from _of_command(read.words, read.env)
    for value in (*fields.env.values(), *fields.others):
        if _COMMAND_LIKE.search(value):
            yield read_script(value, fields.env)


def _of_command(words: tuple[str, ...], env: Mapping[str, str]) -> Iterator[Reading]:
    if not words:
        return
    yield read_argv(words, env)
    if not _SCRIPT.isdisjoint(words[0].strip()):
        # Some clients split a command with blanks, some hand it to a shell.
        yield read_script(" ".join(words), env)


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
