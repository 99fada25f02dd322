"""Puts the console's page together from what the runtime knows, and explains refusals."""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from herma.config.settings import Settings
from herma.console import Console, Explained, Open, Readout, Refused, RuleText, Upstream, View, series_of
from herma.content.exemption_yaml import exemption_yaml
from herma.policy.decision import Finding, Level
from herma.policy.exemption import Exemption, Kind, Subject
from herma.policy.routing.profile import Profile
from herma.runtime.admin_keys import AdminKeys
from herma.runtime.concerns import concerns
from herma.runtime.control import Control
from herma.runtime.generation import Generations
from herma.runtime.recent import Recent
from herma.runtime.shelf import Shelf
from herma.runtime.start import Start
from herma.store import Store

__all__ = ["Overview", "make_console"]

# As `herma explain` proposes.
EXEMPTION_DAYS: Final = 90
# Of what is remembered, this much is shown: a page that is read, not searched.
MAX_SHOWN: Final = 100
MAX_RUNS: Final = 64

# Below these a server stands under its own name.
_SERVERS: Final = frozenset({"mcp_servers", "mcpServers"})

_NO_RULE: Final = {
    "auth": "No rule to exempt: the caller needs a key or a session whose scopes cover the operation.",
    "route": "No rule to exempt: the route is unknown, closed or off; `surfaces` switches an operation on.",
    "limit": "No rule to exempt: a limit was reached; `limits` says how far each goes.",
    "owner": "No rule to exempt: what one key started belongs to it; keys of one `group` share.",
    "approval": "No rule to exempt: the answer was none that was offered, or needs the scope admin.",
    "upstream": "No rule to exempt: the agent did not answer, or not in a way that can be inspected.",
}
_BOUND: Final = (
    "Nothing lets it pass: what has no single meaning, or cannot be judged, is refused to everybody."
)
_FILL_IN: Final = (
    "Fill in the name of the {kind}; an empty one is not valid. `herma explain request` prints it with a digest, which "
    "pins it to this content, and proves that it is enough."
)
_NAMED: Final = "`herma explain request` prints it with a digest, which pins it to this content."


class Overview:
    """What the console shows; `status` is the document of `/status`."""

    def __init__(
        self,
        readout: Readout,
        recent: Recent,
        under_way: Callable[[], tuple[int, tuple[Open, ...]]],
        settings: Callable[[], Settings],
        profiles: Callable[[], Iterable[Profile]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._readout = readout
        self._recent = recent
        self._under_way = under_way
        self._settings = settings
        self._profiles = profiles
        self._shelf = Shelf(settings)
        self._now = now

    async def view(self) -> View:
        """Return the state of the moment."""
        status, now = await self._readout.status(), self._now()
        busy, settings = status["busy"], self._settings()
        total, listed = self._under_way()
        feeds, problem = await self._shelf.feeds()
        upstreams = tuple(map(_upstream, status["upstreams"]))
        return View(
            at=now,
            version=status["version"],
            stage=status["stage"],
            ready=status["ready"],
            reason=status["reason"],
            uptime_s=status["uptime_s"],
            slots_taken=busy["slots_taken"],
            slots=busy["slots"],
            runs=tuple(_run(run, now) for run in busy["runs"][:MAX_RUNS]),
            connections=busy["connections"],
            workers=status["workers"]["connected"],
            workers_configured=status["workers"]["configured"],
            open=listed,
            open_total=total,
            minutes=self._recent.minutes(),
            refusals=self._recent.refusals()[:MAX_SHOWN],
            upstreams=upstreams,
            feeds=feeds,
            feeds_problem=problem,
            concerns=concerns(settings, self._profiles(), upstreams),
            reload_failure=status["config"]["last_reload_failed"],
            config_path=status["config"]["path"],
        )

    async def explained(self, exchange: str) -> Explained | None:
        """Return a refusal that is remembered, with its rules and what would let it pass."""
        refused = self._recent.refusal(exchange)
        if refused is None:
            return None
        ids = dict.fromkeys(found.rule_id for found in refused.found)
        rules = {rule_id: rule for rule_id in ids if (rule := await self._shelf.rule(rule_id)) is not None}
        exemption, obstacle = _way(refused, rules, datetime.fromtimestamp(self._now(), UTC).date())
        return Explained(refused, rules, exemption, obstacle)


def make_console(
    start: Start,
    control: Control,
    store: Store,
    recent: Recent,
    under_way: Callable[[], tuple[int, tuple[Open, ...]]],
    current: Callable[[], Generations],
) -> Console:
    """Make the console of a gate whose state is in these."""
    overview = Overview(
        control,
        recent,
        under_way,
        settings=lambda: current().settings,
        profiles=lambda: [generation.profile for generation in current().by_name.values()],
    )
    # All upstreams are guarded by the same keys.
    keys = AdminKeys(lambda: next(iter(current().by_name.values())).keyring, store)
    return Console(overview, keys, start.environ)


def _way(refused: Refused, rules: dict[str, RuleText], today: date) -> tuple[str, str]:
    """Propose the narrowest exemption, or say why there is none."""
    blocking = [found for found in refused.found if Finding(found.rule_id, Level(found.level)).blocks]
    if not blocking:
        return "", _NO_RULE.get(series_of(refused.code), _BOUND)
    proposed = []
    for found in blocking:
        rule = rules.get(found.rule_id)
        if rule is None or not rule.exempts:
            return "", _not_a_rule(found.rule_id, rule)
        kind = Kind(rule.exempts)
        name = _server_at(found.place) if kind is Kind.SERVER else ""
        until = today + timedelta(days=EXEMPTION_DAYS)
        proposed.append(Exemption(found.rule_id, Subject(kind, name), until))
    kinds = " or ".join(dict.fromkeys(one.subject.kind.value for one in proposed if not one.subject.name))
    return "\n".join(exemption_yaml(dict.fromkeys(proposed))), _FILL_IN.format(
        kind=kinds
    ) if kinds else _NAMED


def _not_a_rule(rule_id: str, rule: RuleText | None) -> str:
    if rule is None:
        return f"{rule_id} is no rule but a check or a bound of the gate, which cannot be exempted."
    if rule_id.startswith("ioc-"):
        return f"{rule_id} is an indicator, which cannot be exempted; if it is wrong, correct the indicator."
    return f"{rule_id} is a rule for secrets, which cannot be exempted; if this is none, mend the rule."


def _server_at(place: str) -> str:
    """Give the name of the server that a place lies in; empty where the place does not say it."""
    steps = place.split("/")
    for above, name in pairwise(steps):
        if above in _SERVERS and name and name != "*" and "~" not in name:
            return name
    return ""


def _run(run: dict[str, Any], now: float) -> Open:
    return Open(run["key"], f"run at {run['upstream']}", "", "background run", now - run["age_s"])


def _upstream(said: dict[str, Any]) -> Upstream:
    return Upstream(
        name=said["name"],
        url=said["url"],
        profile=said["profile"],
        up=said["up"],
        reason=said["reason"],
        key_accepted=said["key_accepted"],
        drift=tuple(said["route_drift"]),
        exposed=tuple(said["exposed"]),
    )
