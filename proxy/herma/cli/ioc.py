"""`herma ioc`: look at indicators, import them from other formats, pin and sign them."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from herma.cli import ioc_signing
from herma.cli.terminal import CONFIGURATION, FINDINGS, FINE, USAGE, Terminal
from herma.config.load import load
from herma.content.ioc import Collection, IndicatorSources, collect
from herma.content.ioc.draft import MAX_DRAFTS, Imported, Skipped, Terms, slug, stricter
from herma.content.ioc.foreign import MAX_FOREIGN_BYTES, import_foreign
from herma.content.ioc.moment import written
from herma.content.ioc.publication import pin, publish
from herma.content.ioc.record import Record
from herma.content.ioc.value import normal_value
from herma.content.library import Library
from herma.content.shipped import data_dir
from herma.errors import ConfigError, ContentError, Source
from herma.policy.indicator import Action

__all__ = ["ioc"]


def ioc(words: Sequence[str], terminal: Terminal) -> int:
    """Run one of the commands below `herma ioc`."""
    try:
        arguments = _parser().parse_args(words)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    try:
        code: int = arguments.command(arguments, terminal)
    except ConfigError as error:
        for problem in error.problems:
            terminal.note(f"herma: {problem}")
        return CONFIGURATION
    except ContentError as error:
        terminal.note(f"herma: {error}")
        return FINDINGS
    except OSError as error:
        terminal.note(f"herma: {error.filename or 'a file'}: {error.strerror}")
        return FINDINGS
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="herma ioc", description="Look at indicators, import, pin and sign them.", allow_abbrev=False
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def command(name: str, what: str, run: Any) -> argparse.ArgumentParser:
        made = actions.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
        )
        made.set_defaults(command=run)
        made.add_argument("--json", action="store_true", help="answer in JSON")
        return made

    listed = command("list", "list the indicators", _list)
    shown = command("show", "show one indicator", _show)
    shown.add_argument("id", metavar="ID", help="the id of an indicator")
    for one in (listed, shown):
        one.add_argument(
            "--dir", metavar="DIR", help="a directory of indicators (default: those that ship with herma)"
        )
        one.add_argument("--config", metavar="FILE", help="the indicators of this configuration")
    imported = command(
        "import", "write the indicators of STIX bundles and MISP events as a directory", _import
    )
    imported.add_argument("files", nargs="+", metavar="FILE", help="STIX 2.1 bundle or MISP event, in JSON")
    imported.add_argument(
        "--out", required=True, metavar="DIR", help="directory to write; made if it is not there"
    )
    imported.add_argument(
        "--campaign", metavar="NAME", help="campaign of all of them (default: as the files say)"
    )
    imported.add_argument(
        "--action",
        choices=("block", "alert"),
        default="block",
        help="what follows when one is met (default: block)",
    )
    imported.add_argument(
        "--force", action="store_true", help="let indicators refuse even what everybody uses"
    )
    imported.add_argument("--replace", action="store_true", help="replace the indicators that DIR holds")
    imported.add_argument("--expires-days", type=int, metavar="DAYS", help="when the manifest ends")
    ioc_signing.add_commands(command)
    return parser


def _collection(arguments: argparse.Namespace) -> Collection:
    now = datetime.now(UTC)
    if arguments.config:
        import os

        return Library(load(arguments.config, os.environ).content).collection(now)
    if arguments.dir:
        return collect(IndicatorSources(Path(arguments.dir), shipped=False), now)
    return collect(IndicatorSources(data_dir("ioc")), now)


def _list(arguments: argparse.Namespace, terminal: Terminal) -> int:
    found = _collection(arguments)
    if arguments.json:
        terminal.json([_as_json(record) for record in found.records])
        return FINE
    for record in found.records:
        one = record.indicator
        terminal.out(f"{one.id:<32} {one.action.value:<7} {one.matching.value:<9} {one.value}")
    for note in found.notes:
        terminal.note(f"herma: {note}")
    terminal.note(f"herma: {len(found.records)} indicators")
    return FINE


def _show(arguments: argparse.Namespace, terminal: Terminal) -> int:
    wanted = arguments.id.removeprefix("ioc-")
    record = next((one for one in _collection(arguments).records if one.indicator.id == wanted), None)
    if record is None:
        terminal.note("herma: no indicator in force has this id; `herma ioc list` shows them")
        return FINDINGS
    facts = _as_json(record)
    if arguments.json:
        terminal.json(facts)
        return FINE
    for key, value in facts.items():
        for line in value if isinstance(value, list) else [value]:
            if line not in {None, ""}:
                terminal.out(f"{key}: {line}")
    return FINE


def _as_json(record: Record) -> dict[str, Any]:
    one = record.indicator
    return {
        "id": one.id,
        "value": one.value,
        "match": one.matching.value,
        "type": record.kind,
        "campaign": one.campaign,
        "action": one.action.value,
        "ecosystem": one.ecosystem,
        "versions": list(one.versions),
        "valid_from": written(record.valid_from) if record.valid_from else None,
        "valid_until": written(record.valid_until) if record.valid_until else None,
        "note": record.note,
        "references": list(record.references),
        "file": record.file,
    }


def _import(arguments: argparse.Namespace, terminal: Terminal) -> int:
    now = datetime.now(UTC)
    campaign = slug(arguments.campaign, "") if arguments.campaign else ""
    if arguments.campaign and campaign != arguments.campaign:
        terminal.note(
            f"herma: a campaign has lower-case letters, digits and dashes, such as {campaign or 'my-list'}"
        )
        return USAGE
    if arguments.expires_days is not None and not 0 < arguments.expires_days <= 3660:
        terminal.note("herma: --expires-days takes 1 to 3660")
        return USAGE
    terms = Terms(now, Action(arguments.action), campaign, arguments.force)
    found = _merged([(file, import_foreign(_read(file), file, terms)) for file in arguments.files])
    if found.records:
        publish(Path(arguments.out), found.records, replace=arguments.replace)
        expires = now + timedelta(days=arguments.expires_days) if arguments.expires_days else None
        pin(Path(arguments.out), now, expires)
    _report(arguments, terminal, found)
    return FINE if found.records else FINDINGS


def _read(file: str) -> bytes:
    with Path(file).open("rb") as opened:
        content = opened.read(MAX_FOREIGN_BYTES + 1)
    if len(content) > MAX_FOREIGN_BYTES:
        raise ContentError(f"larger than {MAX_FOREIGN_BYTES} bytes", Source(file))
    return content


def _merged(found: Sequence[tuple[str, Imported]]) -> Imported:
    records: dict[tuple[str, str], Record] = {}
    skipped: list[Skipped] = []
    other: dict[str, int] = {}
    for file, one in found:
        for record in one.records:
            key = (record.indicator.matching.value, normal_value(record.indicator))
            records[key] = stricter(records[key], record) if key in records else record
        skipped += one.skipped
        for kind, number in one.other.items():
            other[kind] = other.get(kind, 0) + number
        if len(records) > MAX_DRAFTS:
            raise ContentError(f"more than {MAX_DRAFTS} indicators in all", Source(file))
    return Imported(tuple(records.values()), tuple(skipped), other)


def _report(arguments: argparse.Namespace, terminal: Terminal, found: Imported) -> None:
    if arguments.json:
        terminal.json(
            {
                "out": arguments.out if found.records else None,
                "imported": [_as_json(record) | {"file": ""} for record in found.records],
                "skipped": [{"id": one.id, "reason": one.reason} for one in found.skipped],
                "other_objects": dict(found.other),
            }
        )
        return
    for record in found.records:
        one = record.indicator
        terminal.out(f"{one.action.value:<7} {one.matching.value:<9} {one.value}")
    for left in found.skipped:
        terminal.out(f"skipped {left.id or 'an object'}: {left.reason}")
    if found.other:
        kinds = ", ".join(f"{number} {kind}" for kind, number in found.other.items())
        terminal.note(f"herma: not indicators by their kind: {kinds}")
    outcome = f"in {arguments.out}" if found.records else "nothing was written"
    terminal.note(f"herma: {len(found.records)} imported, {len(found.skipped)} skipped; {outcome}")
