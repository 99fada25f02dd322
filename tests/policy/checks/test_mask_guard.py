"""What a page was shown in place of a secret is not saved in its place."""

from typing import Any

import pytest

from herma.policy.checks.mask_guard import MaskGuard
from herma.policy.decision import Allow, Decision, Deny
from herma.policy.exchange import Phase
from support.exchanges import exchange, match

MASK = "[password:7f3a91c2]"


def judged(value: Any, *, keeps: bool = True) -> Decision:
    route = match("config.write", keeps=keeps)
    return MaskGuard().decide(exchange(value, route=route), Phase.REQUEST_BODY)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"config": {"model": {"api_key": MASK}}}, "/config/model/api_key"),
        ({"args": ["--token", f"a{MASK}b"]}, "/args/1"),
        ({"headers": {MASK: "x"}}, "/headers/*"),
        ({"yaml_text": f"a: 1\nb: {MASK}\n"}, "/yaml_text"),
        ({"value": "held-by-the-gate"}, "/value"),
    ],
)
def test_a_masked_value_is_refused_with_its_place(value: Any, place: str) -> None:
    """The person who saves has to find it; nothing else of the body is told."""
    decision = judged(value)
    assert isinstance(decision, Deny)
    assert (decision.status, decision.code) == (422, "herma.mask.written")
    assert f" {place} " in decision.message
    assert MASK not in decision.message
    assert [finding.rule_id for finding in decision.findings] == ["mask-written"]


@pytest.mark.parametrize(
    "value",
    [
        {"a": "[password:7f3a91c]"},
        {"a": "[password:7F3A91C2]"},
        {"a": "[pass word:7f3a91c2]"},
        {"a": "password:7f3a91c2"},
        {"a": 1, "b": None, "c": ["[x]"]},
    ],
)
def test_other_brackets_pass(value: Any) -> None:
    """Only what the redactor writes is meant."""
    assert judged(value) == Allow()


def test_in_a_chat_it_may_be_quoted() -> None:
    """And an empty body has nothing to say."""
    assert judged({"prompt": f"what was {MASK}?"}, keeps=False) == Allow()
    assert judged(None) == Allow()


def test_a_member_without_a_name_has_a_place_too() -> None:
    """The whole body may be one string to a route that nobody knows."""
    decision = judged(MASK)
    assert isinstance(decision, Deny)
    assert "value at / is" in decision.message
