"""Claims about `herma.policy.entry.outline`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry import outline as module
from herma.policy.entry.outline import outline

READ: dict[str, tuple[str, Any]] = {
    "mappings": ("a:\n  b: c\n  d: e # f\ng: h", {"a": {"b": "c", "d": "e"}, "g": "h"}),
    "lists": ("a:\n- b\n- c: d\n  e: f\n-\ng:\n  - h", {"a": ["b", {"c": "d", "e": "f"}, ""], "g": ["h"]}),
    "a list alone": ("- a\n- b", ["a", "b"]),
    "quotes": ("a: \"b\\x63\\u0064\\n\"\n'e': 'f''g'\n\"h\": i", {"a": "bcd\n", "e": "f'g", "h": "i"}),
    "an open quote": ("a: \"b\nc: 'd", {"a": "b", "c": "d"}),
    "flow": ("a: {b: c, 'd': [e, \"f g\", {h: i}]}", {"a": {"b": "c", "d": ["e", "f g", {"h": "i"}]}}),
    "flow over lines": ("a: [b,\n  c]\nd: e", {"a": ["b", "c"], "d": "e"}),
    "flow that is not closed": ("a: {b: [c, d", {"a": {"b": ["c", "d"]}}),
    "flow alone": ("{a: b}", {"a": "b"}),
    "a list in flow alone": ("[a, b", ["a", "b"]),
    "a closing bracket": ("]", {}),
    "literal text": ("a: |\n  b\n  c\nd: >-\n  e\n  f", {"a": "b\nc", "d": "e f"}),
    "an anchor": ("a: &x\n  b: c\nd: *x", {"a": {"b": "c"}, "d": {"b": "c"}}),
    "an anchor that is not there": ("d: *x", {"d": ""}),
    "a merge": (
        "a: &x {b: c, d: e}\nf:\n  <<: *x\n  d: g",
        {"a": {"b": "c", "d": "e"}, "f": {"b": "c", "d": "g"}},
    ),
    "a tag": ("a: !!str b", {"a": "b"}),
    "an empty value": ("a:\nb: c", {"a": "", "b": "c"}),
    "an empty value at the end": ("a:", {"a": ""}),
    "comments and markers": ("---\n# x\na: b\n...", {"a": "b"}),
    "prose": ("Hello there.\nNote: this is prose", {"Note": "this is prose"}),
    "nothing": ("\n", {}),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ.keys())
def test_configuration_text_is_read(text: str, value: Any) -> None:
    """Blocks, flow, quotes, anchors and merges give the value that YAML gives."""
    assert outline(text) == value


def test_depth_and_lines_are_bounded() -> None:
    """Blocks within blocks end at a bound, and so does the text."""
    assert outline("\n".join(" " * index + "a:" for index in range(200)))
    assert outline("- " * 200 + "a: b") is not None
    assert outline("a: " + "[" * 200) is not None
    assert outline("x: y\n" * (module.MAX_LINES + 5) + "z: 1") == {"x": "y"}


@given(st.text(alphabet=" \n-:{}[],\"'&*|><#!\\ab", max_size=60))
def test_any_text_is_read(text: str) -> None:
    """No text makes the reader fail."""
    assert isinstance(outline(text), (dict, list))
