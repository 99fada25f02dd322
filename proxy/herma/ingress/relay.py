"""Answers that are judged whole, and answers that are copied."""

from herma.ingress.answer import Answer
from herma.ingress.plane import Generation
from herma.ingress.record import Record
from herma.policy.decision import Mode
from herma.policy.inflate import InflateError, inflate
from herma.wire import ServerRequest, UpstreamError, UpstreamResponse

__all__ = ["Unjudged", "read_judged", "relay_bytes"]

type HeaderLines = list[tuple[bytes, bytes]]


class Unjudged(Exception):  # noqa: N818 - it names a state of the answer
    """The upstream's answer cannot be inspected, so it does not leave."""


async def read_judged(
    generation: Generation, response: UpstreamResponse, record: Record
) -> tuple[bytes, bytes]:
    """Read the whole body; return it as the upstream meant it (for the gate) and as it may leave (for the client).

    Raises:
        UpstreamError: broken off, too slow or over `max_response_bytes`.
        Unjudged: packed in a way that cannot be unpacked within the bounds.
    """
    limit = generation.settings.limits.max_response_bytes
    raw = await response.read(limit)
    encoding = _header(response, b"content-encoding").strip().lower()
    if encoding not in {b"", b"identity"}:
        # Asked not to pack, the upstream did. What cannot be read cannot be judged.
        try:
            raw = inflate(raw, encoding.decode("latin-1"), limit)
        except InflateError:
            raise Unjudged from None
    judged, findings = generation.redactor.json(raw)
    record.redactions += len(findings)
    record.add(findings)
    return raw, raw if generation.settings.redaction.mode is Mode.MONITOR else judged


async def relay_bytes(
    request: ServerRequest,
    response: UpstreamResponse,
    answer: Answer,
    headers: HeaderLines,
    idle_timeout_s: float,
) -> int:
    """Copy an opaque body with back-pressure; return the number of bytes.

    A body that breaks off in the middle ends in an abort, never in an end that looks complete.
    """
    length = _header(response, b"content-length")
    await answer.start(response.head.status, headers, length=int(length) if length else None)
    copied = 0
    try:
        async for chunk in response.chunks(idle_timeout_s):
            copied += len(chunk)
            await request.send(chunk)
    except UpstreamError:
        request.abort()
        return copied
    await request.finish()
    return copied


def _header(response: UpstreamResponse, name: bytes) -> bytes:
    for held, value in response.head.headers:
        if held.lower() == name:
            return value
    return b""
