"""`herma key password`: the stored form of a person's password.

The password is typed twice at a terminal, or is the one line of standard input; it is never an argument and never printed.
"""

import argparse
import getpass

from herma.cli.handing_over import hand_over
from herma.cli.terminal import FINDINGS, USAGE, Terminal
from herma.config.password_floor import password_weakness
from herma.identity import hash_password
from herma.policy.browser.password_hash import MAX_PASSWORD_CHARACTERS, prepared

__all__ = ["key_password"]

# The longest password, at four bytes a character, and its line end.
_MAX_BYTES = 4 * MAX_PASSWORD_CHARACTERS + 2


def key_password(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the hash of a password that is strong enough, or write it to a new file."""
    typed = _typed(terminal)
    password = None if typed is None else prepared(typed)
    if typed is None or password is None:
        terminal.note(
            "herma: found no password, or two that differ; expected one on one line, typed the same twice"
        )
        return USAGE
    if problem := password_weakness(typed):
        terminal.note(f"herma: {problem}")
        return FINDINGS
    return hand_over("hash", hash_password(password).reveal(), "the hash", arguments, terminal)


def _typed(terminal: Terminal) -> str | None:
    if terminal.stdin.isatty():
        first = getpass.getpass("Password: ")
        return first if getpass.getpass("The same again: ") == first else None
    try:
        text = terminal.input.read(_MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        return None
    text = text.removesuffix("\n").removesuffix("\r")
    return text if text.isprintable() else None
