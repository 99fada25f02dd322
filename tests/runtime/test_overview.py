"""The console's page, put together from what the runtime knows."""

from dataclasses import replace
from typing import Any

import pytest

from herma.config.load import parse
from herma.console import Found, Open, Refused
from herma.runtime.overview import MAX_RUNS, MAX_SHOWN, Overview
from herma.runtime.recent import Recent
from support.inprocess import Meter

AT = 1_796_230_000.0
SETTINGS = parse(b"upstream: {url: 'http://127.0.0.1:8642', profile: hermes-api}\n", "herma.yaml", {})
UPSTREAM: dict[str, Any] = {
    "name": "default", "url": "http://127.0.0.1:8642", "profile": "hermes-api", "up": True, "reason": "",
    "key_accepted": True, "running": 0, "route_drift": ["GET /new"], "exposed": [],
}  # fmt: skip
STATUS: dict[str, Any] = {
    "version": "0.1.0",
    "stage": "serving",
    "ready": True,
    "reason": "",
    "uptime_s": 60.0,
    "busy": {
        "slots_taken": 2,
        "slots": 10,
        "runs": [{"run_id": "run_secret", "upstream": "default", "key": "laptop", "age_s": 5.0}]
        * (MAX_RUNS + 1),
        "connections": 3,
    },
    "workers": {"configured": 2, "connected": 1},
    "upstreams": [UPSTREAM, {**UPSTREAM, "name": "dashboard", "exposed": ["0.0.0.0"]}],
    "config": {"path": "herma.yaml", "digest": "", "last_reload_failed": "no", "warnings": []},
    "keys": [],
}
REFUSED = Refused(
    "00000000000000aa", AT, "laptop", "POST", "/api/mcp", "mcp.write", 403, "herma.mcp.persistence", "No.",
    (Found("mcp-tunnel", "high", "/mcp_servers/notes/args", "T1572"),),
)  # fmt: skip


class Status:
    """A gate's status."""

    def ready(self) -> tuple[bool, str]:
        return True, ""

    async def status(self) -> dict[str, Any]:
        return STATUS

    async def metrics(self) -> bytes:
        return b""


def overview(*refusals: Refused) -> Overview:
    recent = Recent(Meter())
    recent.merge(refusals, {int(AT) // 60 * 60: {"passed": 1}})
    someone = Open("alice", "chat.terminal", "/api/pty", "socket", AT)
    return Overview(Status(), recent, lambda: (4, (someone,)), lambda: SETTINGS, lambda: (), lambda: AT)


async def test_the_view_has_all_of_it() -> None:
    """State, slots, upstreams, decisions, refusals, who is there, feeds and concerns."""
    view = await overview(REFUSED).view()
    assert (view.version, view.stage, view.ready, view.at) == ("0.1.0", "serving", True, AT)
    assert (view.slots_taken, view.slots, view.connections) == (2, 10, 3)
    assert (view.workers, view.workers_configured) == (1, 2)
    assert [one.name for one in view.upstreams] == ["default", "dashboard"]
    assert view.upstreams[0].drift == ("GET /new",)
    assert view.refusals == (REFUSED,)
    assert view.minutes[0].counts == {"passed": 1}
    assert (view.open_total, view.open[0].who) == (4, "alice")
    assert view.feeds
    assert "dashboard can be reached beside the gate" in view.concerns[0].what
    assert (view.reload_failure, view.config_path) == ("no", "herma.yaml")


async def test_the_view_is_bounded_and_names_no_run() -> None:
    """A page is read, not searched; a run's id opens its events to who may read them."""
    view = await overview(*(replace(REFUSED, exchange=f"{number:016x}") for number in range(150))).view()
    assert (len(view.refusals), len(view.runs)) == (MAX_SHOWN, MAX_RUNS)
    assert view.runs[0] == Open("laptop", "run at default", "", "background run", AT - 5)
    assert "run_secret" not in repr(view)


async def test_a_refusal_is_explained_by_its_rule() -> None:
    """Where it is defined, what it says, and the exemption for this server."""
    explained = await overview(REFUSED).explained(REFUSED.exchange)
    assert explained is not None
    assert explained.rules["mcp-tunnel"].file.endswith("mcp-tunnel.yaml")
    assert explained.exemption.splitlines() == [
        "exemptions:",
        "  - rule: mcp-tunnel",
        "    subject: {server: 'notes'}",
        "    expires: 2027-03-02",
        "    reason: ''",
    ]
    assert "digest" in explained.obstacle
    assert await overview().explained(REFUSED.exchange) is None


async def _way(*found: Found, code: str = "herma.mcp.persistence") -> tuple[str, str]:
    explained = await overview(replace(REFUSED, found=found, code=code)).explained(REFUSED.exchange)
    assert explained is not None
    return explained.exemption, explained.obstacle


@pytest.mark.parametrize(
    "place", ["", "/command", "/mcp_servers", "/mcp_servers/*", "/mcp_servers/a~1b", "/mcpServers"]
)
async def test_a_name_that_is_not_known_is_left_to_fill_in(place: str) -> None:
    """An empty one is not valid, so that nobody exempts a server by mistake."""
    exemption, obstacle = await _way(Found("mcp-tunnel", "high", place))
    assert "{server: ''}" in exemption
    assert "name of the server" in obstacle


async def test_a_job_is_named_by_a_person() -> None:
    """What the gate remembers of a job is not its name."""
    exemption, obstacle = await _way(Found("cron-exfiltration", "high", "/prompt"))
    found, _ = await _way(Found("cron-secret-read", "high", "/prompt"))
    assert "{job: ''}" in (exemption or found)
    assert obstacle


NOTHING = {
    "indicator": (Found("ioc-axios-npm-06", "critical", ""), "herma.ioc.match", "cannot be exempted"),
    "secret": (Found("github-pat", "critical", ""), "herma.stream.secret_spread", "cannot be exempted"),
    "check": (Found("auth-scope", "high", ""), "herma.auth.scope", "cannot be exempted"),
    "only noted": (Found("mcp-tunnel", "low", ""), "herma.limit.rate", "`limits`"),
}


@pytest.mark.parametrize("case", NOTHING)
async def test_where_there_is_no_exemption_it_says_why(case: str) -> None:
    """Indicators, secrets and the checks of callers have none."""
    found, code, said = NOTHING[case]
    exemption, obstacle = await _way(found, code=code)
    assert exemption == ""
    assert said in obstacle


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("herma.auth.required", "needs a key"),
        ("herma.route.off", "surfaces"),
        ("herma.body.duplicate_key", "to everybody"),
    ],
)
async def test_a_refusal_without_a_rule_says_what_it_needs(code: str, said: str) -> None:
    """Each kind of check in its own words."""
    assert said in (await _way(code=code))[1]
