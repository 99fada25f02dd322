"""Claims about `herma.policy.entry.yamltext`."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry import yamltext
from herma.policy.entry.yamltext import YamlError, read_yaml

READ: dict[str, Any] = {
    "": None,
    "# nothing\n": None,
    "a: 1\nb: [x, 'y', \"z\"]\n": {"a": 1, "b": ["x", "y", "z"]},
    "a: yes\nb: OFF\nc: ~\nd: nO\ne: oN\n": {"a": True, "b": False, "c": None, "d": "nO", "e": "oN"},
    "- 0x1f\n- 0b11\n- 017\n- -5\n- +1_0\n- 1.5\n- 08\n": [31, 3, 15, -5, 10, "1.5", "08"],
    "a: |\n  x\n   y\n\nb: >-\n  x\n  y\n": {"a": "x\n y", "b": "x y"},
    "a: |2\n   x\n": {"a": " x"},
    "a: |\n\n   x\n  y\n b: c\n" "": None,
    "a: |\n  x": {"a": "x"},
    "a:\n- 1\n-\n  b: c\n- - d\n": {"a": [1, {"b": "c"}, ["d"]]},
    "? a\n: b\n? c\nd: e\n": {"a": "b", "c": None, "d": "e"},
    "{? a : b, c, [d]: e}": None,
    "{? a : b, c, d: , ? e}": {"a": "b", "c": None, "d": None, "e": None},
    "[a: b, ? c : d, {e: f}, &x g, *x, !!str 1, !!str , h\n i]": [
        {"a": "b"}, {"c": "d"}, {"e": "f"}, "g", "g", "1", "", "h i",
    ],
    "a: &x\nb: *x\n": {"a": None, "b": None},
    "a: !!str\nb: !!str 5\nc: &y !!str off\n&z d: *y\n*z : 1\n": {"a": "", "b": "5", "c": "off", "d": "off"} | {"d": 1},
    "x: &o {a: 1, b: 2}\ny: &p {b: 3}\nz:\n  <<: [*p, *o]\n  c: 4\n": {
        "x": {"a": 1, "b": 2}, "y": {"b": 3}, "z": {"a": 1, "b": 3, "c": 4},
    },
    "'<<': 5\n": {"<<": 5},
    "--- a\n...\n": "a",
    "---\na: b\n": {"a": "b"},
    "a b\n  c\n\n d # e\n": "a b c\nd",
    "'a\n b''c'": "a b'c",
    '"a\\\n  b\\\n\n  c\\u0041\\t"': "ab\ncA\t",
    "a: b#c\n": {"a": "b#c"},
    "!!map {a: b}": {"a": "b"},
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ.items(), ids=map(repr, READ))
def test_a_text_is_read_to_what_it_says(text: str, value: Any) -> None:
    """Every feature that is read gives the value that the agent's parser gives; None here where it refuses, too."""
    try:
        known = yaml.safe_load(text)
    except yaml.YAMLError:
        with pytest.raises(YamlError):
            read_yaml(text)
        return
    assert read_yaml(text) == value
    if "1.5" not in text:
        assert _bare(known) == _bare(value)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_bare(held) for held in value]
    return value.rstrip("\n") if isinstance(value, str) else value


REFUSED = [
    "a: b: c", "a\nb: c: d", "a: 1\n  b: 2\n", "- a\n  - b: c\n x", "[a", "{a: b", "[a}", "[a b: c, ]d", "a: *x", "*x : a", "'a", '"a',
    '"\\q"', '"\\Uffffffff"', "a: @b", "a:\tb", "\x01", "a: 1\n---\nb: 2\n", "%YAML 1.1\n---\na", "a: !!set {b}", "a: |x\n b",
    "a: &x &y b", "<<: a", "<<: [a]", "? [a]\n: b", "[a\n---\n]", "'a\n---\n'", ": a", "a: - b", "[?a?b]", "- a\nb", "  a: 1\n b: 2\n",
    "[@]", "a: 1\nb\n", "[a\n--- b]", "? a\n: b\n : c", "{a: b c: d}", "[a,\n...\n]",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_read_with_certainty_is_refused(text: str) -> None:
    """The agent's parser refuses these, too, or reads them as something that is not known here."""
    with pytest.raises(YamlError):
        read_yaml(text)


def test_depth_and_values_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However they come about: by nesting, by number, or behind aliases."""
    for text in ("[" * 99, "- " * 99, "? " * 99):
        with pytest.raises(YamlError) as raised:
            read_yaml(text)
        assert raised.value.too_many
    monkeypatch.setattr(yamltext, "MAX_VALUES", 20)
    for text in (
        "a: 1\n" * 30,
        "a: &a [1, 2, 3, 4, 5]\nb: [*a, *a, *a]\n",
        "[1, 2]: " * 30,
        "{" + "a: 1, " * 30 + "}: b",
    ):
        with pytest.raises(YamlError):
            read_yaml(text)


_PIECES = st.sampled_from(
    [
        "a",
        "b: ",
        "c:\n",
        "  ",
        "- ",
        "? ",
        ": ",
        "\n",
        "\n  ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        '"x"',
        "'y'",
        "&a ",
        "*a",
        "<<: ",
        "#c\n",
        "off",
        "!!str ",
        "k: v\n",
        "---\n",
        "-x",
        ":y",
        '"a\n b"',
        "~",
        '"k":v',
        "0x1",
        "? k\n: v\n",
        "\n- ",
        "é",
        "\t",
        "|\n  ",
        ">-\n  ",
    ]
)


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_what_is_read_is_what_the_agent_reads(text: str) -> None:
    """Whatever is read here and there has the same value; a text may be refused here alone, or be no YAML at all."""
    try:
        known = yaml.safe_load(text)
        value = read_yaml(text)
    except (YamlError, yaml.YAMLError, ValueError, TypeError):
        return
    if "|" not in text and ">" not in text:
        assert _named(value) == _named(known)


def _named(value: Any) -> Any:
    if isinstance(value, dict):
        # Keys are texts here, whatever they mean.
        return (
            [_named(held) for held in value.values()] if all(isinstance(key, str) for key in value) else ...
        )
    return [_named(held) for held in value] if isinstance(value, list) else value
