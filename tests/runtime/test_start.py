"""What every process of the gate is started with."""

import contextlib
from collections.abc import Iterator

import pytest

from herma.policy.limits.throttle import ThrottleLimits
from herma.runtime.start import Start, throttle_limits
from herma.store import RunLease
from support.gate import Gate
from support.inside import Lines, settings_of, start_of


@pytest.fixture
def start(gate: Gate) -> Iterator[Start]:
    start = start_of(gate)
    with contextlib.ExitStack() as stack:
        for bound in start.sockets:
            stack.enter_context(bound.sock)
        yield start


def _lines(start: Start) -> Lines:
    assert isinstance(start.log, Lines)
    return start.log


def test_callers_and_operators_have_sockets_of_their_own(start: Start, gate: Gate) -> None:
    """The admin listener is never among those that callers connect to."""
    assert [bound.sock.getsockname()[1] for bound in start.listeners] == [gate.port]
    assert start.admin.sock.getsockname()[1] == gate.admin_port


def test_it_says_where_it_serves(start: Start, gate: Gate) -> None:
    """The first line of a start tells both addresses."""
    start.announce()
    ((event, message),) = _lines(start).lines
    assert event == "serving"
    assert f"127.0.0.1:{gate.port}" in message
    assert f"127.0.0.1:{gate.admin_port}" in message


def test_it_says_that_a_run_was_given_up_and_not_which(start: Start) -> None:
    """The line names the key; the id of a run came from the upstream and is not repeated."""
    start.dropped(RunLease("1", "run_from_upstream", "laptop", 90000.0))
    ((event, message),) = _lines(start).lines
    assert event == "run.dropped"
    assert "laptop" in message
    assert "run_from_upstream" not in message


def test_delays_after_failures_are_the_configured_ones(gate: Gate) -> None:
    """What the file says is what the throttle gets."""
    gate.config["auth"]["failures"] = {"free_attempts": 3, "base_delay_s": 2.5, "max_delay_s": 60}
    gate.write_config(gate.config)
    assert throttle_limits(settings_of(gate)) == ThrottleLimits(3, 2.5, 60.0)


def test_no_secret_is_shown_by_it(start: Start, gate: Gate) -> None:
    """A traceback or a debugger that prints it shows no key."""
    shown = repr(start)
    assert all(key not in shown for key in (*gate.keys.values(), gate.upstream_key))
