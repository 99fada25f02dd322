"""Claims about `herma.policy.entry.notation`."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry import notation
from herma.policy.entry.notation import relaxed_json, sections, tables, unwrapped


def test_toml_is_read_and_ini_where_it_is_none() -> None:
    """Text without sections and assignments is neither; a name of a section may be a value already."""
    assert sections("[a.b]\nc = [1,\n 2]\n") == {"a": {"b": {"c": [1, 2]}}}
    assert sections("x=y z\n[a]\nb = 'c\n[x]\nd=e\n") == {"x": "y z", "a": {"b": "c"}}
    assert sections("no such thing") is None
    assert sections("[a]\n" * notation.MAX_CHARS) is None


def test_tables_are_cut_out_of_a_long_text() -> None:
    """Each with its values over several lines; prose ends one, and what never ends is none."""
    text = "x = 1\n[a]\nb = [\n1,\n]\nc = '''\n]\n'''\n# d\n\n[e]\nf = 1\nprose\ng = { h = '[' }\ni = [\n"
    assert tables(text, [1]) == "[a]\nb = [\n1,\n]\nc = '''\n]\n'''\n# d\n"
    assert tables(text, [10, 13]) == "g = { h = '[' }\n[e]\nf = 1"
    assert tables(text, [1, 2, 12, 14]) == tables(text, [1])
    assert tables("[a]\nb = [\n", [0]) == ""
    assert tables("a = [\n" * notation.MAX_OPENED + "[b]\nc = 1\n", range(notation.MAX_OPENED + 1)) == ""
    assert tables("[a]\n" + "b = 1\n" * notation.MAX_CHARS, [0]) is None
    assert tables("[a]", [0]) == "[a]"


def test_json_with_liberties_is_read() -> None:
    """Comments, commas at the end, bare keys and single quotes are liberties; half an object is none."""
    assert relaxed_json("x // c\n{a: 'it\\'s', /* d */ \"b\": [true, null, 1,],} rest") == {
        "a": "it's",
        "b": [True, None, 1],
    }
    assert relaxed_json("{a: ") is None
    assert relaxed_json("nothing") is None
    assert relaxed_json("{" * (notation.MAX_CHARS + 1)) is None


def test_what_wraps_a_text_is_taken_off() -> None:
    """Base64 in both alphabets, data addresses, hexadecimal and percent signs; what is no text stays wrapped."""
    text = "hooks: [a, b, c]>>>???"
    assert unwrapped(base64.b64encode(text.encode()).decode()) == text
    assert unwrapped(base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")) == text
    assert unwrapped("data:text/plain;base64," + base64.b64encode(text.encode()).decode()) == text
    assert unwrapped(text.encode().hex()) == text
    assert unwrapped("%7Ba%7D+b") == "{a} b"
    assert unwrapped("100%") is None
    assert unwrapped("a" * 17) is None
    assert unwrapped("00" * 9) is None
    assert unwrapped("ff" * 9) is None
    assert unwrapped("some words") is None
    assert unwrapped("a" * (notation.MAX_WRAPPED_CHARS + 1)) is None


@given(st.text(alphabet="{}[],:'\"/*ab=\n \\%0f", max_size=60))
def test_any_text_can_be_tried(text: str) -> None:
    """No text makes a reader fail."""
    for read in (sections, relaxed_json, unwrapped):
        read(text)
