"""Which protocols are spoken through the gate."""

import pytest
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import NextLayer
from mitmproxy.proxy.layers import ClientTLSLayer, ServerTLSLayer, modes
from mitmproxy.test import taddons, tflow

from herma.egress.deadlines import Deadlines
from herma.egress.layers import next_layer


def asked(data: bytes) -> NextLayer:
    """Ask what is spoken, by the first bytes of the agent."""
    with taddons.context() as made:
        context = Context(tflow.tclient_conn(), made.options)
    context.layers = [modes.HttpProxy(context)]
    assert next_layer(NextLayer(context), Deadlines()) is not None
    found = NextLayer(context)
    found.data_client = lambda: data  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize("data", [b"", b"\x16", b"\x16\x03"])
def test_a_few_bytes_tell_nothing_yet(data: bytes) -> None:
    """More are waited for."""
    assert next_layer(asked(data), Deadlines()) is None


def test_tls_is_told_from_http() -> None:
    """Everything else is read as HTTP, which it is not, and ends there."""
    found = next_layer(asked(b"\x16\x03\x01\x00\x00"), Deadlines())
    assert isinstance(found, ServerTLSLayer)
    assert isinstance(found.child_layer, ClientTLSLayer)
    for data in (b"GET / HTTP/1.1\r\n", b"SSH-2.0-x\r\n"):
        assert type(next_layer(asked(data), Deadlines())).__name__ in {"_Http", "Http"}
