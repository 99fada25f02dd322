"""No figure falls unnoticed."""

from pathlib import Path

from quality import ratchet
from quality.measure import Measure, Measures

KEY = "mcp/hostile/blocked"


def _measured(*wrong: str, of: int = 10) -> Measures:
    return {
        KEY: Measure(KEY, of, wrong),
        "secrets/class/x": Measure("secrets/class/x", 1, ("a",)),
        "cron/hostile/apart/soft": Measure("cron/hostile/apart/soft", 1, ("a",), apart=True),
    }


def test_no_measure_is_below_its_floor(measures: Measures) -> None:
    """What the gate reaches on the shipped corpora is at least what it reached before."""
    assert ratchet.problems(measures, ratchet.load()) == []


def test_a_fall_is_told_with_the_cases() -> None:
    """How far, and which lines to look at."""
    (problem,) = ratchet.problems(_measured("m-1", "m-2"), {KEY: {"wrong": 1, "of": 10}})
    assert problem == f"{KEY}: 2 wrong, at most 1 of 10 may be: m-1 m-2"


def test_a_measure_at_its_floor_is_no_problem() -> None:
    """Groups of few lines and what is reported apart have no floor."""
    assert ratchet.problems(_measured("m-1"), {KEY: {"wrong": 1, "of": 10}}) == []


def test_the_floors_and_the_measures_are_the_same_set() -> None:
    """A measure without a floor could fall, and a floor without a measure would hold nothing."""
    assert "has no floor" in ratchet.problems(_measured(), {})[0]
    stray = {KEY: {"wrong": 0, "of": 10}, "gone/away": {"wrong": 0, "of": 1}}
    assert ratchet.problems(_measured(), stray) == ["gone/away: has a floor and is no longer measured"]
    assert "the floor is for 10" in ratchet.problems(_measured(of=11), {KEY: {"wrong": 0, "of": 10}})[0]


def test_writing_only_tightens(tmp_path: Path) -> None:
    """Fewer wrong cases become the floor, more do not; other cases are a new beginning."""
    path = tmp_path / "floors.json"
    ratchet.write(ratchet.lowered(_measured("m-1"), {KEY: {"wrong": 3, "of": 10}}), path)
    assert ratchet.load(path) == {KEY: {"wrong": 1, "of": 10}}
    assert ratchet.lowered(_measured("m-1", "m-2"), ratchet.load(path)) == {KEY: {"wrong": 1, "of": 10}}
    assert ratchet.lowered(_measured("m-1", "m-2", of=9), ratchet.load(path)) == {KEY: {"wrong": 2, "of": 9}}
    assert ratchet.load(tmp_path / "none.json") == {}
