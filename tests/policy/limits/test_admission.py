"""Slots for turns."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from herma.policy.limits.admission import (
    MAX_ANONYMOUS_AGE_S,
    MAX_RETRY_AFTER_S,
    MAX_RUN_AGE_S,
    MAX_RUN_ID_CHARS,
    Admission,
    Ask,
    Full,
    Lease,
    Which,
)
from herma.policy.routing.route import Turn


def take(
    gate: Admission, *, who: str = "alice", turn: Turn = Turn.OPEN, cap: int = 10, worker: str = ""
) -> str:
    outcome = gate.admit(Ask(who, turn, cap), worker=worker)
    assert isinstance(outcome, Lease)
    return outcome.id


def run(gate: Admission, run_id: str, now: float = 0.0, *, who: str = "alice", worker: str = "") -> str:
    lease_id = take(gate, who=who, turn=Turn.BACKGROUND, cap=0, worker=worker)
    gate.attach(lease_id, run_id, now)
    return lease_id


def test_cap_is_reached_by_open_and_background_turns_together() -> None:
    """A background run counts against the same cap as a request that is open."""
    gate = Admission()
    take(gate, cap=2)
    run(gate, "run_1")
    assert gate.admit(Ask("bob", Turn.OPEN, 2)) == Full(1, Which.ALL)


def test_cap_zero_admits_any_number_up_to_the_bound_of_the_table() -> None:
    """Turning the cap off does not make memory unbounded."""
    gate = Admission(max_leases=50)
    for _ in range(50):
        take(gate, cap=0)
    assert gate.admit(Ask("alice", Turn.OPEN, 0)) == Full(1, Which.ALL)


def test_principal_cap_holds_beside_the_common_cap() -> None:
    """One key cannot take every slot, and what it may not take is there for others."""
    gate = Admission()
    first = gate.admit(Ask("alice", Turn.OPEN, 10, 1))
    assert isinstance(first, Lease)
    assert gate.admit(Ask("alice", Turn.OPEN, 10, 1)) == Full(1, Which.PRINCIPAL)
    assert isinstance(gate.admit(Ask("bob", Turn.OPEN, 10, 1)), Lease)
    gate.release(first.id)
    assert isinstance(gate.admit(Ask("alice", Turn.OPEN, 10, 1)), Lease)


def test_principal_cap_of_zero_admits_nothing() -> None:
    """For a key of its own, zero is a cap and not its absence."""
    assert Admission().admit(Ask("alice", Turn.OPEN, 0, 0)) == Full(1, Which.PRINCIPAL)


@pytest.mark.parametrize(
    ("turn", "cap", "own"), [(Turn.NONE, 1, None), (Turn.OPEN, -1, None), (Turn.OPEN, 1, -1)], ids=str
)
def test_ask_that_makes_no_sense_is_refused(turn: Turn, cap: int, own: int | None) -> None:
    """A slot for nothing, or a negative cap, is a mistake of the program."""
    with pytest.raises(ValueError, match=r"slot|cap"):
        Ask("alice", turn, cap, own)


def test_release_is_idempotent() -> None:
    """Releasing twice gives one slot back, and what nobody holds changes nothing."""
    gate = Admission()
    one, _two = take(gate), take(gate)
    gate.release(one)
    gate.release(one)
    gate.release("no such lease")
    assert len(gate) == 1


def test_released_request_of_a_run_keeps_the_slot_until_the_run_ends() -> None:
    """The answer to a background start is over at once; the run is not."""
    gate = Admission()
    lease_id = run(gate, "run_1")
    gate.release(lease_id)
    assert len(gate) == 1
    gate.run_ended("run_1")
    gate.run_ended("run_1")
    assert len(gate) == 0
    assert gate.held_by("alice") == 0


def test_background_start_that_fails_gives_its_slot_back() -> None:
    """Without a run there is nothing to wait for."""
    gate = Admission()
    gate.release(take(gate, turn=Turn.BACKGROUND))
    assert len(gate) == 0


def test_open_turn_that_turns_out_to_start_a_run_is_held_until_its_end() -> None:
    """What counts is whether a run goes on, not what the route promised."""
    gate = Admission()
    lease_id = take(gate)
    gate.attach(lease_id, "run_1", 0.0)
    gate.release(lease_id)
    assert [run.run_id for run in gate.open_runs(0.0)] == ["run_1"]


def test_repeated_start_of_the_same_run_holds_one_slot() -> None:
    """An idempotent start that upstream answers with an earlier run does not count it twice."""
    gate = Admission()
    first = run(gate, "run_1")
    run(gate, "run_1")
    gate.attach(first, "run_1", 0.0)
    assert len(gate) == 1
    gate.run_ended("run_1")
    assert len(gate) == 0


def test_attached_lease_is_not_moved_to_another_run() -> None:
    """One slot stands for one run."""
    gate = Admission()
    lease_id = run(gate, "run_1")
    gate.attach(lease_id, "run_2", 0.0)
    gate.attach("no such lease", "run_3", 0.0)
    assert [held.run_id for held in gate.open_runs(0.0)] == ["run_1"]


@pytest.mark.parametrize("run_id", ["", "x" * (MAX_RUN_ID_CHARS + 1)], ids=["empty", "too long"])
@pytest.mark.parametrize("turn", [Turn.OPEN, Turn.BACKGROUND])
def test_run_that_cannot_be_named_is_counted_until_upstream_says_otherwise(run_id: str, turn: Turn) -> None:
    """A hostile run id is neither kept nor a way to a free slot."""
    gate = Admission()
    lease_id = take(gate, turn=turn)
    gate.attach(lease_id, run_id, 0.0)
    gate.release(lease_id)
    assert (len(gate), gate.anonymous, gate.open_runs(0.0)) == (1, 1, ())
    gate.seed(0, 1.0)
    assert len(gate) == 0


def test_dead_worker_gives_back_open_slots_and_keeps_runs() -> None:
    """What dies with a worker is free; what goes on upstream is still counted."""
    gate = Admission()
    take(gate, worker="w1")
    run(gate, "run_1", worker="w1")
    take(gate, worker="w2")
    gate.worker_gone("w1", 0.0)
    assert len(gate) == 2
    assert [held.run_id for held in gate.open_runs(0.0)] == ["run_1"]
    gate.worker_gone("w2", 0.0)
    assert len(gate) == 1


def test_run_that_was_starting_when_its_worker_died_is_counted_without_a_name() -> None:
    """Upstream may have said yes to a worker that never heard it."""
    gate = Admission()
    take(gate, turn=Turn.BACKGROUND, worker="w1")
    gate.worker_gone("w1", 0.0)
    assert (len(gate), gate.anonymous, gate.held_by("alice")) == (1, 1, 0)


def test_seed_counts_what_upstream_runs_beyond_what_is_known() -> None:
    """After a restart the runs of before still take their slots; the count is absolute, up and down."""
    gate = Admission()
    gate.seed(3, 0.0)
    assert len(gate) == 3
    run(gate, "run_1")
    gate.seed(3, 1.0)
    assert (len(gate), gate.anonymous) == (3, 2)
    assert isinstance(gate.admit(Ask("bob", Turn.OPEN, 3)), Full)
    gate.seed(1, 2.0)
    assert (len(gate), gate.anonymous) == (1, 0)
    gate.seed(0, 3.0)
    gate.seed(-5, 3.0)
    assert len(gate) == 1


def test_seed_is_bounded_by_the_table() -> None:
    """An absurd readout fills the gate, not the memory."""
    gate = Admission(max_leases=5)
    take(gate)
    gate.seed(10**12, 0.0)
    assert len(gate) == 5


def test_anonymous_slots_age_out_unless_they_are_confirmed() -> None:
    """A count that nobody repeats does not block the gate for ever."""
    gate = Admission()
    gate.seed(2, 0.0)
    assert gate.expire(MAX_ANONYMOUS_AGE_S) == ()
    assert gate.anonymous == 2
    gate.seed(1, MAX_ANONYMOUS_AGE_S)
    gate.expire(MAX_ANONYMOUS_AGE_S + 1)
    assert gate.anonymous == 1
    gate.expire(2 * MAX_ANONYMOUS_AGE_S + 1)
    assert len(gate) == 0


def test_run_whose_end_nobody_saw_is_dropped_and_reported() -> None:
    """A run is not held for ever, and whoever drops it learns which one it was."""
    gate = Admission()
    run(gate, "old", 0.0)
    run(gate, "young", 10.0)
    assert gate.expire(MAX_RUN_AGE_S) == ()
    dropped = gate.expire(MAX_RUN_AGE_S + 1)
    assert [(lost.run_id, lost.principal, lost.age_s) for lost in dropped] == [
        ("old", "alice", MAX_RUN_AGE_S + 1)
    ]
    assert [held.run_id for held in gate.open_runs(MAX_RUN_AGE_S + 1)] == ["young"]


def test_open_runs_can_be_listed_in_pages() -> None:
    """Every run is listed once, however small the pages are."""
    gate = Admission()
    first, second = take(gate, turn=Turn.BACKGROUND), take(gate, turn=Turn.BACKGROUND)
    gate.attach(second, "run_2", 0.0)
    gate.attach(first, "run_1", 5.0)
    page = gate.open_runs(7.0, limit=1)
    assert [(held.run_id, held.age_s) for held in page] == [("run_1", 2.0)]
    assert [held.run_id for held in gate.open_runs(7.0, after=page[-1].lease_id, limit=1)] == ["run_2"]
    assert gate.open_runs(7.0, after=second) == ()


def test_retry_after_grows_with_those_turned_away_and_is_bounded() -> None:
    """The longer the queue outside, the longer the next one is told to wait, until a slot comes free."""
    gate = Admission()
    lease_id = take(gate, cap=2)
    take(gate, cap=2)
    waits = [
        outcome.retry_after_s
        for _ in range(100)
        if isinstance(outcome := gate.admit(Ask("bob", Turn.OPEN, 2)), Full)
    ]
    assert waits[:4] == [1, 1, 2, 2]
    assert waits[-1] == MAX_RETRY_AFTER_S
    gate.release(lease_id)
    take(gate, cap=2)
    assert gate.admit(Ask("bob", Turn.OPEN, 2)) == Full(1, Which.ALL)


WORKERS = ("w1", "w2")
PRINCIPALS = ("alice", "bob")
RUN_IDS = tuple(f"run_{number}" for number in range(6))
CAP, OWN_CAP = 4, 2


class AdmissionMachine(RuleBasedStateMachine):
    """Any order of events, beside a plain model of what holds a slot."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.gate = Admission()
        self.now = 0.0
        self.open: dict[str, tuple[str, str, Turn]] = {}  # lease -> principal, worker, turn
        self.runs: dict[str, str] = {}  # run -> principal
        self.anonymous = 0

    @rule(
        target=leases,
        who=st.sampled_from(PRINCIPALS),
        worker=st.sampled_from(WORKERS),
        background=st.booleans(),
    )
    def admit(self, who: str, worker: str, background: bool) -> object:
        turn = Turn.BACKGROUND if background else Turn.OPEN
        taken = len(self.gate)
        mine = self.gate.held_by(who)
        match self.gate.admit(Ask(who, turn, CAP, OWN_CAP), worker=worker):
            case Lease(lease_id):
                assert taken < CAP
                assert mine < OWN_CAP
                self.open[lease_id] = (who, worker, turn)
                return lease_id
            case Full(retry_after_s, which):
                assert retry_after_s >= 1
                assert taken >= CAP if which is Which.ALL else mine >= OWN_CAP
        return multiple()

    @rule(lease=leases)
    def release(self, lease: str) -> None:
        self.gate.release(lease)
        self.open.pop(lease, None)

    @rule(lease=leases, run_id=st.sampled_from(RUN_IDS))
    def attach(self, lease: str, run_id: str) -> None:
        self.gate.attach(lease, run_id, self.now)
        if (held := self.open.pop(lease, None)) and run_id not in self.runs:
            self.runs[run_id] = held[0]

    @rule(run_id=st.sampled_from(RUN_IDS))
    def end(self, run_id: str) -> None:
        self.gate.run_ended(run_id)
        self.runs.pop(run_id, None)

    @rule(worker=st.sampled_from(WORKERS))
    def die(self, worker: str) -> None:
        self.gate.worker_gone(worker, self.now)
        for lease, (_, owner, turn) in list(self.open.items()):
            if owner == worker:
                del self.open[lease]
                self.anonymous += turn is Turn.BACKGROUND

    @rule(running=st.integers(0, 8))
    def seed(self, running: int) -> None:
        self.gate.seed(running, self.now)
        self.anonymous = max(0, running - len(self.open) - len(self.runs))

    @rule()
    def age(self) -> None:
        self.now += MAX_RUN_AGE_S + 1
        assert {lost.run_id for lost in self.gate.expire(self.now)} == set(self.runs)
        self.runs, self.anonymous = {}, 0

    @invariant()
    def no_slot_leaks_and_none_is_lost(self) -> None:
        assert self.gate.anonymous == self.anonymous
        assert len(self.gate) == len(self.open) + len(self.runs) + self.anonymous
        assert {held.run_id: held.principal for held in self.gate.open_runs(self.now)} == self.runs
        for who in PRINCIPALS:
            held = [name for name, *_ in self.open.values()] + list(self.runs.values())
            assert self.gate.held_by(who) == held.count(who)


AdmissionMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAdmission = AdmissionMachine.TestCase
