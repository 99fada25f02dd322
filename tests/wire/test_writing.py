"""Heads on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.wire.heads import parse_request_head, parse_response_head
from herma.wire.limits import ServerLimits
from herma.wire.messages import RequestHead
from herma.wire.writing import request_head, response_head

_names = st.from_regex(rb"[A-Za-z][A-Za-z0-9-]{0,10}", fullmatch=True).map(lambda name: b"X-" + name)
_values = st.binary(max_size=20)


@given(st.lists(st.tuples(_names, _values), max_size=5))
def test_what_is_written_is_read_back_or_refused(fields: list[tuple[bytes, bytes]]) -> None:
    """No value, whatever its bytes, makes a head that says something else."""
    try:
        raw = request_head(b"GET", b"/", fields, b"")
    except ValueError:
        assert any(set(value) & {0, 10, 13} for _, value in fields)
        return
    head = parse_request_head(raw, ServerLimits())
    if isinstance(head, RequestHead):
        assert head.headers == tuple((name, value.strip(b" \t")) for name, value in fields)
    else:
        assert any(byte < 32 or byte == 127 for _, value in fields for byte in value)


def test_framing_lines_come_last_and_fields_of_framing_never() -> None:
    """There is one source of framing."""
    raw = response_head(
        200, b"", [(b"TE", b"x"), (b"A", b"b"), (b"Proxy-Connection", b"c")], b"content-length: 0\r\n"
    )
    assert raw == b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length: 0\r\n\r\n"
    assert parse_response_head(raw).headers == ((b"A", b"b"), (b"content-length", b"0"))


@pytest.mark.parametrize("reason", [b"a\r\nb: c", b"a\nb"])
def test_a_reason_cannot_split_either(reason: bytes) -> None:
    """It comes from the upstream."""
    with pytest.raises(ValueError, match="control byte"):
        response_head(200, reason, [], b"")
