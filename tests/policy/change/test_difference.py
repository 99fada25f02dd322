"""What of a document is new."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.change.difference import difference, merged, same, written
from herma.policy.jsondoc import strings

LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.text("xyz", max_size=2), VALUES, max_size=4)
SERVER: dict[str, Any] = {"command": "npx", "args": ["-y", "notes"]}


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(DOCUMENTS)
def test_what_is_the_same_is_nothing(document: dict[str, Any]) -> None:
    """Whatever it holds, and in whichever order."""
    assert difference(document, shuffled(document)) == {}


def leaves(value: Any, place: str = "") -> dict[str, str]:
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            step: leaf for name, child in pairs for step, leaf in leaves(child, f"{place}/{name}").items()
        }
    return {place: json.dumps(value)}


@given(DOCUMENTS, DOCUMENTS)
def test_every_changed_leaf_is_in_the_difference(old: dict[str, Any], new: dict[str, Any]) -> None:
    """At its own place, unless an item that is the same was moved within a list."""
    kept = leaves(difference(old, new))
    before = leaves(old)
    for place, leaf in leaves(new).items():
        if before.get(place) != leaf and kept.get(place) != leaf:
            around = place
            while around and kept.get(around) != "null":
                around = around.rpartition("/")[0]
            assert around, (place, leaf)
            index = int(around.rpartition("/")[2])
            within: Any = new
            others: Any = old
            for step in around.split("/")[1:-1]:
                within, others = within[step], others[step]
            assert any(same(within[index], item) for item in others)


@given(DOCUMENTS, DOCUMENTS)
def test_neither_document_is_changed(old: dict[str, Any], new: dict[str, Any]) -> None:
    """They are compared again for the audit."""
    copies = copy.deepcopy((old, new))
    difference(old, merged(old, new))
    assert (old, new) == copies


@given(DOCUMENTS, DOCUMENTS)
def test_what_is_laid_over_is_there(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Every text of the upper document shows, and members that it does not name stay."""
    both = merged(old, new)
    above = dict(strings(new))
    assert above.items() <= dict(strings(both)).items()
    assert set(both) == {*old, *new}


def test_an_entry_is_new_as_a_whole() -> None:
    """One argument makes another command of it; the entry beside it stays out."""
    old: dict[str, Any] = {"mcp_servers": {"notes": SERVER, "bad": {"command": "bash", "args": ["-c", "x"]}}}
    new = copy.deepcopy(old)
    new["mcp_servers"]["notes"]["args"].append("--more")
    assert difference(old, new) == {"mcp_servers": {"notes": new["mcp_servers"]["notes"]}}


def test_items_of_a_list_keep_their_places() -> None:
    """What was there is None, also when it moved; a second copy of it is new."""
    old = {"hooks": {"start": [{"command": "a"}, {"command": "b"}]}}
    new = {"hooks": {"start": [{"command": "b"}, {"command": "c"}, {"command": "b"}]}}
    assert difference(old, new) == {"hooks": {"start": [None, {"command": "c"}, {"command": "b"}]}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": "1"}, {"a": 1}),
        ({"a": None}, {"a": False}),
        ({"a": []}, {"a": {}}),
    ],
)
def test_values_of_another_kind_are_new(old: Any, new: Any) -> None:
    """To Python 1, 1.0 and true are equal; to a switch they are not."""
    assert not same(old, new)
    assert written(difference(old, new)) == written(new)


def test_what_is_no_mapping_is_new_or_not() -> None:
    """A body of another kind is judged whole."""
    assert difference([1], [1]) is None
    assert difference({"a": 1}, [1]) == [1]
    assert merged({"a": 1}, [1]) == [1]


def test_a_document_that_is_very_deep_is_new_at_some_depth() -> None:
    """Groups within groups end; what is below is one unit."""
    old: Any = {"leaf": {"value": 1}}
    new: Any = {"leaf": {"value": 2}}
    for _ in range(20):
        old, new = {"group": old, "other": {"a": {}}}, {"group": new, "other": {"a": {}}}
    found = difference(old, new)
    assert "other" not in found
    text = json.dumps(found)
    assert '{"leaf": {"value": 2}}' in text
    assert "other" in text


@pytest.mark.parametrize(
    ("change", "news"),
    [
        ({"default": "n"}, {"default": "n"}),
        ({"default": "n", "timeout": 5}, {"default": "n", "timeout": 5}),
        ({"base_url": "b"}, None),
        ({"default": "n", "provider": "p"}, None),
        ({"timeout": {"command": "x"}}, None),
        ({"timeout": None}, None),
    ],
)
def test_which_model_is_asked_makes_no_new_unit(change: dict[str, Any], news: Any) -> None:
    """Where it is asked, and with whose key, does; so does a member of a kind that it should not be."""
    old = {"model": {"default": "m", "base_url": "a", "provider": "o"}}
    new = {"model": {**old["model"], **change}}
    assert difference(old, new) == {"model": news or new["model"]}


def test_a_member_that_is_taken_out_is_a_change() -> None:
    """With its provider another key goes to an address."""
    old = {"model": {"default": "m", "base_url": "a", "provider": "o"}}
    new = {"model": {"default": "m", "base_url": "a"}}
    assert difference(old, new) == new
    assert difference(new, {"model": {"base_url": "a"}}) == {"model": {"base_url": "a"}}
