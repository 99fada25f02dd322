"""Exemptions: one rule is not applied to one subject, until a day.

Both are named exactly, without wildcards. What is exempted is still reported, as informational and marked. A name is no
proof: whoever may write an entry chooses its name. So an exemption may be pinned to the content it was granted for, by its
digest; then another entry of the same name gains nothing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

from herma.policy.decision import Finding, Level
from herma.policy.routing.route import Route

__all__ = ["NONE", "Exemption", "Exemptions", "Kind", "Subject", "digest_of", "passage", "route_name"]

_DIGEST = "sha256:"


class Kind(StrEnum):
    """What a subject is."""

    SERVER = "server"
    JOB = "job"
    ROUTE = "route"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a finding is about: a server or job by its name, or a route as `METHOD /template`."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Exemption:
    """One rule for one subject; not applied from the day `expires` (UTC) on.

    With a `digest` it applies only to that content: the whole entry of a server; of a job, the text a finding is about and
    where it stands.
    """

    rule_id: str
    subject: Subject
    expires: date
    digest: str = ""

    def covers(self, content: Any, today: date) -> bool:
        """Tell whether it applies to this content on this day."""
        return today < self.expires and (not self.digest or self.digest == digest_of(content))


class Exemptions:
    """All exemptions, by subject and rule."""

    def __init__(self, exemptions: Sequence[Exemption]) -> None:
        self._by: dict[tuple[Subject, str], list[Exemption]] = {}
        for exemption in exemptions:
            self._by.setdefault((exemption.subject, exemption.rule_id), []).append(exemption)

    def of_entry(
        self,
        findings: tuple[Finding, ...],
        name: str,
        fields: Mapping[str, Any],
        route: Route,
        today: date | None,
    ) -> tuple[Finding, ...]:
        """Mark what is exempted of the findings in a server entry.

        Without a day nothing is exempted: nobody can say what has expired.
        """
        if not self._by or today is None:
            return findings
        owner = Subject(Kind.SERVER, name)
        return tuple(self._marked(found, owner, fields, route, today) for found in findings)

    def of_job(
        self, findings: tuple[Finding, ...], job: Any, place: str, route: Route, today: date | None
    ) -> tuple[Finding, ...]:
        """Mark what is exempted of the findings in a job that stands at `place`; only a mapping has a name."""
        if not self._by or today is None:
            return findings
        name = job.get("name") if isinstance(job, Mapping) else None
        owner = Subject(Kind.JOB, name if isinstance(name, str) else "")
        return tuple(
            self._marked(found, owner, passage(job, found.place.removeprefix(place)), route, today)
            for found in findings
        )

    def _marked(self, found: Finding, owner: Subject, content: Any, route: Route, today: date) -> Finding:
        subjects = [Subject(Kind.ROUTE, route_name(route))] if route.template else []
        if owner.name:
            subjects.append(owner)
        for subject in subjects:
            for exemption in self._by.get((subject, found.rule_id), ()):
                if exemption.covers(content, today):
                    return replace(found, level=Level.INFORMATIONAL, exempted=True)
        return found


NONE = Exemptions(())
"""No exemption at all."""


def route_name(route: Route) -> str:
    """Name a route as an exemption does."""
    return f"{route.method} {route.template}"


def passage(job: Any, pointer: str) -> list[Any]:
    """Give what a finding inside a job is about: the pointer and what stands there, or the whole job if nothing does.

    The pointer belongs to it: the finding may be about the name of a member.
    """
    value = job
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and len(name) < 10 and int(name) < len(value):
            value = value[int(name)]
        else:
            return ["", job]
    return [pointer, value]


def digest_of(content: Any) -> str:
    """Hash a JSON value whatever the order of its members; the name of an entry is the subject, not the content."""
    if isinstance(content, Mapping):
        content = {key: value for key, value in content.items() if key != "name"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return _DIGEST + hashlib.sha256(canonical.encode()).hexdigest()
