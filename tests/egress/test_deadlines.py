"""Deadlines."""

from herma.egress.deadlines import Deadlines


def test_whoever_lets_a_deadline_pass_is_named_until_it_is_forgotten() -> None:
    """Each thing has its own deadline, and beginning to wait again gives no more time."""
    now = [0.0]
    deadlines = Deadlines(lambda: now[0])
    deadlines.begin("one", "head", 10)
    deadlines.begin("two", "body", 20)
    now[0] = 9
    deadlines.begin("one", "head", 10)
    assert deadlines.passed() == ()
    now[0] = 11
    assert deadlines.passed() == ("one",)
    deadlines.end("one", "head")
    deadlines.end("one", "head")
    assert deadlines.passed() == ()
    now[0] = 21
    assert deadlines.passed() == ("two",)
    deadlines.forget("two")
    assert deadlines.passed() == ()
