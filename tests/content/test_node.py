"""A parsed file is read strictly, and every error has its place."""

from collections.abc import Callable
from enum import StrEnum

import pytest

from herma.content.node import Node
from herma.errors import ContentError
from herma.yamlfile import load


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


KNOWN = ("a", "b")


def node(text: str, required: tuple[str, ...] = ()) -> Node:
    loaded = load(text.encode(), "x.yaml")
    return Node(loaded, (), loaded.value, KNOWN, required)


def test_values_are_read() -> None:
    """Each reader gives the value of its type."""
    read = node("a: text\nb: true\n")
    assert (read.text("a"), read.flag("b"), read.has("a")) == ("text", True, True)
    assert node("a: 7\n").size("a") == 7
    assert node("a: blue\n").choice("a", Colour, Colour.RED) is Colour.BLUE
    assert node("a: [x, '']\n").texts("a") == ("x", "")
    assert node("a: {x: y}\n").pairs("a") == (("x", "y"),)


def test_absent_keys_give_defaults() -> None:
    """What is not there is the default, never an error."""
    read = node("b: x\n")
    assert (read.text("a"), read.text("a", "d"), read.flag("a"), read.size("a"), read.has("a")) == (
        "",
        "d",
        False,
        None,
        False,
    )
    assert read.choice("a", Colour, Colour.RED) is Colour.RED
    assert (read.texts("a"), read.pairs("a")) == ((), ())
    assert read.node("a", KNOWN, ()) is None
    assert list(read.nodes("a", KNOWN, ())) == []


WRONG: dict[str, tuple[str, Callable[[Node], object], str]] = {
    "text": ("a: 7\n", lambda read: read.text("a"), "x.yaml:1:4"),
    "empty text": ("a: ''\n", lambda read: read.text("a"), "x.yaml:1:4"),
    "flag": ("a: 'yes'\n", lambda read: read.flag("a"), "x.yaml:1:4"),
    "size zero": ("a: 0\n", lambda read: read.size("a"), "x.yaml:1:4"),
    "size bool": ("a: true\n", lambda read: read.size("a"), "x.yaml:1:4"),
    "size text": ("a: big\n", lambda read: read.size("a"), "x.yaml:1:4"),
    "choice": ("a: green\n", lambda read: read.choice("a", Colour, Colour.RED), "x.yaml:1:4"),
    "texts no list": ("a: x\n", lambda read: read.texts("a"), "x.yaml:1:4"),
    "texts item": ("a: [x, 7]\n", lambda read: read.texts("a"), "x.yaml:1:8"),
    "pairs no mapping": ("a: x\n", lambda read: read.pairs("a"), "x.yaml:1:4"),
    "pairs item": ("a: {x: 7}\n", lambda read: read.pairs("a"), "x.yaml:1:8"),
    "node": ("a: x\n", lambda read: read.node("a", KNOWN, ()), "x.yaml:1:4"),
    "node key": ("a: {z: 1}\n", lambda read: read.node("a", KNOWN, ()), "x.yaml:1:8"),
    "nodes no list": ("a: x\n", lambda read: list(read.nodes("a", KNOWN, ())), "x.yaml:1:4"),
    "nodes item": ("a: [x]\n", lambda read: list(read.nodes("a", KNOWN, ())), "x.yaml:1:5"),
    "checked": ("a: '7'\n", lambda read: read.checked("a", lambda: int("x")), "x.yaml:1:4"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_value_is_an_error_at_its_place(name: str) -> None:
    """The error names file, line and column of the value."""
    text, read, place = WRONG[name]
    with pytest.raises(ContentError) as caught:
        read(node(text))
    assert str(caught.value.source) == place


def test_unknown_and_missing_keys_are_errors() -> None:
    """A misspelt key is not ignored, a necessary one not guessed."""
    with pytest.raises(ContentError, match="unknown key"):
        node("c: 1\n")
    with pytest.raises(ContentError, match="'b' is missing"):
        node("a: 1\n", required=("b",))
    with pytest.raises(ContentError, match="expected a mapping"):
        node("- a\n")


def test_checked_gives_what_was_made() -> None:
    """Without an error, the value passes through."""
    assert node("a: '7'\n").checked("a", lambda: 7) == 7
