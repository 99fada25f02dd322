"""`herma init`: write a first configuration, a key and the schema for editors.

Shows what it is going to write; asks before it replaces a configuration; never replaces a key.
"""

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from herma.cli.check import as_json
from herma.cli.difference import difference
from herma.cli.key import strong_key
from herma.cli.local_http import answers
from herma.cli.private_file import create_private, replace_private
from herma.cli.terminal import CONFIGURATION, FINDINGS, FINE, USAGE, Terminal
from herma.config.load import parse
from herma.config.scalar import parse_address, parse_public_name, parse_upstream
from herma.config.schema import SCHEMA_FILE, schema
from herma.config.values import UpstreamUrl
from herma.errors import ConfigError, Problem

__all__ = ["init"]

# Where a hermes-agent API server listens unless it is told otherwise.
USUAL_UPSTREAM = "http://127.0.0.1:8642"
# The variable that a hermes-agent reads its own key from.
UPSTREAM_KEY_VARIABLE = "API_SERVER_KEY"
KEY_NAME = "main"


class _Refused(Exception):  # noqa: N818 - ends the command; the exit code travels along
    """The command cannot go on."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is going to be written where."""

    config: Path
    key: Path
    schema: Path
    text: str
    upstream: UpstreamUrl
    upstream_answers: bool


def init(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Write the files, or say why not."""
    try:
        plan = _plan(arguments, os.environ)
        return _carry_out(plan, arguments, terminal)
    except _Refused as refused:
        terminal.note(f"herma: {refused}")
        return refused.exit_code
    except OSError as error:
        terminal.note(f"herma: cannot write {error.filename}: {error.strerror}")
        return FINDINGS


def _plan(arguments: argparse.Namespace, environ: Mapping[str, str]) -> _Plan:
    try:
        listen = parse_address(arguments.listen)
        names = [parse_public_name(name) for name in arguments.public_name]
        upstream = parse_upstream(arguments.upstream or USUAL_UPSTREAM)
    except ValueError as error:
        raise _Refused(str(error), USAGE) from None
    answering = answers(upstream)
    if arguments.upstream is None and not answering:
        raise _Refused(
            f"no agent server answers on {USUAL_UPSTREAM}; start it, or name it with --upstream URL", FINDINGS
        )
    config = Path(arguments.config)
    key = config.with_suffix(".key")
    lines = [
        f"# yaml-language-server: $schema=./{SCHEMA_FILE}",
        "# `herma check` judges this file, `herma run` serves with it. All settings: docs/configuration.md",
        "listen:",
        f"  - address: {_quoted(str(listen))}",
        *([f"    public_names: [{', '.join(_quoted(str(name)) for name in names)}]"] if names else []),
        "upstream:",
        f"  url: {_quoted(str(upstream))}",
        *_upstream_key(arguments.upstream_key_file, environ),
        "auth:",
        "  keys:",
        f"    - name: {KEY_NAME}",
        f"      key_file: {_quoted(key.name)}",
        "      scopes: [admin]",
        "# egress: {}   # judge what the agent sends out, too: docs/egress.md",
    ]
    return _Plan(config, key, config.with_name(SCHEMA_FILE), "\n".join(lines) + "\n", upstream, answering)


def _upstream_key(file: str | None, environ: Mapping[str, str]) -> list[str]:
    if file is not None:
        return [f"  key_file: {_quoted(str(Path(file).absolute()))}"]
    if environ.get(UPSTREAM_KEY_VARIABLE):
        return [f"  key: ${{{UPSTREAM_KEY_VARIABLE}}}"]
    return ["  # key_file: upstream.key   # the agent server's own key, if it asks for one"]


def _carry_out(plan: _Plan, arguments: argparse.Namespace, terminal: Terminal) -> int:
    before = _text_of(plan.config)
    if before == plan.text:
        terminal.note(f"herma: {plan.config} is as it should be")
    else:
        for line in difference(before or "", plan.text, str(plan.config)):
            terminal.note(line)
        if before is not None and not arguments.yes and not terminal.agrees(f"Replace {plan.config}?"):
            raise _Refused(f"left {plan.config} as it is; --yes replaces it", FINDINGS)
    written, kept = [], []
    try:
        create_private(plan.key, strong_key().reveal() + b"\n")
        written.append(plan.key)
    except FileExistsError:
        kept.append(plan.key)
    warnings = _judge(plan, terminal)
    if before != plan.text:
        replace_private(plan.config, plan.text.encode())
        written.append(plan.config)
    else:
        kept.append(plan.config)
    replace_private(plan.schema, json.dumps(schema(), indent=2).encode() + b"\n")
    written.append(plan.schema)
    _tell(plan, arguments, terminal, written, kept, warnings)
    return FINE


def _judge(plan: _Plan, terminal: Terminal) -> tuple[Problem, ...]:
    """Refuse to write what would not start."""
    try:
        return parse(plan.text.encode(), str(plan.config), os.environ).warnings
    except ConfigError as error:
        for problem in error.problems:
            terminal.note(str(problem))
        raise _Refused(
            "the configuration would not start; nothing of it was written", CONFIGURATION
        ) from None


def _tell(
    plan: _Plan,
    arguments: argparse.Namespace,
    terminal: Terminal,
    written: list[Path],
    kept: list[Path],
    warnings: tuple[Problem, ...],
) -> None:
    if arguments.json:
        terminal.json(
            {
                "written": [str(path) for path in written],
                "kept": [str(path) for path in kept],
                "upstream": str(plan.upstream),
                "upstream_answers": plan.upstream_answers,
                "warnings": as_json(warnings),
            }
        )
        return
    for path in written:
        terminal.note(f"wrote {path}")
    for path in kept:
        terminal.note(f"kept {path}")
    for warning in warnings:
        terminal.note(f"warning: {warning}")
    if not plan.upstream_answers:
        terminal.note(f"warning: {plan.upstream} does not answer yet")
    terminal.note(f"next: herma run --config {plan.config}")


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return None


def _quoted(text: str) -> str:
    # YAML single quotes know one escape: the quote, doubled.
    return "'" + text.replace("'", "''") + "'"
