"""`herma ioc pin`, `keygen`, `sign` and `verify`: who stands for a directory of indicators."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from herma.cli.private_file import create_private
from herma.cli.terminal import FINE, USAGE, Terminal
from herma.config.guarded_file import FileProblem, read_guarded
from herma.content.ioc import load_public_key
from herma.content.ioc.collection import read_source
from herma.content.ioc.directory import Trust, read_directory, read_file
from herma.content.ioc.manifest import MANIFEST, MAX_SERIAL
from herma.content.ioc.moment import written
from herma.content.ioc.publication import pin, replace_file
from herma.content.ioc.signature import (
    MAX_KEY_BYTES,
    MAX_SIGNATURE_BYTES,
    SIGNATURE,
    SigningKey,
    new_signing_key,
    read_signing_key,
    sign,
)
from herma.errors import ContentError, Source

__all__ = ["add_commands"]

MAX_DAYS = 3660


def add_commands(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the commands and their options."""
    pinned = command("pin", "write the manifest of a directory", _pin)
    pinned.add_argument(
        "--expires-days", type=int, metavar="DAYS", help="when the manifest ends (default: never)"
    )
    pinned.add_argument(
        "--serial", type=int, metavar="NUMBER", help="its serial (default: one above the last)"
    )
    made = command("keygen", "make an Ed25519 key that signs manifests", _keygen)
    made.add_argument(
        "--out", required=True, metavar="FILE", help="new file for the key; FILE.pub gets the public one"
    )
    signed = command("sign", "sign the manifest of a directory", _sign)
    signed.add_argument(
        "--key", required=True, metavar="FILE", help="the private key: PEM or 32 bytes, mode 0600"
    )
    signed.add_argument("--add", action="store_true", help="keep the signatures of other keys")
    verified = command("verify", "check files, manifest and signature of a directory", _verify)
    verified.add_argument(
        "--public-key",
        required=True,
        action="append",
        metavar="FILE",
        help="a key to trust; may be given more than once",
    )
    verified.add_argument(
        "--minimum-serial", type=int, default=0, metavar="NUMBER", help="lowest serial that is taken"
    )
    checked = command("check", "check the files and the manifest of a directory, but no signature", _check)
    for parser in (pinned, signed, verified, checked):
        parser.add_argument("directory", metavar="DIR", help="a directory of indicators")


def _pin(arguments: argparse.Namespace, terminal: Terminal) -> int:
    days = arguments.expires_days
    if days is not None and not 0 < days <= MAX_DAYS:
        terminal.note(f"herma: --expires-days takes 1 to {MAX_DAYS}")
        return USAGE
    if arguments.serial is not None and not 0 < arguments.serial <= MAX_SERIAL:
        terminal.note(f"herma: --serial takes 1 to {MAX_SERIAL}")
        return USAGE
    now = datetime.now(UTC)
    until = now + timedelta(days=days) if days else None
    serial, count = pin(Path(arguments.directory), now, until, arguments.serial)
    _answer(
        arguments, terminal, f"pinned {count} indicators as serial {serial}", serial=serial, indicators=count
    )
    return FINE


def _keygen(arguments: argparse.Namespace, terminal: Terminal) -> int:
    key = new_signing_key()
    private, public = Path(arguments.out), Path(arguments.out + ".pub")
    create_private(private, key.pem())
    replace_file(public, key.public.pem())
    message = (
        f"wrote a key to {private} and its public half to {public}; keep the first where nobody else reads it"
    )
    _answer(arguments, terminal, message, key=key.public.name, private=str(private), public=str(public))
    return FINE


def _sign(arguments: argparse.Namespace, terminal: Terminal) -> int:
    directory = Path(arguments.directory)
    key = _signing_key(arguments.key)
    # The files are compared first: a signature stands for what is there.
    _, manifest = read_directory(directory, Trust(datetime.now(UTC)), pinned=True)
    if manifest is None or not manifest.serial:
        message = "a manifest of schema 1 cannot be signed; run `herma ioc pin`"
        raise ContentError(message, Source(str(directory / MANIFEST)))
    target = directory / SIGNATURE
    others = read_file(target, MAX_SIGNATURE_BYTES) if arguments.add and target.exists() else b""
    try:
        replace_file(target, sign(manifest.raw, key, others))
    except ValueError as error:
        raise ContentError(str(error), Source(str(target))) from None
    message = f"signed serial {manifest.serial} with key {key.public.name}"
    _answer(arguments, terminal, message, key=key.public.name, serial=manifest.serial)
    return FINE


def _signing_key(file: str) -> SigningKey:
    try:
        return read_signing_key(read_guarded(file, max_bytes=MAX_KEY_BYTES, secret=True).content)
    except (FileProblem, ValueError) as error:
        raise ContentError(str(error), Source(file)) from None


def _verify(arguments: argparse.Namespace, terminal: Terminal) -> int:
    keys = tuple(map(load_public_key, arguments.public_key))
    return _examine(arguments, terminal, Trust(datetime.now(UTC), keys, minimum=arguments.minimum_serial))


def _check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    return _examine(arguments, terminal, Trust(datetime.now(UTC)))


def _examine(arguments: argparse.Namespace, terminal: Terminal, trust: Trust) -> int:
    directory = Path(arguments.directory)
    records, manifest, notes = read_source(directory, trust, pinned=True)
    for note in notes:
        terminal.note(f"herma: {note}")
    serial = manifest.serial if manifest else 0
    expires = written(manifest.expires) if manifest and manifest.expires else None
    said = f"{len(records)} indicators, serial {serial}" + (f", until {expires}" if expires else "")
    signed = "signed by a key that is trusted: " if trust.keys else ""
    _answer(
        arguments, terminal, signed + said, ok=True, serial=serial, indicators=len(records), expires=expires
    )
    return FINE


def _answer(arguments: argparse.Namespace, terminal: Terminal, message: str, **facts: Any) -> None:
    if arguments.json:
        terminal.json(facts)
    else:
        terminal.out(message)
