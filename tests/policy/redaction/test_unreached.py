"""What of a document was not reached."""

import json

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.unreached import BATCH_NAMES, masked_unread
from support.redactor import redactor

LEAVES = st.text(max_size=8) | st.integers() | st.floats(allow_nan=False) | st.none() | st.booleans()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def masked(text: str, *known: str) -> str:
    return masked_unread(
        text, lambda names: all(name in known for name in names.split("\n")), redactor().unjudged
    )


def shape(value: object) -> object:
    match value:
        case dict():
            return [shape(item) for item in value.values()]
        case list():
            return ["list", *map(shape, value)]
        case str() | float():
            return "leaf"
        case int() if not isinstance(value, bool):
            return "leaf"
    return value


@given(VALUES)
def test_what_is_masked_unread_is_json_of_the_same_structure(value: object) -> None:
    """No member and no item is lost, and no string is left."""
    out = json.loads(masked(json.dumps(value)))
    assert shape(out) == shape(value)


def test_strings_are_told_apart_and_names_stay_that_are_quiet() -> None:
    """Equal strings have equal marks; a long number may be a credential, a short one and a fraction are none."""
    text = '{"role": "a", "x" :"b", "y":["b", 1234, 123, 0.12345, ""]}'
    for known, names in ((["role", 'x" :', '"y'], True), ([], False)):
        out = json.loads(masked(text, *known))
        role, x, y = out
        assert ([role, x, y] == ["role", "x", "y"]) is names
        assert len({role, x, y}) == len(out)
        assert out[x] == out[y][0] != out[role]
        assert out[y][1].startswith("[unjudged:")
        assert out[y][2:] == [123, 0.12345, ""]


def test_a_loud_name_costs_only_its_neighbours_their_place() -> None:
    """Of many names, those far from it stay."""
    names = [f"n{number}" for number in range(3 * BATCH_NAMES)]
    quiet = {name for name in names if name != "n1"}
    out = list(json.loads(masked(json.dumps(dict.fromkeys(names, True)), *quiet)))
    assert out[BATCH_NAMES:] == names[BATCH_NAMES:]
    assert all(name.startswith("[unjudged:") for name in out[:BATCH_NAMES])
