"""Exemptions in the configuration: what they look like, and what one has to be judged fit.

An exemption names one rule and one subject, says why, and ends. Whether the rule and the route exist is known when the rules
are read.
"""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from herma.config.option import derived, option
from herma.config.reader import Reader
from herma.config.values import ContentDigest, Label, Reason, RouteName, RuleId
from herma.errors import Source
from herma.yamlfile import Path

__all__ = ["Exemption", "ExemptionSubject", "Exemptions"]

# What is granted for longer is forgotten.
MAX_DAYS = 366


@dataclass(frozen=True, slots=True)
class ExemptionSubject:
    """Whom an exemption is for: exactly one of the three."""

    server: Label | None = option("Name of an MCP server, exactly.", default=None)
    job: Label | None = option("Name of a scheduled job, exactly.", default=None)
    route: RouteName | None = option(
        "Method and path as the profile has them: all that is sent there.",
        default=None,
        example="PATCH /api/jobs/{job_id}",
    )


@dataclass(frozen=True, slots=True)
class Exemption:
    """One rule that is not applied to one subject. `at` is its place in the file."""

    rule: RuleId = option("The exact id of a rule of the families `mcp` and `cron`.", example="mcp-tunnel")
    subject: ExemptionSubject = option("Whom it is for.")
    reason: Reason = option("Why; for whoever reads this next year.")
    expires: date = option("From which day (UTC) on it is not applied.", example="2027-01-31")
    digest: ContentDigest | None = option(
        "Only for this content of the server or job, as `herma explain` prints it.", default=None
    )
    at: Source = derived(default=Source(""))


class Exemptions:
    """Judges exemptions as they are read."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._seen: dict[tuple[object, ...], Source] = {}

    def finish(self, reader: Reader, made: Exemption, path: Path, _raw: Mapping[str, Any]) -> Exemption:
        """Refuse what names no subject or is there twice; warn of what has ended or will not end soon."""
        at = reader.at((*path, "rule"))
        subject = made.subject
        given = [one for one in (subject.server, subject.job, subject.route) if one is not None]
        if len(given) != 1:
            message = f"found {len(given)} subjects, expected one of server, job and route"
            reader.problem(reader.at((*path, "subject")), "exemptions.subject", message)
        if subject.route is not None and made.digest is not None:
            message = "a route has no content of its own; name the server or the job"
            reader.problem(reader.at((*path, "digest")), "exemptions.digest", message)
        same = (made.rule, subject, made.digest)
        if same in self._seen:
            message = f"the same stands at {self._seen[same]}; keep one"
            reader.problem(at, "exemptions.twice", message)
        self._seen[same] = at
        self._judge_expiry(reader, made, reader.at((*path, "expires")))
        if made.digest is None and made.expires > self._today:
            _warn_of_width(reader, made, at)
        return replace(made, at=at)

    def _judge_expiry(self, reader: Reader, made: Exemption, at: Source) -> None:
        if made.expires <= self._today:
            message = f"the exemption from {made.rule} has expired and is not applied; remove it"
            reader.warn(at, "exemptions.expired", message)
        elif made.expires - self._today > timedelta(days=MAX_DAYS):
            message = f"the exemption from {made.rule} lasts longer than a year; let it end sooner"
            reader.warn(at, "exemptions.long", message)


def _warn_of_width(reader: Reader, made: Exemption, at: Source) -> None:
    """Say what an exemption without a digest means: whoever writes an entry or a job chooses its name."""
    if made.subject.route is not None:
        found, fix = (
            "whatever is sent to this route passes the rule",
            "name the server or the job, with its digest",
        )
    else:
        found, fix = "whatever has this name passes the rule", "add the digest that `herma explain` prints"
    reader.warn(at, "exemptions.wide", f"{found}; {fix}")
