"""Of an answer only the named members are shown."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.message.reduced import reduced

STATUS = {"running": True, "home": "/root/.hermes", "gateway": {"pid": 7, "state": "up"}, "a/b": [1]}


def test_what_is_named_is_shown_below_its_own_names() -> None:
    """And a name that is not there is no error."""
    found = reduced(json.dumps(STATUS).encode(), ["/running", "/gateway/state", "/a~1b", "/none", "/none/x"])
    assert json.loads(found) == {"running": True, "gateway": {"state": "up"}, "a/b": [1]}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[1]",
        b'"/root"',
        b"null",
        b"<html>/root</html>",
        b'{"running":1,"running":2}',
        b'{"detail":"/root"}',
        b"\xff",
    ],
)
def test_anything_else_is_empty(raw: bytes) -> None:
    """What cannot be read in one way is not shown at all."""
    assert reduced(raw, ["/running"]) == b"{}"


NAMES = st.sampled_from(["running", "home", "pid"])
VALUES = st.recursive(
    st.text(max_size=3) | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, VALUES))
def test_other_members_are_never_shown(value: dict[str, Any]) -> None:
    """Whatever the answer holds; the named one is as it was."""
    found = json.loads(reduced(json.dumps(value).encode(), ["/running"]))
    assert found == {name: held for name, held in value.items() if name == "running"}
