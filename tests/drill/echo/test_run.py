"""One background run, without any server around it."""

from herma.drill.echo.run import Run
from herma.drill.echo.turn import turn_of

SECRET = "fake-token-0001"


def _run(text: str) -> Run:
    return Run("run_1", "session", turn_of(text), "m", lambda: 1.0)


def _told(run: Run) -> list[dict[str, object] | None]:
    return [run.events.get_nowait() for _ in range(run.events.qsize())]


def _names(run: Run) -> list[object]:
    return [event and event["event"] for event in _told(run)]


def test_a_plain_run_completes_at_once() -> None:
    """Nothing stands in its way."""
    run = _run("hi")
    assert run.status["status"] == "completed"
    assert run.status["output"] == "You said: hi"
    assert _names(run) == ["message.delta"] * 3 + ["run.completed", None]


def test_a_command_is_shown_raw_and_then_asked_for() -> None:
    """Both events carry the command with its secret: the leak that the gate has to close."""
    run = _run(f"RUN:deploy --token {SECRET}")
    assert run.status["status"] == "waiting_for_approval"
    started, request = _told(run)
    assert started
    assert request
    assert (started["event"], started["preview"]) == ("tool.started", f"deploy --token {SECRET}")
    assert (request["event"], request["command"]) == ("approval.request", f"deploy --token {SECRET}")
    assert request["choices"] == ["once", "session", "always", "deny"]


def test_an_answer_lets_it_finish() -> None:
    """Approved or denied, the run completes; only an approved one repeats the command."""
    for choice, shown in (("once", True), ("deny", False)):
        run = _run(f"RUN:{SECRET}")
        _told(run)
        assert run.answer(choice) == choice
        assert run.ended
        assert (SECRET in str(run.status["output"])) is shown
        assert _names(run)[:2] == ["approval.responded", "tool.completed"]


def test_aliases_case_and_blanks_are_read_as_upstream_does() -> None:
    """` Approve ` means once."""
    assert _run("RUN:ls").answer(" Approve ") == "once"


def test_other_choices_change_nothing() -> None:
    """A word that was not offered, or no word at all, leaves the question open."""
    run = _run("RUN:ls")
    assert run.answer("maybe") is None
    assert run.answer(["once"]) is None
    assert run.asking


def test_stop_ends_a_run_that_asks() -> None:
    """An open question counts as denied."""
    run = _run("RUN:ls")
    _told(run)
    run.stop()
    assert (run.ended, run.asking, run.status["status"]) == (True, False, "cancelled")
    assert _names(run) == ["tool.completed", "run.cancelled", None]
