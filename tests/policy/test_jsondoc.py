"""Claims about `herma.policy.jsondoc`."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy import jsondoc
from herma.policy.jsondoc import JsonError, find, parse, strings

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def _parse(raw: bytes, max_depth: int = 8, max_keys: int = 100) -> Any:
    return parse(raw, max_depth=max_depth, max_keys=max_keys).value


REFUSED = {
    "duplicate name": (b'{"command":"a","command":"b"}', "herma.body.duplicate_key"),
    "duplicate name behind an escape": (b'{"command":1,"\\u0063ommand":2}', "herma.body.duplicate_key"),
    "duplicate name further in": (b'[{"a":{"b":1,"b":1}}]', "herma.body.duplicate_key"),
    "byte-order mark": (b"\xef\xbb\xbf{}", "herma.body.encoding"),
    "UTF-16 with a mark": ('{"a":1}'.encode("utf-16"), "herma.body.encoding"),
    "UTF-16 without a mark": ('{"a":1}'.encode("utf-16-le"), "herma.body.malformed"),
    "Latin-1": (b'{"a":"\xe9"}', "herma.body.encoding"),
    "overlong UTF-8": (b'{"a":"\xc0\xae"}', "herma.body.encoding"),
    "raw surrogate": (b'{"a":"\xed\xa0\x80"}', "herma.body.encoding"),
    "lone high surrogate": (b'{"a":"\\ud83d"}', "herma.body.encoding"),
    "lone low surrogate in a name": (b'{"\\uDE00":1}', "herma.body.encoding"),
    "NUL in a name": (b'{"a\\u0000":1}', "herma.body.encoding"),
    "NUL in a name in a list": (b'[1,{"b":{"a\\u0000":1}}]', "herma.body.encoding"),
    "NaN": (b'{"a":NaN}', "herma.body.number"),
    "Infinity": (b'{"a":-Infinity}', "herma.body.number"),
    "a float beyond the largest": (b'{"a":1e999}', "herma.body.number"),
    "a number of 5000 digits": (b"[" + b"1" * 5000 + b"]", "herma.body.number"),
    "trailing data": (b"{}{}", "herma.body.malformed"),
    "trailing comma": (b'{"a":1,}', "herma.body.malformed"),
    "single quotes": (b"{'a':1}", "herma.body.malformed"),
    "raw control character": (b'{"a":"\n"}', "herma.body.malformed"),
    "empty": (b"", "herma.body.malformed"),
    "comment": (b'{"a":1/*x*/}', "herma.body.malformed"),
    "prototype": (b'{"a":{"__proto__":{}}}', "herma.body.key"),
    "one level too deep": (b"[" * 9 + b"]" * 9, "herma.body.depth"),
    "100,000 levels": (b"[" * 100_000 + b"]" * 100_000, "herma.body.depth"),
    "100,000 levels never closed": (b'{"a":' * 100_000, "herma.body.keys"),
    "100,000 lists never closed": (b"[" * 100_000, "herma.body.depth"),
    "closing brackets only": (b"]" * 20 + b"[" * 9, "herma.body.malformed"),
    "one member too many": (
        b"{" + b",".join(b'"k%d":1' % number for number in range(101)) + b"}",
        "herma.body.keys",
    ),
}


@pytest.mark.parametrize(("raw", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_a_body_with_more_than_one_meaning_is_refused(raw: bytes, code: str) -> None:
    """Each refused kind has its own stable code, and the message repeats nothing of the body."""
    with pytest.raises(JsonError) as caught:
        _parse(raw)
    assert caught.value.code == code
    assert "command" not in str(caught.value)


ACCEPTED = {
    "as deep as allowed": b"[" * 8 + b"]" * 8,
    "brackets in strings do not count": b'["' + b"[{" * 50 + b'\\"]"]',
    "many shallow containers": b"[" + b",".join([b"{}"] * 60) + b"]",
    "as many members as allowed": b"{" + b",".join(b'"k%d":1' % number for number in range(100)) + b"}",
    "colons in strings do not count": b'{"a":"' + b":" * 200 + b'"}',
    "NUL in a value": b'{"a":"\\u0000"}',
    "a surrogate pair": b'{"a":"\\ud83d\\ude00"}',
    "an escaped backslash before ud": b'{"a":"\\\\ud800"}',
    "white space around": b" \r\n\t{} \n",
    "a bare string": b'"text"',
}


@pytest.mark.parametrize("raw", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_body_with_one_meaning_is_read_as_the_upstream_reads_it(raw: bytes) -> None:
    """What is accepted has the value that Python's own parser gives it."""
    assert _parse(raw) == json.loads(raw)


