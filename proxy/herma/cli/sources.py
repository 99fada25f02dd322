"""What the tools judge with: the shipped content, or that of a configuration."""

import argparse
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from herma.cli.check import as_json
from herma.cli.terminal import CONFIGURATION, Terminal
from herma.config.guarded_file import FileProblem, read_guarded
from herma.config.load import load
from herma.config.secrets import MAX_SECRET_BYTES
from herma.config.settings import Settings
from herma.config.upstream import DEFAULT_UPSTREAM
from herma.content.library import Library
from herma.content.profiles import load_profile
from herma.errors import ConfigError, ContentError, Problem, Source
from herma.policy.checks import RuleSet
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.secret import Secret

__all__ = ["Sources", "add_source_options", "open_sources", "report", "today"]

# As the gate makes one for itself.
FINGERPRINT_KEY_BYTES = 32
# Shorter ones can be searched for.
MIN_KEY_BYTES = 16


def add_source_options(parser: argparse.ArgumentParser, *, fingerprints: bool = False) -> None:
    """Declare the options that choose the content."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="judge with the rules, indicators and exemptions of this configuration (default: what ships)",
    )
    if fingerprints:
        parser.add_argument(
            "--fingerprint-key-file",
            metavar="FILE",
            help="file with the key of the fingerprints (default: a new key each time)",
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """Where content comes from; reading it is left to whoever needs it."""

    library: Library
    settings: Settings | None
    key: Secret

    def rule_set(self) -> RuleSet:
        """Read what entries and jobs are judged by.

        Raises:
            ContentError: a file cannot be used.
            ConfigError: an exemption names what does not exist.
        """
        configured = self.settings.exemptions if self.settings is not None else ()
        return self.library.rule_set(configured, self.profiles().values())

    def profiles(self) -> dict[str, Profile]:
        """Read the profiles of the upstreams, by their names; the usual one without a configuration."""
        named = (
            {name: str(upstream.profile) for name, upstream in self.settings.all_upstreams().items()}
            if self.settings is not None
            else {DEFAULT_UPSTREAM: "hermes-api"}
        )
        directory = self.library.base.joinpath("profiles")
        return {name: load_profile(profile, directory) for name, profile in named.items()}

    def redactor(self) -> Redactor:
        """Make the redactor."""
        optional = self.settings.redaction.optional if self.settings is not None else ()
        return self.library.redactor(self.key, [kind.rule_id for kind in optional])


def today() -> date:
    """Give the day that exemptions expire by."""
    return datetime.now(UTC).date()


def open_sources(arguments: argparse.Namespace) -> Sources:
    """Find the content.

    Raises:
        ConfigError: the configuration or the key cannot be used.
        ContentError: the content is not there.
    """
    settings = load(arguments.config, os.environ) if arguments.config is not None else None
    key = _key(getattr(arguments, "fingerprint_key_file", None))
    if key is None and settings is not None:
        key = settings.redaction.fingerprint_key
    library = Library(settings.content if settings is not None else None)
    return Sources(library, settings, key or Secret(secrets.token_bytes(FINGERPRINT_KEY_BYTES)))


def report(error: ConfigError | ContentError, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Tell what is wrong with a configuration or a rule; return the exit code."""
    if isinstance(error, ConfigError):
        problems = error.problems
    else:
        problems = (Problem(error.source, "content.invalid", error.reason),)
    if getattr(arguments, "json", False):
        terminal.json({"ok": False, "problems": as_json(problems)})
    for problem in problems:
        terminal.note(str(problem))
    return CONFIGURATION


def _key(file: str | None) -> Secret | None:
    if file is None:
        return None
    try:
        content = read_guarded(str(Path(file)), max_bytes=MAX_SECRET_BYTES, secret=True).content
    except FileProblem as problem:
        raise ConfigError([Problem(Source(file), f"config.secret.{problem.code}", str(problem))]) from None
    key = content.strip(b"\r\n")
    if len(key) < MIN_KEY_BYTES:
        message = f"found a key of less than {MIN_KEY_BYTES} bytes; make one with `herma key new --out FILE`"
        raise ConfigError([Problem(Source(file), "config.secret.short", message)])
    return Secret(key)
