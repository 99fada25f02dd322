"""JSON-RPC calls: read strictly, answered with the id they had."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.socket.calls import Call, answer, read_call

CALL = {"jsonrpc": "2.0", "id": "1", "method": "session.list", "params": {"a": 1}}


def read(value: object) -> Call | Deny:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read_call(raw, max_depth=16, max_keys=1000)


def test_a_call() -> None:
    """Without parameters there are none; without an id it is a notification."""
    assert read(CALL) == Call("1", "session.list", {"a": 1})
    assert read({"method": "x", "params": None, "id": 7}) == Call(7, "x", {})
    assert read({"method": "y"}) == Call(None, "y", {})


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{",
        b'{"method":"a","method":"b"}',
        b"\xff",
        [],
        [CALL],
        1,
        "x",
        {"id": 1, "result": {}},
        {**CALL, "method": 1},
        {**CALL, "method": ""},
        {**CALL, "method": "x" * 129},
        {**CALL, "params": [1]},
        {**CALL, "params": "x"},
        {**CALL, "id": 1.5},
        {**CALL, "id": True},
        {**CALL, "id": {}},
        {**CALL, "id": "x" * 257},
    ],
)
def test_what_is_no_call_is_refused_whole(value: object) -> None:
    """The upstream may read it in its own way; nobody here guesses which."""
    denied = read(value)
    assert isinstance(denied, Deny)
    assert denied.status == 400


@given(
    st.binary(max_size=60) | st.recursive(st.integers() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_nothing_raises(raw: bytes) -> None:
    """Whatever is sent."""
    read(raw)


@given(st.dictionaries(st.text(), st.integers(), max_size=3), st.text(min_size=1, max_size=20))
def test_what_is_read_is_what_the_upstream_reads(params: dict[str, int], method: str) -> None:
    """`json.loads` gives the same method and parameters."""
    raw = json.dumps({"id": 1, "method": method, "params": params}).encode()
    call = read(raw)
    if isinstance(call, Call):
        theirs: Any = json.loads(raw)
        assert (call.method, call.params) == (theirs["method"], theirs["params"])


@pytest.mark.parametrize(("status", "code"), [(400, -32600), (403, -32001)])
def test_a_refusal_is_an_answer_with_the_id(status: int, code: int) -> None:
    """With the code that logs and documentation share."""
    said = json.loads(answer("7", Deny(status, "herma.x", "No.")))
    assert said == {
        "jsonrpc": "2.0",
        "id": "7",
        "error": {"code": code, "message": "No.", "data": {"code": "herma.x", "status": status}},
    }
