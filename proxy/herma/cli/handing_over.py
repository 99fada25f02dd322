"""How a command hands over what it has made: to standard output, or to a new file that only its owner may read."""

import argparse
from pathlib import Path
from typing import Any

from herma.cli.private_file import create_private
from herma.cli.terminal import FINDINGS, FINE, Terminal

__all__ = ["hand_over"]


def hand_over(
    name: str, text: str, said: str, arguments: argparse.Namespace, terminal: Terminal, **beside: Any
) -> int:
    """Print a text, or write it to the file of `--out`; return the exit code.

    `name` is its member with `--json`, `said` what a person is told that was written; neither repeats it. `beside` are further
    members, which are no secret.
    """
    if arguments.out is None:
        terminal.json({name: text, **beside}) if arguments.json else terminal.out(text)
        return FINE
    try:
        create_private(Path(arguments.out), text.encode("ascii") + b"\n")
    except OSError as error:
        terminal.note(
            f"herma: cannot write {arguments.out}: {error.strerror}; name a file that does not exist"
        )
        return FINDINGS
    if arguments.json:
        terminal.json({"file": arguments.out, **beside})
    else:
        terminal.note(f"herma: wrote {said} to {arguments.out}")
    return FINE