def test_a_body_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of values is bounded, whatever their size, so that memory is."""
    monkeypatch.setattr(jsondoc, "MAX_VALUES", 20)
    with pytest.raises(JsonError) as caught:
        _parse(b"[" + b",".join([b"1"] * 30) + b"]")
    assert caught.value.code == "herma.body.keys"
    assert _parse(b"[" + b",".join([b"11"] * 15) + b"]") == [11] * 15


@given(VALUES)
def test_every_value_survives_the_way_through_json(value: Any) -> None:
    """Whatever can be written as JSON without losing anything is read back the same."""
    raw = json.dumps(value, ensure_ascii=False).encode()
    assert _parse(raw, max_depth=64, max_keys=1000) == value


@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\u0d8 1ea', max_size=60).map(str.encode))
def test_any_bytes_give_a_document_or_a_json_error(raw: bytes) -> None:
    """No input makes the parser raise anything else, and what it accepts Python's parser accepts too."""
    code = ""
    try:
        value = _parse(raw, max_depth=4, max_keys=5)
    except JsonError as error:
        code = error.code
    assert code.startswith("herma.body.") if code else value == json.loads(raw)


@given(VALUES)
def test_depth_is_counted_exactly(value: Any) -> None:
    """A document passes with a limit of its own depth and not with one less."""

    def depth(node: Any) -> int:
        children = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else None
        return 0 if children is None else 1 + max(map(depth, children), default=0)

    raw = json.dumps([[value]] * 2).encode()
    deep = depth([[value]])
    assert parse(raw, max_depth=deep, max_keys=1000).raw == raw
    with pytest.raises(JsonError) as caught:
        parse(raw, max_depth=deep - 1, max_keys=1000)
    assert caught.value.code == "herma.body.depth"


def test_strings_come_in_document_order_with_their_pointers() -> None:
    """Every string is named by the pointer RFC 6901 gives it; other values are passed over."""
    value = {"a/b": ["x", 1, {"~": "y"}], "c": None, "d": "z"}
    assert list(strings(value)) == [("/a~1b/0", "x"), ("/a~1b/2/~0", "y"), ("/d", "z")]


def test_names_are_given_on_request() -> None:
    """A name has the pointer of its member."""
    assert list(strings({"a": {"b": "c"}}, keys=True)) == [("/a", "a"), ("/a/b", "b"), ("/a/b", "c")]
    assert list(strings("alone")) == [("", "alone")]


@given(VALUES)
def test_every_string_is_found_again_by_its_pointer(value: Any) -> None:
    """`find` and `strings` agree on what a pointer means, except where a name is the wildcard itself."""
    for pointer, text in strings(value):
        if "*" not in pointer:
            assert find(value, pointer) == [(pointer, text)]


FOUND = {
    "the whole": ("", [("", {"m": [{"t": "a"}, {"t": "b"}, 3], "o": {"x": 1}})]),
    "a member": ("/o/x", [("/o/x", 1)]),
    "every element": ("/m/*/t", [("/m/0/t", "a"), ("/m/1/t", "b")]),
    "every member": ("/o/*", [("/o/x", 1)]),
    "an index": ("/m/1/t", [("/m/1/t", "b")]),
    "an index too large": ("/m/9", []),
    "no index": ("/m/-", []),
    "digits that are not ASCII": ("/m/١", []),
    "nothing": ("/q", []),
    "into a number": ("/o/x/y", []),
}


@pytest.mark.parametrize(("pointer", "found"), FOUND.values(), ids=FOUND.keys())
def test_a_pointer_finds_what_it_names(pointer: str, found: list[tuple[str, Any]]) -> None:
    """Pointers find members, elements, and with `*` each of them; what is not there is not found."""
    assert find({"m": [{"t": "a"}, {"t": "b"}, 3], "o": {"x": 1}}, pointer) == found


def test_a_pointer_without_its_slash_is_a_mistake() -> None:
    """A malformed pointer is reported, not taken to match nothing."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        find({}, "a")
