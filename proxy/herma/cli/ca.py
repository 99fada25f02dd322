"""`herma ca export|env`: what the agent needs to go through the egress gate and to trust it.

The authority is made if there is none yet, so that the agent can be set up before the gate runs for the first time. Its key is never
printed.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from herma.cli.ca_variables import FORMS, variables
from herma.cli.sources import report
from herma.cli.terminal import CONFIGURATION, FINDINGS, FINE, Terminal
from herma.config.egress import Egress
from herma.config.load import load
from herma.egress.authority import Authority
from herma.egress.trust import open_authority
from herma.errors import ConfigError, ContentError

__all__ = ["add_arguments", "ca"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    exported = _action(actions, "export", "print the certificate that the agent is to trust", _export)
    exported.add_argument("--out", metavar="FILE", help="write it to this file instead of standard output")
    exported.add_argument(
        "--bundle", action="store_true", help="with the system's authorities, for variables that replace them"
    )
    env = _action(actions, "env", "print the variables that the agent is to be started with", _env)
    env.add_argument(
        "--for", dest="form", choices=sorted(FORMS), default="shell", help="how (default: shell)"
    )
    env.add_argument(
        "--ca-file", metavar="FILE", help="where the agent finds the certificate (default: where it is)"
    )
    env.add_argument(
        "--bundle-file", metavar="FILE", help="where the agent finds the bundle (default: where it is)"
    )


def _action(actions: Any, name: str, what: str, run: Any) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
    )
    action.add_argument(
        "--config", default="herma.yaml", metavar="FILE", help="the configuration (default: herma.yaml)"
    )
    action.add_argument("--json", action="store_true", help="answer in JSON")
    action.set_defaults(run=run)
    return action


def ca(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Carry out one action."""
    try:
        settings = load(arguments.config, os.environ)
        if settings.egress is None:
            terminal.note(
                f"herma: {arguments.config} has no section `egress`; add `egress: {{}}` to have the gate"
            )
            return CONFIGURATION
        authority = open_authority(settings, settings.egress)
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    if authority.note:
        terminal.note(f"herma: {authority.note}")
    code: int = arguments.run(arguments, terminal, settings.egress, authority)
    return code


def _export(arguments: argparse.Namespace, terminal: Terminal, _egress: Egress, authority: Authority) -> int:
    try:
        text = (authority.trust if arguments.bundle else authority.certificate).read_text("ascii")
        if arguments.out is not None:
            _replace(Path(arguments.out), text)
    except OSError as error:
        terminal.note(f"herma: cannot write {arguments.out}: {error.strerror}")
        return FINDINGS
    told = {"fingerprint": authority.fingerprint, "until": authority.until.isoformat()}
    match arguments.json, arguments.out:
        case True, None:
            terminal.json({**told, "certificate": text})
        case True, file:
            terminal.json({**told, "file": file})
        case _, None:
            terminal.out(text.rstrip("\n"))
        case _, file:
            terminal.note(f"herma: wrote it to {file} (SHA-256 {authority.fingerprint})")
    return FINE


def _replace(path: Path, text: str) -> None:
    """Put a file that everybody may read in the place of another at once."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("x", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _env(arguments: argparse.Namespace, terminal: Terminal, egress: Egress, authority: Authority) -> int:
    found = variables(
        str(egress.address),
        Path(arguments.ca_file).absolute() if arguments.ca_file else authority.certificate.absolute(),
        Path(arguments.bundle_file).absolute() if arguments.bundle_file else authority.trust.absolute(),
    )
    if arguments.json:
        terminal.json({"variables": found, "fingerprint": authority.fingerprint})
        return FINE
    for line in FORMS[arguments.form](found):
        terminal.out(line)
    return FINE
