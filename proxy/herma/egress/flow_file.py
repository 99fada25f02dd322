"""Requests that mitmproxy recorded in a file of flows; what is no request over HTTP is left out."""

import io
from collections.abc import Iterator

from mitmproxy.exceptions import FlowReadException
from mitmproxy.http import HTTPFlow
from mitmproxy.io import FlowReader

from herma.egress.recorded import Recorded
from herma.policy.address import parse_address

__all__ = ["recorded_flows"]


def recorded_flows(raw: bytes) -> Iterator[Recorded]:
    """Give the requests of a file, each with the messages that the agent sent over it.

    Raises:
        ValueError: the file is not whole, or is none of mitmproxy's.
    """
    count = 0
    try:
        for flow in FlowReader(io.BytesIO(raw)).stream():
            count += 1
            if isinstance(flow, HTTPFlow):
                yield from _of(flow)
    except (FlowReadException, LookupError, TypeError, ValueError, AttributeError):
        # What mitmproxy says of it repeats what was recorded.
        raise ValueError(
            f"flow {count + 1} cannot be read: the file is cut, or none of mitmproxy's"
        ) from None


def _of(flow: HTTPFlow) -> Iterator[Recorded]:
    request = flow.request
    host = f"[{request.host}]" if ":" in request.host else request.host
    server = flow.server_conn
    # Behind a further proxy this is the address of the proxy.
    peer = parse_address(server.peername[0]) if server.peername and not server.via else None
    one = Recorded(
        authority=f"{host}:{request.port}",
        default_port=request.port,
        method=request.method,
        target=b"" if request.method == "CONNECT" else request.data.path,
        headers=request.headers.fields,
        body=request.raw_content,
        packed=True,
        addresses=() if peer is None else (peer,),
    )
    yield one
    for message in flow.websocket.messages if flow.websocket is not None else ():
        if message.from_client:
            yield Recorded(
                one.authority,
                one.default_port,
                "MESSAGE",
                one.target,
                body=message.content,
                message=True,
                addresses=one.addresses,
            )
