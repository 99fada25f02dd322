"""Counts that can be added up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.ingress import Record
from herma.policy.decision import Finding
from herma.runtime.tally import BUCKETS_S, MAX_SERIES, Tally

KEYS = st.tuples(st.sampled_from(["events", "denials"]), st.sampled_from(["a", "b", "c"]))
ROWS = st.lists(st.tuples(KEYS, st.integers(0, 1000)), max_size=30)


def _record(**parts: object) -> Record:
    record = Record("0123456789abcdef", 100.0)
    for name, value in parts.items():
        setattr(record, name, value)
    return record


def test_an_exchange_is_counted_in_every_way_it_can_be_asked_for() -> None:
    """One exchange adds to its outcome, its duration, its bytes, its refusal and its rules."""
    tally = Tally()
    record = _record(
        operation="run.start",
        status=403,
        outcome="denied",
        code="herma.cron.refused",
        bytes_in=5,
        bytes_out=7,
        redactions=3,
        findings=[Finding("rule-a"), Finding("rule-b"), Finding("rule-a")],
    )
    tally.exchange(record, 100.2)
    sums = dict(tally.sums)
    assert sums.pop(("seconds_sum", "run.start")) == pytest.approx(0.2)
    assert sums == {
        ("exchanges", "run.start", "403", "denied"): 1,
        ("seconds_bucket", "run.start", "4"): 1,
        ("bytes", "in"): 5,
        ("bytes", "out"): 7,
        ("redactions",): 3,
        ("denials", "herma.cron.refused"): 1,
        ("findings", "rule-a"): 2,
        ("findings", "rule-b"): 1,
    }


def test_an_exchange_without_an_operation_or_a_refusal_counts_as_such() -> None:
    """What was refused before its route was known is not lost, and what was not refused is no denial."""
    tally = Tally()
    tally.exchange(_record(status=200), 100.0)
    assert tally.sums["exchanges", "none", "200", "answered"] == 1
    assert {key[0] for key in tally.sums}.isdisjoint({"denials", "redactions", "findings"})


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(0.0, 0), (BUCKETS_S[0], 0), (BUCKETS_S[0] * 2, 1), (BUCKETS_S[-1] * 2, len(BUCKETS_S))],
    ids=["none", "at the first bound", "just above", "longer than all"],
)
def test_a_duration_belongs_to_one_bucket(seconds: float, bucket: int) -> None:
    """A bucket holds what lasted up to its bound, as Prometheus defines it."""
    tally, record = Tally(), _record(operation="x")
    record.started = 0.0
    tally.exchange(record, seconds)
    assert [key for key in tally.sums if key[0] == "seconds_bucket"] == [("seconds_bucket", "x", str(bucket))]


def test_counting_goes_on_with_what_was_there() -> None:
    """An event is counted by name and label, by one unless told otherwise."""
    tally = Tally()
    tally.count("auth_failures", "expired")
    tally.count("auth_failures", "expired", 2)
    tally.count("internal_errors")
    assert tally.sums == {("events", "auth_failures", "expired"): 3, ("events", "internal_errors", ""): 1}


def test_taking_leaves_nothing() -> None:
    """What was handed over is not handed over again."""
    tally = Tally()
    tally.count("a")
    assert tally.take() == [(("events", "a", ""), 1.0)]
    assert tally.take() == []
    assert tally.sums == {}


@settings(max_examples=60)
@given(workers=st.lists(ROWS, max_size=4))
def test_tallies_of_workers_add_up(workers: list[list[tuple[tuple[str, ...], float]]]) -> None:
    """It makes no difference which worker counted, nor how often it handed its counts over."""
    together, apart = Tally(), Tally()
    for rows in workers:
        worker = Tally()
        for row in rows:
            worker.merge([row])
            together.merge([row])
        apart.merge(worker.take())
    assert apart.sums == together.sums


def test_series_are_bounded_and_known_ones_go_on() -> None:
    """If labels ever came from callers, memory would stay bounded and the series known so far right."""
    tally = Tally()
    for number in range(MAX_SERIES + 10):
        tally.count("event", str(number))
    assert len(tally.sums) == MAX_SERIES
    tally.count("event", "0")
    assert tally.sums["events", "event", "0"] == 2
