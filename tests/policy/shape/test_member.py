"""A member more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.shape.member import with_member


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.sampled_from([None, 2]))
def test_the_others_stay(held: dict[str, object], indent: int | None) -> None:
    """Whatever they are and however they are written."""
    text = json.dumps(held, indent=indent)
    made = with_member(text, "herma", {"a": "ü"})
    assert json.loads(made) == {"herma": {"a": "ü"}, **held}


@pytest.mark.parametrize("text", ["[]", '"x"', "{", "[" * 100_000, '{"herma": 1}', ""])
def test_what_takes_none_stays(text: str) -> None:
    """No object, no JSON, or a member of that name."""
    assert with_member(text, "herma", 1) == text
