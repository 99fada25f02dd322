"""`herma console`: a token that opens the console of a running gate once.

The gate writes the token where only its own user reads, and says where. So whoever can read it is that user, or root.
"""

import argparse
from typing import Any

from herma.cli.local_http import NoAnswer, get_json
from herma.cli.status import find_admin
from herma.cli.terminal import FINDINGS, FINE, Terminal
from herma.config.values import Address, Tcp
from herma.console import read_token

__all__ = ["console"]

# The port that a person forwards to a Unix socket, as the page of the documentation does.
_FORWARDED = 8644


def console(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the address of the console and a token; 1 when there is none."""
    address = find_admin(arguments, terminal)
    if isinstance(address, int):
        return address
    try:
        offer = get_json(address, "/console/token", "POST")
    except NoAnswer as problem:
        terminal.note(f"herma: {problem}; is the gate running?")
        return FINDINGS
    file, seconds = _read(offer)
    token = read_token(file)
    if token is None:
        terminal.note(
            "herma: the token cannot be read; run this as the user of the gate or as root, and in its container"
        )
        return FINDINGS
    text, url = token.reveal().decode("ascii"), _url(address)
    if arguments.json:
        terminal.json({"url": url, "token": text, "expires_in_s": seconds})
        return FINE
    if not isinstance(address, Tcp):
        terminal.note(
            f"herma: a browser needs a port that leads to {address}, such as {_FORWARDED} by ssh -L"
        )
    terminal.note(
        f"herma: open {url} and enter this token; it opens the console once, within {seconds} seconds:"
    )
    terminal.out(text)
    return FINE


def _read(offer: Any) -> tuple[str, int]:
    match offer:
        case {"file": str(file), "expires_in_s": int(seconds)}:
            return file, seconds
        case _:
            return "", 0


def _url(address: Address) -> str:
    return (
        f"http://{address}/console" if isinstance(address, Tcp) else f"http://localhost:{_FORWARDED}/console"
    )
