"""`herma check`: judge a configuration without opening anything."""

import argparse
import os
from collections.abc import Sequence
from typing import Any

from herma.cli.terminal import CONFIGURATION, FINE, Terminal
from herma.config.load import load
from herma.errors import ConfigError, ContentError, Problem, Source
from herma.policy.secret import Secret
from herma.runtime.generation import read_content

__all__ = ["as_json", "check", "counted"]

_INSECURE = Problem(
    Source("command line"),
    "config.insecure",
    "--insecure changes nothing: a public listener always needs a key; leave it out",
)


def check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print every problem and warning."""
    given = (_INSECURE,) if arguments.insecure else ()
    try:
        settings = load(arguments.config, os.environ)
        # `run` would refuse what cannot be read, so `check` reads it as well; what is made of it is thrown away.
        read_content(settings, Secret(b"not used"))
    except ConfigError as error:
        _report(arguments, terminal, error.problems, given, digest="")
        return CONFIGURATION
    except ContentError as error:
        problem = Problem(error.source, "content.invalid", error.reason)
        _report(arguments, terminal, (problem,), given, digest="")
        return CONFIGURATION
    _report(arguments, terminal, (), given + settings.warnings, digest=settings.digest)
    return FINE


def as_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return problems as JSON values."""
    return [
        {
            "file": problem.source.file,
            "line": problem.source.line,
            "column": problem.source.column,
            "code": problem.code,
            "message": problem.message,
        }
        for problem in problems
    ]


def counted(number: int, what: str) -> str:
    """Write `1 problem`, `2 problems`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _report(
    arguments: argparse.Namespace,
    terminal: Terminal,
    problems: Sequence[Problem],
    warnings: Sequence[Problem],
    *,
    digest: str,
) -> None:
    if arguments.json:
        terminal.json(
            {
                "file": arguments.config,
                "ok": not problems,
                "digest": digest,
                "problems": as_json(problems),
                "warnings": as_json(warnings),
            }
        )
        return
    for problem in problems:
        terminal.out(str(problem))
    for warning in warnings:
        terminal.out(f"{warning.source}: warning: {warning.code}: {warning.message}")
    if problems:
        terminal.note(f"herma: {counted(len(problems), 'problem')} in {arguments.config}")
    else:
        terminal.note(
            f"herma: {arguments.config} is fine"
            + (f", {counted(len(warnings), 'warning')}" if warnings else "")
        )
