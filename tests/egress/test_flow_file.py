"""What mitmproxy recorded is read."""

import io

import pytest
from mitmproxy import flow
from mitmproxy.connection import Client, Server
from mitmproxy.http import Headers, HTTPFlow, Request
from mitmproxy.io import FlowWriter
from mitmproxy.tcp import TCPFlow
from mitmproxy.websocket import WebSocketData, WebSocketMessage
from wsproto.frame_protocol import Opcode

from herma.egress.flow_file import recorded_flows
from herma.policy.address import parse_address


def connections(address: str | None, host: str) -> tuple[Client, Server]:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=1)
    server = Server(address=(host, 443))
    server.peername = (address, 443) if address else None
    return client, server


def http(host: str, address: str | None = "192.0.2.1") -> HTTPFlow:
    made = HTTPFlow(*connections(address, host))
    fields = Headers(((b"Host", host.encode()), (b"X", b"y")))
    made.request = Request(
        host, 443, b"POST", b"https", b"", b"/a?b", b"HTTP/1.1", fields, b"body", None, 1, 2
    )
    return made


def written(*flows: flow.Flow) -> bytes:
    file = io.BytesIO()
    for one in flows:
        FlowWriter(file).add(one)
    return file.getvalue()


def test_requests_are_read_with_their_addresses() -> None:
    """As they travelled; what is no HTTP is left out."""
    raw = written(
        TCPFlow(*connections(None, "c.example.com")), http("a.example.com"), http("2001:db8::1", None)
    )
    first, second = recorded_flows(raw)
    assert (first.authority, first.method, first.target, first.body) == ("a.example.com:443", "POST", b"/a?b", b"body")  # fmt: skip
    assert first.header(b"x") == b"y"
    assert first.packed
    assert first.addresses == (parse_address("192.0.2.1"),)
    assert (second.authority, second.addresses) == ("[2001:db8::1]:443", ())


def test_messages_of_the_agent_follow_their_request() -> None:
    """Those of the platform do not."""
    socket = http("gateway.example.com")
    socket.websocket = WebSocketData(
        [WebSocketMessage(Opcode.TEXT, True, b"mine"), WebSocketMessage(Opcode.TEXT, False, b"theirs")]
    )
    opened, message = recorded_flows(written(socket))
    assert not opened.message
    assert (message.message, message.body, message.target) == (True, b"mine", b"/a?b")


@pytest.mark.parametrize("raw", [b"5:abc", b"3:abc,", b"12:1:a;1:b;}", b"0:}"])
def test_what_is_no_file_of_flows_says_which_flow(raw: bytes) -> None:
    """And repeats nothing of it."""
    whole = written(http("a.example.com"))
    with pytest.raises(ValueError, match="flow 2 cannot be read") as said:
        list(recorded_flows(whole + raw))
    assert "abc" not in str(said.value)
