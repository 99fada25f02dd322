"""`herma status`: ask the admin listener of a running gate."""

import argparse
import os
from collections.abc import Iterator
from typing import Any

from herma.cli.local_http import NoAnswer, get_json
from herma.cli.terminal import CONFIGURATION, FINDINGS, FINE, USAGE, Terminal
from herma.config.load import load
from herma.config.scalar import parse_address
from herma.config.values import Address
from herma.errors import ConfigError

__all__ = ["find_admin", "status"]


def status(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print what the admin listener says; 1 when nothing answers."""
    address = find_admin(arguments, terminal)
    if isinstance(address, int):
        return address
    try:
        found = get_json(address, "/status")
    except NoAnswer as problem:
        terminal.note(f"herma: {problem}; is the gate running?")
        return FINDINGS
    if arguments.json:
        terminal.json(found)
        return FINE
    for line in _lines(found, ""):
        terminal.out(line)
    return FINE


def find_admin(arguments: argparse.Namespace, terminal: Terminal) -> Address | int:
    """Find the admin listener; where that fails, say why and return the exit code."""
    try:
        if arguments.admin is not None:
            return parse_address(arguments.admin)
        return load(arguments.config, os.environ).admin.address
    except ConfigError as error:
        terminal.note(f"{error}\nherma: the admin listener is unknown; mend the file or name it with --admin")
        return CONFIGURATION
    except ValueError as error:
        terminal.note(f"herma: --admin: {error}")
        return USAGE


def _lines(value: Any, name: str) -> Iterator[str]:
    """Write nested values as `a.b: value`, one a line."""
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from _lines(item, f"{name}.{key}" if name else str(key))
        case list() if value:
            for index, item in enumerate(value):
                yield from _lines(item, f"{name}[{index}]")
        case _:
            yield f"{name}: {_shown(value)}".replace("\n", " ")


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None | [] | {}:
            return "-"
        case _:
            return str(value)
