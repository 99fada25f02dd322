"""Claims about `herma.policy.entry.look`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.keys import fold
from herma.policy.entry.look import KEY_WORDS, MAX_PLACES, YAML_MEMBERS, keys_named, may_hold_entry, squeezed


@pytest.mark.parametrize("word", sorted({*KEY_WORDS, *YAML_MEMBERS}))
def test_every_key_that_counts_is_seen(word: str) -> None:
    """In capitals and taken apart by signs, too."""
    assert may_hold_entry(json.dumps({word: 1}).encode())
    assert may_hold_entry("_".join(word.upper()).encode())


@pytest.mark.parametrize("more", ['"args":[]', '"env":{}', '"name":"x"', '"event":"e"'])
def test_a_command_needs_company(more: str) -> None:
    """Alone it is the argument of a tool."""
    assert may_hold_entry(f'{{"command":"x",{more}}}'.encode())
    assert not may_hold_entry(b'{"command":"x"}')


def test_an_address_needs_a_name() -> None:
    """Alone it is a link, and a name alone is anything; servers are seen by their key."""
    assert may_hold_entry(b'{"name":"x","url":"http://x.example"}')
    assert not may_hold_entry(b'{"url":"http://x.example"}')
    assert not may_hold_entry(b'{"name":"x"}')
    assert may_hold_entry(b'{"Servers":[]}')


@pytest.mark.parametrize(
    "raw",
    [b'"' + b"QUJD" * 12, b"%7Bx", b"x%22", rb"\u0063", rb"\\x63", "\uff43".encode()],
    ids=["long run", "brace", "quote", "escape", "escaped escape", "wide letter"],
)
def test_what_may_be_wrapped_is_looked_into(raw: bytes) -> None:
    """A run without blanks, an escape and a wide letter may spell any key."""
    assert may_hold_entry(raw)
    assert not may_hold_entry(b'{"messages":[{"content":"hello"}]}')


@given(st.binary(max_size=60), st.sampled_from(KEY_WORDS), st.binary(max_size=60))
def test_nothing_around_a_key_hides_it(before: bytes, word: str, after: bytes) -> None:
    """No bytes make the look fail or miss a key."""
    assert may_hold_entry(before + word.encode() + after)


@given(st.text(alphabet="aBc_- \n:ß\uff21", max_size=40))
def test_a_squeezed_text_stays_as_it_is(text: str) -> None:
    """It keeps its lines, and a plain key in it has the form that keys have."""
    once = squeezed(text)
    assert squeezed(once) == once
    assert once.count("\n") == text.count("\n")
    if text.isascii():
        assert once == fold(text)


NAMED: dict[str, list[int]] = {
    "hooks:": [0],
    '"hooks":1': [1],
    "a\nhooks=1": [2],
    "[hooks]\nx": [1],
    "?hooks\n:x": [1],
    "hooks.x.y=1": [0],
    "mcpserver:": [0],
    "mcpservers:": [0],
    "thehooksinprose": [],
    "mcpserversareprograms": [],
    "": [],
}


@pytest.mark.parametrize(("text", "places"), NAMED.items(), ids=map(repr, NAMED))
def test_a_key_is_told_from_a_word(text: str, places: list[int]) -> None:
    """What follows decides: a sign of assignment, the end of a heading, the rest of a path."""
    assert [at for at in keys_named(text) if at in places] == places
    assert bool(keys_named(text)) is bool(places)


@given(st.lists(st.sampled_from([*KEY_WORDS, ":", "=", "\n", '"', "]", ".x", "servers", "#"]), max_size=12))
def test_places_lie_in_the_text_in_order(pieces: list[str]) -> None:
    """Any text can be asked, and each place begins a word that counts."""
    text = "".join(pieces)
    places = keys_named(text)
    assert places == sorted(places)
    assert all(text.startswith(KEY_WORDS, at) for at in places)


def test_places_are_bounded_and_more_count_as_named() -> None:
    """A text that repeats a word beyond the bound is taken to name it."""
    assert keys_named("hooks " * (MAX_PLACES - 1)) == []
    assert keys_named("hooks " * (MAX_PLACES + 2)) != []
    assert len(keys_named("hooks:" * (MAX_PLACES + 99))) <= MAX_PLACES + 1
