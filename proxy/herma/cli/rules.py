"""`herma rules list|show|test`: which rules there are, what one says, and whether one's own are right.

The platforms of the egress gate, the hosts of models and the services stand beside the rules, as the family `egress`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from herma.cli.check import as_json, counted
from herma.cli.platform_list import (
    models_line,
    models_summary,
    platform_line,
    platform_summary,
    services_line,
    services_summary,
)
from herma.cli.platform_proof import egress_place, prove_platforms, unproved_platforms
from herma.cli.rule_proof import prove_directory
from herma.cli.sources import add_source_options, open_sources, report
from herma.cli.terminal import FINDINGS, FINE, Terminal
from herma.content.egress import PlatformFile
from herma.content.library import EGRESS, FAMILIES, Library
from herma.content.rules import read_rule_file
from herma.errors import ConfigError, ContentError
from herma.policy.decision import Level
from herma.policy.rule import Rule
from herma.yamlfile import load

__all__ = ["add_arguments", "rules"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listed = _action(actions, "list", "name every rule", _list)
    listed.add_argument("--family", choices=(*FAMILIES, EGRESS), help="of this family only")
    listed.add_argument("--level", choices=[level.value for level in Level], help="of this level only")
    listed.add_argument("--tag", metavar="TECHNIQUE", help="with this ATT&CK technique only, such as T1552")
    shown = _action(actions, "show", "print a rule and where it is defined", _show)
    shown.add_argument("id", metavar="ID", help="the exact id of the rule")
    tested = _action(actions, "test", "prove the rules of a directory, and tell every problem", _test)
    tested.add_argument(
        "directory",
        nargs="?",
        metavar="DIR",
        help="rules of your own, in mcp/, cron/, redaction/ and egress/ (default: those that the gate would load)",
    )
    for action in (listed, shown, tested):
        action.add_argument("--json", action="store_true", help="answer in JSON")
        add_source_options(action)


def _action(actions: Any, name: str, what: str, run: Any) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
    )
    action.set_defaults(run=run)
    return action


def rules(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Carry out one action; 1 when a rule is not there or not right."""
    try:
        code: int = arguments.run(arguments, terminal, open_sources(arguments).library)
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    return code


def _list(arguments: argparse.Namespace, terminal: Terminal, library: Library) -> int:
    found = [
        rule
        for family in FAMILIES
        if arguments.family in {None, family}
        for rule in library.rules(family)
        if arguments.level in {None, rule.level.value} and _tagged(rule, arguments.tag)
    ]
    # Neither has a level or a technique.
    whole = arguments.family in {None, EGRESS} and arguments.level is None and arguments.tag is None
    platforms = library.platform_files() if whole else ()
    models = library.models() if whole else ()
    services = library.services() if whole else ()
    if arguments.json:
        listed = [_summary(rule, library) for rule in found]
        listed += map(platform_summary, platforms)
        terminal.json([*listed, *models_summary(models, library), *services_summary(services, library)])
        return FINE
    for rule in found:
        terminal.out(f"{rule.family:<9}  {rule.id:<32}  {rule.level:<8}  {rule.status:<6}  {rule.title}")
    for line in (*map(platform_line, platforms), *models_line(models), *services_line(services)):
        terminal.out(line)
    terminal.note(f"herma: {_counts(len(found), len(platforms), len(models), len(services))}")
    return FINE


def _counts(rules: int, platforms: int, models: int = 0, services: int = 0) -> str:
    told = [counted(rules, "rule")] if rules or not platforms else []
    told += [counted(platforms, "platform")] if platforms else []
    told += [f"{counted(models, 'host')} of models"] if models else []
    return ", ".join([*told, counted(services, "service")] if services else told)


def _tagged(rule: Rule, tag: str | None) -> bool:
    """Tell whether a rule has the technique or one below it: T1552 has T1552.001."""
    return tag is None or any(own == tag or own.startswith(f"{tag}.") for own in rule.tags)


def _summary(rule: Rule, library: Library) -> dict[str, Any]:
    return {
        "family": rule.family,
        "id": rule.id,
        "level": rule.level,
        "status": rule.status,
        "title": rule.title,
        "tags": list(rule.tags),
        "file": library.file_of(rule),
    }


def _show(arguments: argparse.Namespace, terminal: Terminal, library: Library) -> int:
    found = [rule for family in FAMILIES for rule in library.rules(family) if rule.id == arguments.id]
    files = library.egress_files(arguments.id)
    if not found and not files:
        terminal.note("herma: no rule has this id; `herma rules list` names them")
        return FINDINGS
    for rule in found:
        if arguments.json:
            terminal.json({**asdict(rule), "file": library.file_of(rule)})
        else:
            terminal.out(f"# {library.file_of(rule)}")
            terminal.out(library.text_of(rule).rstrip("\n"))
    for file in files:
        raw = read_rule_file(file)
        if arguments.json:
            terminal.json({**load(raw, str(file)).value, "family": EGRESS, "file": str(file)})
        else:
            terminal.out(f"# {file}")
            terminal.out(raw.decode().rstrip("\n"))
    return FINE


def _test(arguments: argparse.Namespace, terminal: Terminal, library: Library) -> int:
    if arguments.directory is None:
        # Reading rules is their proof; what is wrong ends the command.
        read: Sequence[Rule] = [rule for family in FAMILIES for rule in library.rules(family)]
        platforms: Sequence[PlatformFile] = library.platform_files()
        library.models()
        library.services()
        problems = list(unproved_platforms(platforms, library))
    else:
        directory = Path(arguments.directory)
        read, problems = prove_directory(directory, library)
        place = egress_place(directory)
        platforms, more = prove_platforms(place, library) if place is not None else ((), [])
        problems += more
    listed = sorted(problems, key=lambda one: (one.source.file, one.source.line, one.source.column))
    if arguments.json:
        counts = {"rules": len(read), "platforms": len(platforms)}
        terminal.json({"ok": not listed, **counts, "problems": as_json(listed)})
    else:
        for problem in listed:
            terminal.out(str(problem))
        terminal.note(
            f"herma: {_counts(len(read), len(platforms))} proved, {counted(len(listed), 'problem')}"
        )
    return FINDINGS if listed else FINE
