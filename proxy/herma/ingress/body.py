"""The request body: read up to its cap, unpacked, parsed once. What comes out is what is judged and sent."""

from types import TracebackType
from typing import Self

from herma.ingress.packing import packing
from herma.ingress.plane import Generation, Plane
from herma.ingress.refusal import Refusal, body_too_large
from herma.policy.decision import Deny
from herma.policy.message.canonical import Head
from herma.policy.message.inflate import InflateError, inflate
from herma.policy.routing.profile import Match
from herma.wire import BodyMalformed, BodyTimeout, BodyTooLarge, ServerRequest

__all__ = ["BodyReader", "body_limit"]

_MALFORMED = Deny(400, "herma.body.framing", "The request body is not framed correctly.", close=True)
_TIMEOUT = Deny(408, "herma.body.timeout", "The request body did not arrive in time.", close=True)
_ENCODING = Deny(
    415,
    "herma.body.encoding",
    "The request body's Content-Encoding is not one that can be inspected; send gzip, deflate or none.",
    close=True,
)
# What unpacks to far more than it is counts as too large, whatever it would come to.
_TOO_LARGE = frozenset({"herma.body.too_large", "herma.body.encoding_ratio"})
_BUSY = Deny(
    503,
    "herma.limit.memory",
    "Too many request bodies are being read at once. Try again shortly.",
    retry_after_s=1,
    retryable=True,
    close=True,
)


def body_limit(generation: Generation, match: Match) -> int:
    """Return the cap for this operation, in bytes: the smaller of the route's and the configured one."""
    configured = generation.settings.limits.max_body_bytes
    own = match.route.max_body_bytes
    return configured if own is None else min(own, configured)


class BodyReader:
    """Reads one body within the memory that all bodies of this process share; a context that gives its share back."""

    def __init__(self, plane: Plane, generation: Generation) -> None:
        self._plane = plane
        self._limits = generation.settings.limits
        self._held = 0

    async def read(self, request: ServerRequest, head: Head, limit: int) -> bytes:
        """Return the body as the upstream is meant to see it: without Content-Encoding.

        Raises:
            Refusal: 413 over the cap (counted as it comes, and again unpacked), 408 too slow, 400 malformed,
                415 an encoding that cannot be judged, 503 no memory left for bodies.
        """
        if not request.body_expected:
            return b""
        # Without a length the body may grow to the cap, so that much is set aside.
        self._hold(limit if request.content_length is None else min(request.content_length, limit))
        try:
            raw = await request.read_body(limit)
        except BodyTooLarge:
            raise Refusal(body_too_large(limit)) from None
        except BodyTimeout:
            raise Refusal(_TIMEOUT) from None
        except BodyMalformed:
            raise Refusal(_MALFORMED) from None
        self._hold(len(raw))
        cap = min(limit, self._limits.max_inflated_bytes)
        try:
            packed = packing(head.all(b"content-encoding"))
            if packed is None:
                return raw
            self._hold(len(raw) + cap)
            body = inflate(raw, packed, cap)
        except InflateError as error:
            raise Refusal(body_too_large(cap) if error.code in _TOO_LARGE else _ENCODING) from None
        self._hold(len(body))
        return body

    def _hold(self, count: int) -> None:
        self._plane.buffered.total += count - self._held
        self._held = count
        if self._plane.buffered.total > self._limits.max_buffered_bytes:
            raise Refusal(_BUSY)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._plane.buffered.total -= self._held
        self._held = 0
