"""Proves the rules of a directory: file by file as the loader does, then all together as the gate would use them.

The loader tries the pattern of a rule on its examples. Whether the rule finds them where they would really stand, and none of
its counter-examples, only the judge of its family can tell: other views, other rules and code have a part in it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from herma.cli.platform_proof import egress_place
from herma.content.library import EGRESS, FAMILIES, Library
from herma.content.rule_file import read_rule
from herma.content.rules import read_rule_file, rule_files
from herma.errors import ContentError, Problem, Source
from herma.policy.checks.content_judge import ContentJudge
from herma.policy.redaction.redactor import Redactor
from herma.policy.rule import Rule
from herma.policy.secret import Secret
from herma.yamlfile import load

__all__ = ["prove_directory"]

_INVALID, _UNPROVED = "rule.invalid", "rule.unproved"


def prove_directory(directory: Path, library: Library) -> tuple[list[Rule], list[Problem]]:
    """Read and prove every rule of a directory beside those of a library; give the rules and everything wrong.

    The directory holds one of each family, or is that of one family itself.
    """
    rules: list[Rule] = []
    problems: list[Problem] = []
    for family, place in _families(directory):
        try:
            files = rule_files(place)
            taken = {rule.id.casefold(): library.file_of(rule) for rule in library.rules(family)}
        except ContentError as error:
            problems.append(_problem(error))
            continue
        read: list[Rule] = []
        for entry in files:
            found = _read(entry, family, taken)
            if isinstance(found, Rule):
                read.append(found)
                taken[found.id.casefold()] = str(entry)
            else:
                problems += found
        problems += _unproved(read, place, library)
        rules += read
    if not rules and not problems and egress_place(directory) is None:
        families = ", ".join((*FAMILIES, EGRESS))
        message = f"no rules here; they stand in directories called {families}"
        problems.append(Problem(Source(str(directory)), _INVALID, message))
    return rules, problems


def _families(directory: Path) -> Iterator[tuple[str, Path]]:
    if directory.resolve().name in FAMILIES:
        yield directory.resolve().name, directory
        return
    for family in FAMILIES:
        if (directory / family).is_dir():
            yield family, directory / family


def _read(entry: Any, family: str, taken: Mapping[str, str]) -> Rule | list[Problem]:
    try:
        found = read_rule(read_rule_file(entry), str(entry), family)
    except ContentError as error:
        return [_problem(error)]
    if not isinstance(found, Rule):
        return [_problem(error) for error in found]
    other = taken.get(found.id.casefold())
    # The directory may be one of the library's own.
    if other is None or Path(other).resolve() == Path(str(entry)).resolve():
        return found
    message = f"the id {found.id!r} is taken by {other}; an id is never used twice, choose another"
    return [Problem(Source(str(entry)), _INVALID, message)]


def _problem(error: ContentError) -> Problem:
    return Problem(error.source, _INVALID, error.reason)


def _unproved(rules: Sequence[Rule], place: Path, library: Library) -> Iterator[Problem]:
    """Give the examples that the judge of the family sees otherwise than the rule says."""
    if not rules:
        return
    family = rules[0].family
    others = [rule for rule in library.rules(family) if rule.id not in {own.id for own in rules}]
    try:
        finds = _Finds(library, family, [*others, *rules])
    except ContentError as error:
        # The directory is one of the library's own.
        yield _problem(error)
        return
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"the options of one of these rules cannot be used: {type(error).__name__}: {error}"
        yield Problem(Source(str(place)), _INVALID, message)
        return
    for rule in rules:
        file = place / f"{rule.id}.yaml"
        for index, example in enumerate(rule.examples.match):
            if not finds(rule, example):
                message = f"this example is not found where it would stand; {_HINTS[family]}"
                yield Problem(_example_at(file, "match", index), _UNPROVED, message)
        for index, example in enumerate(rule.examples.no_match):
            if finds(rule, example):
                message = "this example is found in one of the forms it can take, and must not be"
                yield Problem(_example_at(file, "no_match", index), _UNPROVED, message)


def _example_at(file: Path, kind: str, index: int) -> Source:
    return load(read_rule_file(file), str(file)).at(("examples", kind, index))


_HINTS = {
    "mcp": "patterns see lower-case text of a command, a script, a URL or NAME=value; look at options.view",
    "cron": "patterns see a prompt on one line in lower case",
    "redaction": "the value may look like a placeholder or a word; look at options.check",
}


class _Finds:
    """Tells whether a rule finds a text, as the gate would ask it."""

    def __init__(self, library: Library, family: str, rules: Sequence[Rule]) -> None:
        self._family = family
        match family:
            case "mcp":
                self._judge = ContentJudge(replace(library.rule_set(), mcp=rules), None)
            case "cron":
                self._judge = ContentJudge(replace(library.rule_set(), cron=rules), None)
            case _:
                everything = [rule.id for rule in rules]
                self._redactor = Redactor(rules, Secret(b"not used: nothing is shown"), everything)

    def __call__(self, rule: Rule, text: str) -> bool:
        match self._family:
            case "mcp":
                judged = [self._judge.entry(*entry) for entry in _entries(rule, text)]
                return any(rule.id == found.rule_id for one in judged for found in one.findings)
            case "cron":
                judged = [self._judge.job({"prompt": text})]
                return any(rule.id == found.rule_id for one in judged for found in one.findings)
            case _:
                # Several rules may know one secret; which of them names it does not matter.
                return bool(self._redactor.text(text).findings)


def _entries(rule: Rule, text: str) -> Iterator[tuple[str, Any]]:
    """Put a text where it could stand: in a server entry, with its name, or in what the rule says it is about."""
    name, _, value = text.partition("=")
    match rule.options.get("of"):
        case "body":
            yield "", _parsed(text)
        case "hook":
            yield "", {"quick_commands": {"example": {"type": "exec", "command": text}}}
        case "setting":
            yield "", {name: value}
        case _:
            words = text.split(" ")
            yield "example", {"command": text}
            yield "example", {"command": words[0], "args": words[1:]}
            yield "example", {"command": "bash", "args": ["-c", text]}
            yield "example", {"url": text}
            yield "example", {"command": "npx", "args": ["-y", "example"], "env": {name: value}}
            yield "example", {"command": "npx", "args": ["-y", "example"], "env": {name.upper(): value}}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
