"""Claims about `herma.policy.entry.yamlnode`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.yamlnode import Members, Node, Plain, YamlError, meant


def _merge(value: Any) -> Members:
    members = Members()
    members.put(Node(Plain("<<"), bare=True), value)
    return members


def test_own_members_win_over_merged_ones_in_any_order() -> None:
    """A merge that is written last takes nothing away from what is there."""
    members = Members()
    members.put(Node("a"), "own")
    members.put(Node(Plain("<<"), bare=True), {"a": "merged", "b": "merged"})
    assert members.whole() == {"a": "own", "b": "merged"}


def test_the_first_of_several_merged_mappings_wins() -> None:
    """Later ones only fill what is still missing."""
    assert _merge([{"a": 1}, {"a": 2, "b": 2}]).whole() == {"a": 1, "b": 2}


@pytest.mark.parametrize("value", ["text", None, [{"a": 1}, "text"]])
def test_only_mappings_can_be_merged(value: Any) -> None:
    """A text, nothing, or a list with anything else in it is refused."""
    with pytest.raises(YamlError):
        _merge(value)


@pytest.mark.parametrize("key", [Node("<<", bare=True), Node("<<"), Node(Plain("<<"))])
def test_two_signs_in_quotes_are_an_ordinary_key(key: Node) -> None:
    """Only the bare word, written plainly, merges."""
    members = Members()
    members.put(key, {"a": 1})
    assert members.whole() == {"<<": {"a": 1}}


@pytest.mark.parametrize("key", [["a"], {"a": "b"}])
def test_a_collection_is_no_key(key: Any) -> None:
    """The agent's parser refuses these, too."""
    with pytest.raises(YamlError):
        Members().put(Node(key), "x")


def test_no_key_is_the_empty_key_and_the_last_of_two_counts() -> None:
    """A key that is written twice has its last value."""
    members = Members()
    members.put(Node(None), "first")
    members.put(Node(""), "second")
    assert members.whole() == {"": "second"}


def test_only_a_scalar_without_quotes_means_something_else() -> None:
    """The same word in quotes stays a text, and a collection stays as it is."""
    assert [meant(Plain("off")), meant("off"), meant(Plain("")), meant([Plain("1")])] == [
        False,
        "off",
        None,
        ["1"],
    ]


@given(st.text(max_size=40))
def test_the_error_repeats_nothing_of_the_text(text: str) -> None:
    """Its message is one of two, whatever could not be read."""
    with pytest.raises(YamlError) as raised:
        _merge(text)
    assert str(raised.value) == str(YamlError())
    assert str(YamlError(too_many=True)) != str(YamlError())
