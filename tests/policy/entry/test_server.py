"""Claims about `herma.policy.entry.server`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.keys import fold
from herma.policy.entry.server import PLACES, servers_of


def _servers(node: dict[str, Any], *, inside: bool) -> list[dict[str, Any]]:
    members = {fold(key): value for key, value in node.items()}
    return [dict(fields) for fields in servers_of(node, members, inside=inside)]


def test_places_are_written_as_keys_are_folded() -> None:
    """A place in another spelling would never be found."""
    assert {fold(place) for place in PLACES} == PLACES


def test_a_command_alone_is_an_entry_only_in_its_place() -> None:
    """Elsewhere it is the argument of a tool, unless arguments or an environment come with it."""
    assert _servers({"command": "x"}, inside=True) == [{"command": "x"}]
    assert _servers({"command": "x"}, inside=False) == []
    company: list[dict[str, Any]] = [{"args": []}, {"args": "y"}, {"env": {}}]
    for more in company:
        assert _servers({"command": "x", **more}, inside=False) == [{"command": "x", **more}]


@pytest.mark.parametrize(
    ("more", "counts"),
    [({}, False), ({"type": "image"}, False), ({"type": 5}, False), ({"transport": "Streamable-HTTP"}, True)],
)
def test_an_address_needs_a_transport_outside_its_place(more: dict[str, Any], counts: bool) -> None:
    """An image has an address, too."""
    node = {"url": "http://x.example", **more}
    assert bool(_servers(node, inside=False)) is counts
    assert _servers(node, inside=True) == [node]


@pytest.mark.parametrize(
    ("alias", "name"),
    [("exec", "command"), ("Arguments", "args"), ("httpUrl", "url"), ("env_vars", "env")],
)
def test_other_names_of_members_count_in_their_place(alias: str, name: str) -> None:
    """The judge sees the name it knows."""
    value = {"A": "b"} if name == "env" else ["y"] if name == "args" else "y"
    assert _servers({"command": "x", alias: value}, inside=True)[0][name] == (
        value if name != "command" else "x"
    )


def test_other_names_are_no_entry_elsewhere() -> None:
    """A step of a workflow has `run`, and other programs have `program`."""
    assert _servers({"run": "make", "args": ["all"]}, inside=False) == []
    assert _servers({"COMMAND": "x", "args": []}, inside=False) == [{"args": [], "command": "x"}]


def test_every_command_of_a_mapping_is_an_entry() -> None:
    """Nobody knows which of them the agent would take."""
    found = _servers({"command": "x", "cmd": "y", "exec": ["z"], "run": 5, "args": ["a"]}, inside=True)
    assert [fields["command"] for fields in found] == ["x", "y", ["z"], 5]
    assert all(fields["args"] == ["a"] for fields in found)


@pytest.mark.parametrize(
    ("alias", "name", "value"),
    [("argv", "args", ["b"]), ("serverUrl", "url", "http://x.example"), ("environment", "env", {"A": "b"})],
)
def test_no_other_spelling_hides_the_exact_name(alias: str, name: str, value: Any) -> None:
    """The agent reads that one, wherever it stands; the other is kept beside it, and is read in its turn."""
    for node in ({alias: "other", name: value}, {name: value, alias: "other"}):
        first, second = _servers({"command": "x", **node}, inside=True)
        assert first == {"command": "x", name: value, f"{alias} ": "other"}
        assert second == {"command": "x", name: "other", f"{name} ": value}


@pytest.mark.parametrize("args", [["-c", "echo a"], {"one": "echo a", "two": 5}, "echo a"])
def test_arguments_without_a_command_may_be_lines(args: Any) -> None:
    """Whatever runs them may be a shell; a single word is no line."""
    assert {"command": "echo a"} in _servers({"args": args}, inside=True)
    assert {"command": "-c"} not in _servers({"args": args}, inside=True)


_VALUES = st.none() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=4), max_size=3)


@given(
    st.dictionaries(
        st.sampled_from(["command", "Cmd", "exec", "args", "argv", "url", "serverUrl", "env", "x"])
        | st.text(max_size=6),
        _VALUES | st.dictionaries(st.text(max_size=4), _VALUES, max_size=2),
        max_size=6,
    ),
    st.booleans(),
)
def test_any_mapping_can_be_asked(node: dict[str, Any], inside: bool) -> None:
    """None makes it fail, and each entry has something that is judged."""
    for fields in _servers(node, inside=inside):
        assert {"command", "url", "args"} & fields.keys()
