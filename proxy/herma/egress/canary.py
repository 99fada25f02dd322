"""The self-test of the start: hooks that shut, and a request that must be refused.

It goes through the listening proxy, as the agent's do: a hook that is not called lets it through, and then the gate does not start.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

import mitmproxy.hooks

from herma.egress.asking import CANARY
from herma.egress.fail_closed import MARK
from herma.egress.refusal import FIELD
from herma.errors import HermaError

__all__ = ["HOOKS", "CanaryError", "try_refusals", "unmarked"]

# The hooks by which the gate judges; one that is missing judges nothing.
HOOKS: Final = frozenset(
    {
        "client_connected",
        "client_disconnected",
        "dns_request",
        "error",
        "http_connect",
        "http_connect_error",
        "http_connect_upstream",
        "http_connected",
        "next_layer",
        "request",
        "requestheaders",
        "response",
        "responseheaders",
        "server_connect",
        "tcp_start",
        "tls_clienthello",
        "udp_start",
        "websocket_message",
    }
)
_TIMEOUT_S: Final = 10.0
_MAX_ANSWER_BYTES: Final = 64 * 1024


class CanaryError(HermaError):
    """The gate does not refuse what it must."""


def unmarked(addons: Iterable[object]) -> Iterator[str]:
    """Give what is wrong with the hooks of the gate: those that do not shut when they fail, and those that are missing."""
    found: set[str] = set()
    for addon in addons:
        for name in mitmproxy.hooks.all_hooks:
            hook = getattr(addon, name, None)
            if hook is None:
                continue
            found.add(name)
            if not getattr(hook, MARK, False):
                yield f"{type(addon).__name__}.{name} does not shut when it fails"
    yield from (f"nobody hears {name}" for name in sorted(HOOKS - found))


async def try_refusals(host: str, port: int, name: str) -> None:
    """Ask the proxy for a name that it refuses, by a tunnel and by a plain request.

    Raises:
        CanaryError: it did not refuse one of them.
        OSError: it does not answer.
    """
    for request in (
        f"CONNECT {name}:443 HTTP/1.1\r\nHost: {name}:443\r\n\r\n",
        f"POST http://{name}/ HTTP/1.1\r\nHost: {name}\r\nContent-Length: 2\r\n\r\n{{}}",
    ):
        async with asyncio.timeout(_TIMEOUT_S):
            head, body = await _answer(host, port, request.encode())
        if not head.startswith(f"HTTP/1.1 {CANARY.status} ".encode()) or FIELD.encode() not in head.lower():
            raise CanaryError(f"the answer to {request.split()[0]} is no refusal")
        if CANARY.code.encode() not in body:
            raise CanaryError(f"{request.split()[0]} is refused for another reason")


async def _answer(host: str, port: int, request: bytes) -> tuple[bytes, bytes]:
    reader, writer = await asyncio.open_connection(host, port, limit=_MAX_ANSWER_BYTES)
    try:
        writer.write(request)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise CanaryError("the answer has no head") from None
        return head, await reader.read(_MAX_ANSWER_BYTES)
    finally:
        writer.close()
