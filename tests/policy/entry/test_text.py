"""Claims about `herma.policy.entry.text`."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry import text as text_module
from herma.policy.entry.text import SHORTEST, Reading, Texts

NOTHING = Reading()
UNREAD = Reading(unread=True)
HOOKS = {"hooks": {"a": "touch x"}}


def _read(text: str, *, strict: bool = False, inside: bool = False, deep: bool = False) -> Reading:
    return Texts().read(text, strict=strict, inside=inside, deep=deep)


def test_the_shortest_text_that_says_something_is_read() -> None:
    """Shorter ones are not looked at, unless they are configuration."""
    assert len("yolo: on") == SHORTEST
    assert {"yolo": True} in _read("yolo: on").values
    assert _read("yolo: 1") == NOTHING
    assert _read("a: 1", strict=True).values == [{"a": 1}]
    assert _read("", strict=True) == NOTHING


def test_words_of_prose_write_nothing() -> None:
    """Nor does a name or a path, or JSON without a key that counts."""
    for text in ("Hooks are a way to run programs.", "/srv/hooks/command/args", '{"a": "b", "c": 1}'):
        assert _read(text) == NOTHING


def test_what_is_no_configuration_is_refused_where_it_must_be_one() -> None:
    """Elsewhere the same text is read as far as it goes."""
    text = "hooks: a: b: [\n"
    assert _read(text, strict=True) == UNREAD
    assert not _read(text).unread


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(HOOKS),
        "hooks:\n  a: touch x\n",
        "Set: this: so\nhooks:\n  a: touch x\n",
        "{hooks: {a: 'touch x'}}",
    ],
    ids=["JSON", "YAML", "a block in prose", "JSON with liberties"],
)
def test_a_text_is_read_in_each_way_that_gives_its_keys(text: str) -> None:
    """Whatever the notation, the values hold the same."""
    assert HOOKS in _read(text).values


def test_blocks_keep_what_goes_on_at_the_same_depth() -> None:
    """Items of a list and closing braces belong to the key before; what is beside it does not."""
    (*_, held) = _read("Like: this: here\nhooks:\n- touch x\n\n- touch y\nother: z: w\n").values
    assert held == {"hooks": ["touch x", "touch y"]}


def test_a_text_that_is_wrapped_gives_what_it_wraps() -> None:
    """As JSON or in another alphabet; where nothing is unwrapped any more, only keys that count are refused."""
    inner = "hooks:\n  a: touch x\n"
    for text in (json.dumps(inner), base64.b64encode(inner.encode()).decode()):
        assert _read(text).values == [inner]
        assert _read(text, deep=True) == UNREAD
    assert _read(json.dumps("just words, no more"), deep=True) == NOTHING


def test_quotes_around_no_text_are_no_wrapping() -> None:
    """Two texts in quotes are not one text."""
    assert _read('"hooks are" and "more of it"') == NOTHING


def test_values_where_nothing_is_unwrapped_any_more_are_refused() -> None:
    """There may be text in them; what holds nothing may stay."""
    assert _read(json.dumps(HOOKS), deep=True) == UNREAD
    assert not _read("config set hooks.a b", deep=True).unread


def test_a_key_that_is_set_is_given_with_its_value() -> None:
    """Its parts lead to it; the entries of command lines come with it."""
    assert list(_read("hermes config set hooks.a 'touch x'").keys) == [(("hooks", "a"), "touch x")]
    (entry,) = _read("hermes mcp add x -- bash -c y").entries
    assert entry.fields == {"command": "bash -c y"}


def test_a_long_text_is_refused_only_if_it_writes_names_of_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or if it must be configuration."""
    monkeypatch.setattr(text_module, "MAX_STRING_CHARS", 40)
    padding = "some words and more of them, " * 2
    assert _read(f"{padding} mcp command: x") == UNREAD
    assert _read(f"{padding} command: x, args: y") == UNREAD
    assert _read(f"{padding} command: x", inside=True) == UNREAD
    assert _read(f"{padding} command: x") == NOTHING
    assert _read(f"{padding} a: b", strict=True) == UNREAD


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        ("MAX_VALUES", json.dumps(HOOKS)),
        ("MAX_VALUES", 'see {"command": 1} with args'),
        ("MAX_KEYS_SET", "hermes config set hooks.a b"),
        ("MAX_OUTLINED_CHARS", "Like: this: here\nhooks:\n  a: b\n"),
    ],
)
def test_what_one_body_may_cost_is_bounded(monkeypatch: pytest.MonkeyPatch, bound: str, text: str) -> None:
    """Texts of one reader count together; a reader of its own begins anew."""
    texts = Texts()
    assert not texts.read(text, strict=False, inside=False, deep=False).unread
    monkeypatch.setattr(
        text_module, bound, 1 if bound != "MAX_OUTLINED_CHARS" else len("hooks:\n  a: b\n") + 3
    )
    assert texts.read(text, strict=False, inside=False, deep=False).unread
    assert not _read(text).unread


def test_configuration_costs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that must be configuration is refused where it is too much to read."""
    monkeypatch.setattr(text_module, "MAX_OUTLINED_CHARS", 5)
    assert _read("a: b", strict=True).values == [{"a": "b"}]
    assert _read("a: bcd", strict=True) == UNREAD


def test_names_that_are_too_many_are_refused() -> None:
    """Not every brace of a text can be tried."""
    assert _read("see " + '{"command": 1} ' * 600) == UNREAD


def test_other_notations_are_tried_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it, what begins with a key that counts is read, and nothing else."""
    text = "x: y: z\n[hooks]\na = 'touch x'\n"
    assert HOOKS in _read(text).values
    monkeypatch.setattr(text_module, "MAX_OTHER_CHARS", 5)
    assert HOOKS in _read(text).values
    assert HOOKS in _read("x = 1\n" * 20_000 + text).values
    assert _read(f"[hooks]\na = '{'x' * 70_000}'\n") == UNREAD


@given(
    st.lists(
        st.sampled_from(
            [
                "hooks",
                "mcp",
                "command",
                "args",
                ": ",
                "=",
                "\n",
                "  ",
                "- ",
                "{",
                "}",
                '"',
                "\\u0063",
                "[",
                "]",
                "x ",
            ]
        ),
        max_size=16,
    ).map("".join)
    | st.text(max_size=60),
    st.booleans(),
    st.booleans(),
)
def test_any_text_can_be_read(text: str, strict: bool, deep: bool) -> None:
    """None makes it fail, and what is refused gives nothing else."""
    reading = _read(text, strict=strict, deep=deep)
    if reading.unread:
        assert reading == UNREAD


def test_a_key_far_behind_the_beginning_of_its_line_may_be_one() -> None:
    """What stands before it is not looked at, and may open a flow."""
    far = "x " * text_module.MAX_BEFORE_CHARS
    assert text_module._begins(far + "yolo", len(far))
    assert not text_module._begins("some words yolo", 11)
