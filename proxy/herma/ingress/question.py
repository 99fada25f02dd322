"""Questions of the gate's own to an upstream: a GET with the upstream's key, whose answer no caller sees as it is."""

import asyncio
from contextlib import AbstractAsyncContextManager

from herma.ingress.plane import Generation
from herma.ingress.upstream_key import authorized
from herma.policy.secret import Secret
from herma.wire import UpstreamResponse

__all__ = ["question"]


async def question(
    generation: Generation, target: bytes, *, max_bytes: int, timeout_s: float
) -> tuple[int, bytes]:
    """Return the status and the body of the answer to GET `target`.

    Raises:
        UpstreamError: no usable answer, or one of more than `max_bytes`.
        TimeoutError: not within `timeout_s`.
    """

    def send(key: Secret | None) -> AbstractAsyncContextManager[UpstreamResponse]:
        headers = [
            (b"host", generation.authority),
            (b"accept", b"application/json"),
            (b"accept-encoding", b"identity"),
        ]
        if key is not None:
            headers.append((b"authorization", b"Bearer " + key.reveal()))
        return generation.pool.request(
            b"GET", target, headers, b"", idempotent=True, head_timeout_s=timeout_s
        )

    async with asyncio.timeout(timeout_s), authorized(generation.key, send) as response:
        return response.head.status, await response.read(max_bytes)
