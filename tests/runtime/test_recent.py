"""What is remembered of the data plane."""

import pytest

from herma.console import Found, Open
from herma.ingress import Record
from herma.policy.decision import Finding, Level
from herma.runtime.recent import (
    MAX_MINUTES,
    MAX_OPEN,
    MAX_REFUSALS,
    MAX_RULES,
    MAX_STRANGERS,
    Recent,
    under_way,
)
from support.inprocess import Meter
from support.shared_state import Clock


def record(name: str = "e", **fields: object) -> Record:
    made = Record(name, 1.0)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now = 1_000_000_030.0
    return clock


@pytest.fixture
def recent(clock: Clock) -> Recent:
    return Recent(Meter(), clock)


def test_it_passes_everything_on(clock: Clock) -> None:
    """The metrics are those of before."""
    meter = Meter()
    recent, one = Recent(meter, clock), record()
    recent.exchange(one, 2.0)
    recent.count("auth_failures", "expired", 2)
    assert meter.exchanges == [one]
    assert meter.counts == {("auth_failures", "expired"): 2}


def test_a_refusal_is_kept_with_names_codes_and_rules(recent: Recent) -> None:
    """And with nothing else of what was sent: a place keeps no name that could be a secret."""
    place = "/mcp_servers/sk-proj-0123456789abcdefghij0123456789/env"
    one = record(
        code="herma.mcp.download", reason="No.", principal="laptop", method="POST", route="/api/mcp", operation="mcp.write",
        status=403, upstream="dashboard", address="192.0.2.7",
        findings=[Finding("mcp-a", Level.CRITICAL, place, "T1105")] * (MAX_RULES + 1),
    )  # fmt: skip
    recent.exchange(one, 2.0)
    kept = recent.refusal("e")
    assert kept is not None
    assert (kept.who, kept.code, kept.reason, kept.upstream) == (
        "laptop",
        "herma.mcp.download",
        "No.",
        "dashboard",
    )
    assert kept.found == (Found("mcp-a", "critical", "/mcp_servers/*/env", "T1105"),) * MAX_RULES
    assert "192.0.2.7" not in repr(kept)
    assert recent.refusal("f") is None


def test_the_first_upstream_is_not_named(recent: Recent) -> None:
    """Where there is only one, its name says nothing."""
    recent.exchange(record(code="herma.auth.required", upstream="default"), 2.0)
    assert recent.refusals()[0].upstream == ""


def test_what_passes_is_counted_only(recent: Recent) -> None:
    """Nothing of it is remembered by name."""
    recent.exchange(record(principal="laptop"), 2.0)
    assert recent.refusals() == ()
    assert [minute.counts for minute in recent.minutes()] == [{"passed": 1}]


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ({"code": "herma.cron.exfil"}, "cron"),
        ({"findings": [Finding("cron-a")]}, "reported"),
        ({"findings": [Finding("cron-a", Level.LOW)]}, "passed"),
        ({"findings": [Finding("github-pat")], "redactions": 1}, "passed"),
        ({"findings": [Finding("github-pat"), Finding("cron-a")], "redactions": 1}, "reported"),
    ],
)
def test_decisions_are_counted_by_check(recent: Recent, fields: dict[str, object], row: str) -> None:
    """What would have been refused is told apart from what simply passed, and from what was masked."""
    recent.exchange(record(**fields), 2.0)
    assert [minute.counts for minute in recent.minutes()] == [{row: 1}]


def test_minutes_begin_at_full_ones_and_are_forgotten(recent: Recent, clock: Clock) -> None:
    """An hour and the running minute are kept."""
    recent.exchange(record(), 2.0)
    first = recent.minutes()[0].begins
    assert first % 60 == 0
    assert first <= clock.now < first + 60
    for _ in range(3 * MAX_MINUTES):
        clock.now += 60
        recent.exchange(record(), 2.0)
    assert len(recent.minutes()) == MAX_MINUTES
    assert recent.minutes()[-1].begins == int(clock.now) // 60 * 60


def test_strangers_do_not_wash_away_what_others_did(recent: Recent, clock: Clock) -> None:
    """A flood without a key fills its own part only; the newest comes first."""
    recent.exchange(record("mine", code="herma.mcp.x", principal="laptop"), 2.0)
    for number in range(10 * MAX_STRANGERS):
        clock.now += 1
        recent.exchange(record(f"{number}", code="herma.auth.required"), 2.0)
    kept = recent.refusals()
    assert len(kept) == MAX_STRANGERS + 1
    assert kept[0].exchange == f"{10 * MAX_STRANGERS - 1}"
    assert kept[-1].exchange == "mine"


def test_even_a_caller_with_a_key_fills_no_memory(recent: Recent) -> None:
    """There is a bound for both."""
    for number in range(3 * MAX_REFUSALS):
        recent.exchange(record(f"{number}", code="herma.limit.rate", principal="laptop"), 2.0)
    assert len(recent.refusals()) == MAX_REFUSALS


def test_what_is_handed_over_is_gone_and_adds_up_elsewhere(recent: Recent, clock: Clock) -> None:
    """Between two processes nothing is lost and nothing doubled."""
    other = Recent(Meter(), clock)
    for name in ("a", "b"):
        recent.exchange(record(name, code="herma.cron.x", principal="laptop"), 2.0)
        other.merge(*recent.take())
        assert recent.take() == ([], {})
    assert {one.exchange for one in other.refusals()} == {"a", "b"}
    assert other.minutes()[0].counts == {"cron": 2}


def test_what_is_under_way_is_told_by_name_the_longest_first() -> None:
    """Times are of the day, kinds are told apart, and there is a bound."""
    active = {
        "a": record(started=90.0, principal="alice", operation="chat.terminal", status=101, upstream="dashboard"),
        "b": record(started=80.0, principal="laptop", operation="run.events", route="/v1/runs/{run_id}/events", status=200, upstream="default"),
        "c": record(started=99.0),
    }  # fmt: skip
    total, listed = under_way(active, 100.0, 5000.0)
    assert total == 3
    assert listed == (
        Open("laptop", "run.events", "/v1/runs/{run_id}/events", "answer under way", 4980.0),
        Open("alice", "chat.terminal", "", "socket", 4990.0, "dashboard"),
        Open("", "", "", "request", 4999.0),
    )
    many = {str(number): record(started=float(number)) for number in range(3 * MAX_OPEN)}
    assert [len(many), MAX_OPEN] == [under_way(many, 0.0, 0.0)[0], len(under_way(many, 0.0, 0.0)[1])]
