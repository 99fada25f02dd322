"""Who something belongs to."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.grant import Principal, Scope
from herma.policy.ownership import RUN_KEPT_S, Owner, Ownership

ALICE, BOB, CAROL = Owner("alice", "team"), Owner("bob", "team"), Owner("carol")


def test_first_claim_binds_and_later_ones_learn_the_owner() -> None:
    """Nobody takes what another has bound."""
    owners = Ownership()
    assert owners.claim("run", "r1", ALICE, 0.0) == ALICE
    assert owners.claim("run", "r1", BOB, 1.0) == ALICE
    assert owners.owner("run", "r1", 2.0) == ALICE


def test_unknown_thing_belongs_to_nobody() -> None:
    """What was never bound has no owner to compare with."""
    assert Ownership().owner("run", "r1", 0.0) is None


def test_kinds_are_apart() -> None:
    """A session and a run may have the same id, and no id can be made to look like another kind's."""
    owners = Ownership()
    owners.claim("run", "x", ALICE, 0.0)
    assert owners.owner("session", "x", 0.0) is None
    owners.claim("session", "key\0x", ALICE, 0.0)
    assert owners.owner("session_key", "x", 0.0) is None


def test_any_text_can_be_an_id() -> None:
    """Lone surrogates and very long ids are bound like others."""
    owners = Ownership()
    for thing_id in ("\ud800", "x" * 100_000, ""):
        owners.claim("session", thing_id, ALICE, 0.0)
        assert owners.claim("session", thing_id, BOB, 0.0) == ALICE


def test_owner_whose_group_changed_is_known_under_the_new_one() -> None:
    """The configuration of today says with whom a key shares."""
    owners = Ownership()
    owners.claim("session", "s", ALICE, 0.0)
    owners.claim("session", "s", Owner("alice", "other"), 0.0)
    assert owners.owner("session", "s", 0.0) == Owner("alice", "other")


def test_finished_run_keeps_its_owner_for_two_hours() -> None:
    """Upstream still answers for a run after its end; the owner outlives that, counted from the first end seen."""
    owners = Ownership()
    owners.claim("run", "r1", ALICE, 0.0)
    owners.ended("run", "r1", 100.0)
    owners.ended("run", "r1", 5000.0)
    owners.ended("run", "unknown", 0.0)
    assert owners.owner("run", "r1", 100.0 + RUN_KEPT_S - 1) == ALICE
    assert owners.owner("run", "r1", 100.0 + RUN_KEPT_S) is None
    assert len(owners) == 0


def test_flood_of_claims_evicts_only_the_flooder_s_own() -> None:
    """Nobody gets at a stranger's session by filling the table."""
    owners = Ownership(limit=10)
    owners.claim("session", "victim", ALICE, 0.0)
    for number in range(50):
        owners.claim("session", f"flood{number}", BOB, 0.0)
    assert len(owners) == 10
    assert owners.owner("session", "victim", 0.0) == ALICE
    assert owners.owner("session", "flood0", 0.0) is None
    assert owners.owner("session", "flood49", 0.0) == BOB


def test_newcomer_to_a_full_table_takes_the_place_of_the_one_who_has_most() -> None:
    """A key that has bound nothing yet is not shut out by one that has bound everything."""
    owners = Ownership(limit=5)
    owners.claim("session", "a", ALICE, 0.0)
    for number in range(4):
        owners.claim("session", str(number), BOB, 0.0)
    assert owners.claim("session", "c", CAROL, 0.0) == CAROL
    assert owners.owner("session", "0", 0.0) is None
    assert owners.owner("session", "a", 0.0) == ALICE


def test_used_binding_outlives_unused_ones() -> None:
    """What is claimed again counts as young."""
    owners = Ownership(limit=2)
    for session in ("a", "b", "a", "c"):
        owners.claim("session", session, ALICE, 0.0)
    assert owners.owner("session", "b", 0.0) is None
    assert owners.owner("session", "a", 0.0) == ALICE


@pytest.mark.parametrize(
    ("principal", "admitted"),
    [
        (Principal("alice", frozenset({Scope.RUN})), True),
        (Principal("bob", frozenset({Scope.RUN}), "team"), True),
        (Principal("bob", frozenset({Scope.RUN}), "other"), False),
        (Principal("bob", frozenset({Scope.RUN})), False),
        (Principal("root", frozenset({Scope.ADMIN})), True),
    ],
    ids=["same key", "same group", "other group", "no group", "admin"],
)
def test_owner_admits_itself_its_group_and_admin(principal: Principal, admitted: bool) -> None:
    """What belongs to one key is open to that key, its group and administrators."""
    assert Owner.of(Principal("alice", frozenset(), "team")).admits(principal) is admitted


def test_keys_without_a_group_share_nothing() -> None:
    """Two keys with no group are not a group."""
    assert not CAROL.admits(Principal("dave", frozenset({Scope.RUN})))


@given(
    st.lists(
        st.tuples(st.sampled_from([ALICE, BOB, CAROL]), st.sampled_from("abcdefgh"), st.booleans()),
        max_size=60,
    )
)
def test_table_is_bounded_and_an_owner_never_changes_while_it_is_known(
    steps: list[tuple[Owner, str, bool]],
) -> None:
    """Whoever is asked for twice without a gap is the same."""
    owners = Ownership(limit=4)
    for now, (owner, thing_id, end) in enumerate(steps):
        before = owners.owner("run", thing_id, now)
        holder = owners.claim("run", thing_id, owner, now)
        assert holder == (before or owner)
        assert owners.owner("run", thing_id, now) == holder
        if end:
            owners.ended("run", thing_id, now - RUN_KEPT_S)
            assert owners.owner("run", thing_id, now) is None
        assert len(owners) <= 4
