"""Claims about `herma.policy.entry.keys`."""

import pytest

from herma.policy.entry.keys import MAX_SPELLINGS, SpellingsError, fold, nested, spellings, steps, tree


def test_all_spellings_of_a_key_are_one() -> None:
    """Case, dashes, blanks, humps and wide letters make no other key."""
    spelled = ("hooks_auto_accept", "hooksAutoAccept", "HOOKS-AUTO-ACCEPT ", "\uff48ooks auto accept")
    assert {fold(key) for key in spelled} == {"hooksautoaccept"}


def test_members_with_one_name_are_chosen_each_with_each() -> None:
    """The first value of each name comes first; too many choices are none."""
    members = [("a", 1), ("b", 2), ("a", 3), ("b", 4)]
    assert [tuple(chosen.values()) for chosen in spellings(members)] == [(1, 2), (1, 4), (3, 2), (3, 4)]
    with pytest.raises(SpellingsError):
        list(spellings(("a", at) for at in range(MAX_SPELLINGS + 1)))


def test_a_path_is_taken_apart_however_it_is_written() -> None:
    """Names keep their case; pointers are unescaped."""
    assert steps("mcp_servers.Relay[args]['0']") == ("mcp_servers", "Relay", "args", "0")
    assert steps("/approvals~1mode") == ("approvals", "mode")
    assert nested(("a", "b"), 1) == {"a": {"b": 1}}


def test_paths_make_one_tree() -> None:
    """What is set as a whole is kept when parts of it are set; a dash adds an item; no part is no path."""
    pairs = [
        (("a", "b"), {"x": 1}),
        (("a", "b"), {"y": 2}),
        (("a", "c"), ["p"]),
        (("a", "c", "-"), "q"),
        (("d",), 1),
        (("d", "e"), 2),
    ]
    assert tree([*pairs, ((), 5)]) == {
        "a": {"b": {"x": 1, "y": 2}, "c": {"0": "p", "-3": "q"}},
        "d": {"e": 2},
    }
