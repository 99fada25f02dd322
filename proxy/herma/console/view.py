"""What the console shows, as values: names, codes and counts; never a body, a header, a query or a path with its parameters.

Times are seconds since the epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "Concern",
    "Explained",
    "Feed",
    "Found",
    "Minute",
    "Open",
    "Refused",
    "RuleText",
    "Upstream",
    "View",
]


@dataclass(frozen=True, slots=True)
class Open:
    """One exchange under way; `who` is empty for a caller without a credential, `upstream` for the first one."""

    who: str
    operation: str
    route: str
    kind: str
    since: float
    upstream: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that applied and where; the place was made fit to be shown."""

    rule_id: str
    level: str
    place: str
    attack: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """One refusal; `reason` is what the caller was told. `upstream` is empty for the first one."""

    exchange: str
    at: float
    who: str
    method: str
    route: str
    operation: str
    status: int
    code: str
    reason: str
    found: tuple[Found, ...] = ()
    upstream: str = ""


@dataclass(frozen=True, slots=True)
class Minute:
    """How many decisions of which check fell into the minute that began at `begins`."""

    begins: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Upstream:
    """One agent server: is it there, and does it still offer what its profile knows."""

    name: str
    url: str
    profile: str
    up: bool
    reason: str
    key_accepted: bool | None = None
    drift: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feed:
    """One source of indicators; `newest` is the day of its youngest one, empty when it gives none."""

    place: str
    indicators: int
    newest: str
    age_days: int | None


@dataclass(frozen=True, slots=True)
class Concern:
    """A setting that makes the gate weaker than it can be; a `grave` one lets something through."""

    what: str
    advice: str
    grave: bool = True


@dataclass(frozen=True, slots=True)
class View:
    """The whole page at one moment."""

    at: float
    version: str = ""
    stage: str = ""
    ready: bool = False
    reason: str = ""
    uptime_s: float = 0.0
    slots_taken: int = 0
    slots: int = 0
    runs: tuple[Open, ...] = ()
    connections: int = 0
    workers: int = 0
    workers_configured: int = 0
    open: tuple[Open, ...] = ()
    open_total: int = 0
    minutes: tuple[Minute, ...] = ()
    refusals: tuple[Refused, ...] = ()
    upstreams: tuple[Upstream, ...] = ()
    feeds: tuple[Feed, ...] = ()
    feeds_problem: str = ""
    concerns: tuple[Concern, ...] = ()
    reload_failure: str = ""
    config_path: str = ""


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a rule says; `text` is the file that defines it, `file` where that is.

    `exempts` is the kind of subject that it can be switched off for, empty for indicators and the rules for secrets.
    """

    id: str
    title: str
    description: str
    level: str
    file: str
    text: str
    references: tuple[str, ...] = ()
    exempts: str = ""


@dataclass(frozen=True, slots=True)
class Explained:
    """A refusal with the rules behind it, by id, and what would let it pass.

    `exemption` is YAML for the configuration, `obstacle` says why there is none.
    """

    refused: Refused
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    exemption: str = ""
    obstacle: str = ""
