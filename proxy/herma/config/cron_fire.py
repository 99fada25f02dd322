"""Who may start scheduled jobs from outside, and how the agent server is told."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from herma.config.files import Files
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.tokens import located
from herma.config.values import (
    Audience,
    FilePath,
    IssuerUrl,
    JobName,
    KeyHash,
    KeySetUrl,
    Name,
    Network,
    Seconds,
)
from herma.policy.secret import Secret
from herma.policy.token.form import Algorithm
from herma.yamlfile import Path

__all__ = ["CronFire", "CronFires", "Deliver", "FireIssuer", "JobKey"]


class Deliver(StrEnum):
    """How the agent server is told which job to start."""

    RUN = "run"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class FireIssuer:
    """A scheduler that signs a token (JWT) for each start."""

    name: Name = option("Name in logs.", example="scheduler")
    issuer: IssuerUrl = option(
        "The issuer (`iss`) as it calls itself, character by character.",
        example="https://scheduler.example.com",
    )
    audience: Audience = option(
        "Whom the tokens have to be for (`aud`): this agent, and nothing else.", example="agent-7"
    )
    jwks_url: KeySetUrl | None = option(
        "Where the scheduler publishes its keys; https, or http at a loopback address.",
        default=None,
        example="https://scheduler.example.com/certs",
    )
    jwks_file: FilePath | None = option("A file with the scheduler's keys, instead of a URL.", default=None)
    ca_file: FilePath | None = option(
        "PEM file with the authorities to trust for `jwks_url` instead of the system's.", default=None
    )
    algorithms: tuple[Algorithm, ...] = option(
        "Which signatures are taken.", default=tuple(Algorithm), min_items=1
    )
    max_lifetime_s: Seconds = option(
        "The longest time that a token may have been issued for.",
        default=Seconds(300.0),
        minimum=30,
        maximum=3600,
    )


@dataclass(frozen=True, slots=True)
class JobKey:
    """A key that starts one job, and opens nothing else; `herma token job` makes one."""

    name: Name = option("Name in logs; never the key itself.", example="nightly")
    job_id: JobName = option("The job.", example="0123456789ab")
    key: Secret | KeyHash = option(
        "The key: from a file, from the environment, or as a hash.", secret=True, hashed=True
    )
    profile: JobName | None = option(
        "The profile of the job, where the path names one (`/p/{profile}/…`).", default=None
    )
    expires: datetime | None = option(
        "From when on the key is refused (RFC 3339).", default=None, example="2027-01-01T00:00:00Z"
    )
    networks: tuple[Network, ...] = option(
        "Where the key may be used from; empty means anywhere.", default=()
    )


@dataclass(frozen=True, slots=True)
class CronFire:
    """Who may start scheduled jobs from outside."""

    issuers: tuple[FireIssuer, ...] = option("Schedulers that sign a token for each start.", default=())
    job_keys: tuple[JobKey, ...] = option("Keys that start one job each.", default=())
    deliver: Deliver = option(
        "`run`: answer at once, and tell the agent server with its own key to run the job. `forward`: hand the token on, "
        "for an agent server that verifies it as well.",
        default=Deliver.RUN,
    )


class CronFires:
    """Judges the parts as they are read."""

    def __init__(self, files: Files, now: datetime) -> None:
        self._files = files
        self._now = now

    def finish_issuer(
        self, reader: Reader, made: FireIssuer, path: Path, raw: Mapping[str, Any]
    ) -> FireIssuer:
        """Refuse a scheduler without keys, and find its files."""
        file, authorities = located(self._files, reader, made, path, raw, code="cron_fire.keys")
        return replace(made, jwks_file=file, ca_file=authorities)

    def finish_job_key(self, reader: Reader, made: JobKey, path: Path, _raw: Mapping[str, Any]) -> JobKey:
        """Say that a key is over; its strength is judged with the others (`keys`)."""
        if made.expires is not None and made.expires <= self._now:
            message = "the key has expired and starts nothing; remove it"
            reader.warn(reader.at((*path, "expires")), "cron_fire.expired", message)
        return made

    @staticmethod
    def finish(reader: Reader, made: CronFire, path: Path, _raw: Mapping[str, Any]) -> CronFire:
        """Refuse what opens the route to nobody, names twice, and keys that no agent server knows."""
        if not made.issuers and not made.job_keys:
            message = (
                "found neither issuers nor job_keys, so nobody may start a job; add one or take cron_fire out"
            )
            reader.problem(reader.at(path), "cron_fire.nobody", message)
        if made.deliver is Deliver.FORWARD and made.job_keys:
            message = "a job key cannot be forwarded: the agent server does not know it; use deliver: run"
            reader.problem(reader.at((*path, "deliver")), "cron_fire.deliver", message)
        for kind, entries in (("issuers", made.issuers), ("job_keys", made.job_keys)):
            names = [entry.name.lower() for entry in entries]
            for index, name in enumerate(names):
                if name in names[:index]:
                    at = reader.at((*path, kind, index, "name"))
                    earlier = reader.at((*path, kind, names.index(name), "name"))
                    reader.problem(at, "cron_fire.name", f"the name is taken at {earlier}; rename one")
        return made
