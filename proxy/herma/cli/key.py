"""`herma key new`, `hash` and `check`.

A key is printed by `new` only, and read from a file or standard input only.
"""

import argparse
import getpass

from herma.cli.handing_over import hand_over
from herma.cli.terminal import FINDINGS, FINE, USAGE, Terminal
from herma.config.entropy import estimate_bits
from herma.config.guarded_file import FileProblem, read_guarded
from herma.config.key_floor import weakness
from herma.config.secrets import MAX_SECRET_BYTES
from herma.identity import hash_key, new_key
from herma.policy.secret import Secret

__all__ = ["HASH_FLOOR_BITS", "key_check", "key_hash", "key_new", "strong_key"]

# A stolen hash is searched at 10**11 guesses a second: 2**128 of them take longer than the sun.
HASH_FLOOR_BITS = 128
# A random key that looks like a pattern is thrown away; three times in a row it is not the key's fault.
_ATTEMPTS = 3
# What is asked of 256 random bits: the estimate may lose some to letters that look like words.
_NEW_FLOOR_BITS = 192


class _NoKey(Exception):  # noqa: N818 - ends the reading; the command tells and returns
    """There is no key to read; the message says why."""


def strong_key() -> Secret:
    """Make a key that every floor accepts."""
    for _ in range(_ATTEMPTS):
        key = new_key()
        if weakness(key.reveal().decode(), _NEW_FLOOR_BITS) is None:
            return key
    raise RuntimeError("the random source of this machine gives patterns")


def key_new(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print a new key, or write it to a new file."""
    return hand_over("key", strong_key().reveal().decode(), "a key of 256 bits", arguments, terminal)


def key_hash(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the form in which a strong key may be stored."""
    try:
        key = _read(arguments.file, terminal)
    except _NoKey as problem:
        terminal.note(f"herma: {problem}")
        return USAGE
    if found := weakness(key, HASH_FLOOR_BITS):
        terminal.note(f"herma: {found.message}; a hash is fast to search, so it needs {HASH_FLOOR_BITS} bits")
        return FINDINGS
    text = hash_key(Secret(key.encode()))
    terminal.json({"hash": text}) if arguments.json else terminal.out(text)
    return FINE


def key_check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the estimate of a key; never the key."""
    try:
        key = _read(arguments.file, terminal)
    except _NoKey as problem:
        terminal.note(f"herma: {problem}")
        return USAGE
    found = weakness(key, arguments.floor)
    bits = found.bits if found else estimate_bits(key)
    if arguments.json:
        terminal.json(
            {
                "ok": found is None,
                "bits": round(bits, 1),
                "floor": arguments.floor,
                "code": found.code if found else "",
            }
        )
    else:
        terminal.out(
            found.message if found else f"about {int(bits)} bits, the floor is {arguments.floor}: fine"
        )
    return FINDINGS if found else FINE


def _read(file: str | None, terminal: Terminal) -> str:
    if file is not None:
        try:
            content = read_guarded(file, max_bytes=MAX_SECRET_BYTES, secret=True).content
        except FileProblem as problem:
            raise _NoKey(f"{file}: {problem}") from None
    elif terminal.stdin.isatty():
        content = getpass.getpass("Key: ").encode()
    else:
        content = terminal.stdin.read(MAX_SECRET_BYTES).encode()
    try:
        key = content.decode("ascii").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise _NoKey("found bytes outside ASCII, expected one word") from None
    if not key or not key.isprintable() or " " in key:
        raise _NoKey("found no key, expected one word on one line")
    return key
