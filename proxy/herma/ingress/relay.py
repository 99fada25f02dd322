"""Answers that are judged whole, and answers that are copied."""

from herma.ingress.answer import Answer
from herma.ingress.packing import packed_as
from herma.ingress.plane import Generation
from herma.ingress.record import Record
from herma.policy.decision import Mode
from herma.policy.message.html import key_in, withheld
from herma.policy.message.inflate import InflateError, inflate
from herma.policy.sse.json_lines import spreads
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
    raw = await response.read(limit, generation.upstream.idle_timeout_s)
    try:
        # Asked not to pack, the upstream may have. What cannot be read cannot be judged.
        if (packed := packed_as(response.head.headers)) is not None:
            raw = inflate(raw, packed, limit)
    except InflateError:
        raise Unjudged from None
    kept = withheld(raw, generation.upstream_key)
    if (page := generation.profile.page_key) is not None:
        # Since its last start the upstream may have another.
        kept = withheld(kept, key_in(kept, page.name))
    record.redactions += kept is not raw
    raw = kept
    if spreads(generation.redactor, raw):
        raise Unjudged
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
    record: Record,
) -> None:
    """Copy an opaque body with back-pressure.

    A body that breaks off in the middle ends in an abort, never in an end that looks complete.
    """
    length = [value for name, value in response.head.headers if name.lower() == b"content-length"]
    await answer.start(response.head.status, headers, length=int(length[0]) if length else None)
    try:
        async for chunk in response.chunks(idle_timeout_s):
            record.bytes_out += len(chunk)
            await request.send(chunk)
    except UpstreamError as error:
        record.outcome = "upstream_gone"
        record.code = f"herma.upstream.{error.kind}"
        request.abort()
    else:
        await request.finish()
