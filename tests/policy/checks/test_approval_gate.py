"""Claims about `herma.policy.checks.approval_gate`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.checks.approval_gate import ApprovalGate, judge_choice, normal_choice
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Phase
from herma.policy.grant import Principal
from herma.policy.jsondoc import Document
from support.exchanges import ADMIN, CALLER, exchange, match

APPROVE = match("run.approve", checks=("approval",))


def _code(decision: object) -> str:
    return decision.code if isinstance(decision, Deny) else ""


STATIC: dict[str, tuple[Any, Principal, str]] = {
    "once": ({"choice": "once"}, CALLER, ""),
    "an alias": ({"choice": " Approve "}, CALLER, ""),
    "session": ({"choice": "session"}, CALLER, ""),
    "always": ({"choice": "always"}, CALLER, "herma.approval.always"),
    "always with case and blanks": ({"choice": "\tALWAYS\n"}, CALLER, "herma.approval.always"),
    "always of an admin": ({"choice": "always"}, ADMIN, ""),
    "all": ({"choice": "once", "all": True}, CALLER, "herma.approval.all"),
    "all by its other name": ({"choice": "deny", "resolve_all": "false"}, CALLER, "herma.approval.all"),
    "all of an admin": ({"choice": "once", "all": 1}, ADMIN, ""),
    "not all": ({"choice": "once", "all": False, "resolve_all": 0}, CALLER, ""),
    "an unknown word": ({"choice": "forever"}, CALLER, "herma.approval.choice"),
    "no word": ({"choice": ["always"]}, ADMIN, "herma.approval.choice"),
    "no choice": ({}, CALLER, "herma.approval.choice"),
    "no object": ("always", CALLER, "herma.approval.choice"),
}


@pytest.mark.parametrize(("value", "principal", "code"), STATIC.values(), ids=STATIC.keys())
def test_a_choice_is_judged_as_the_upstream_reads_it(value: Any, principal: Principal, code: str) -> None:
    """Case, blanks and aliases do not matter; always and all need the scope admin."""
    decided = ApprovalGate().decide(exchange(value, route=APPROVE, principal=principal), Phase.REQUEST_BODY)
    assert _code(decided) == code


def test_other_routes_and_bodies_are_not_judged() -> None:
    """Only routes that answer prompts, and on unknown ones only bodies with a choice."""
    unknown = match("unknown", known=False, checks=("approval",))
    for value, route in (
        ({"choice": "always"}, match()),
        (None, APPROVE),
        ({"input": "x"}, unknown),
        (["x"], unknown),
    ):
        assert ApprovalGate().decide(exchange(value, route=route), Phase.REQUEST_BODY) == Allow()
    assert _code(ApprovalGate().decide(exchange({"choice": "always"}, route=unknown), Phase.REQUEST_BODY))


OFFERED: dict[str, tuple[str, Principal, tuple[str, ...] | None, str]] = {
    "offered": ("session", CALLER, ("once", "session", "deny"), ""),
    "offered by another name": ("once", CALLER, ("approve", "deny"), ""),
    "not offered": ("session", CALLER, ("once", "deny"), "herma.approval.not_offered"),
    "not offered to an admin either": ("always", ADMIN, ("once", "deny"), "herma.approval.not_offered"),
    "deny is always offered": ("deny", CALLER, (), ""),
    "nothing offered": ("once", CALLER, (), "herma.approval.not_offered"),
    "once of a prompt never seen": ("approved", CALLER, None, ""),
    "session of a prompt never seen": ("session", CALLER, None, "herma.approval.not_offered"),
    "session of a prompt never seen, by an admin": ("session", ADMIN, None, ""),
    "always without the scope": ("always", CALLER, ("always",), "herma.approval.always"),
}


@pytest.mark.parametrize(("choice", "principal", "offered", "code"), OFFERED.values(), ids=OFFERED.keys())
def test_only_what_the_prompt_offered_passes(
    choice: str, principal: Principal, offered: tuple[str, ...] | None, code: str
) -> None:
    """A prompt that this gate never saw is answered with once or deny, by an admin with anything."""
    assert _code(judge_choice(Document(b"", {"choice": choice}), principal, offered)) == code


def test_an_answer_without_a_body_is_refused() -> None:
    """There is no default choice."""
    assert _code(judge_choice(None, ADMIN, None)) == "herma.approval.choice"


@given(st.none() | st.integers() | st.text(max_size=12))
def test_any_choice_is_one_of_four_or_none(value: Any) -> None:
    """Nothing else is passed on."""
    assert normal_choice(value) in {None, "once", "session", "always", "deny"}
