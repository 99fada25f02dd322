"""From the judged request to the upstream, and from its answer to the relay that fits it."""

import hashlib
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from herma.ingress.admission import Slot
from herma.ingress.answer import Answer
from herma.ingress.event_relay import EventRelay
from herma.ingress.holding import holding
from herma.ingress.ownership import Owners
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, upstream_failed
from herma.ingress.relay import Unjudged, read_judged, relay_bytes
from herma.ingress.upstream_key import authorized
from herma.ingress.websocket import relay_socket
from herma.policy.exchange import Exchange
from herma.policy.grant import Scope
from herma.policy.jsondoc import JsonError, find, parse
from herma.policy.message.client_address import forwarded_proto
from herma.policy.message.forwarding import Forwarded, downstream_headers, upstream_headers
from herma.policy.message.html import page_policy
from herma.policy.message.media import Media, is_asset, media_of
from herma.policy.message.reduced import reduced
from herma.policy.routing.profile import Match, Profile, Turn
from herma.policy.routing.route import Serves
from herma.policy.secret import Secret
from herma.policy.shape.member import with_member
from herma.policy.shape.promise import HEADER, promises
from herma.policy.socket.handshake import handshake_target
from herma.wire import ResponseHead, ServerRequest, UpstreamError, UpstreamResponse

__all__ = ["Forwarder"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

# Headers whose values are words of a standard, or the caller's own names, which a changed value would lose. All others
# may quote what the agent was given: a credential in the URL of a redirect, in a file's name, in a warning.
_PLAIN = frozenset(
    {
        b"cache-control",
        b"content-security-policy",
        b"content-type",
        b"date",
        b"permissions-policy",
        b"referrer-policy",
        b"strict-transport-security",
        b"vary",
        b"x-accel-buffering",
        b"x-content-type-options",
        b"x-frame-options",
        b"x-hermes-session-id",
        b"x-hermes-session-key",
        b"x-should-retry",
        b"x-xss-protection",
    }
)

# Ids that an answer gives out sit in shallow, small documents; a larger answer is relayed without looking for one.
_MAX_ANSWER_DEPTH = 64
_MAX_LIVENESS_BYTES = 64 * 1024
_MAX_ANSWER_KEYS = 200_000


@dataclass(frozen=True, slots=True)
class _Whole:
    """An answer that is complete and judged."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Forwarder:
    """Sends one judged request on and brings its answer back."""

    def __init__(
        self,
        plane: Plane,
        generation: Generation,
        request: ServerRequest,
        record: Record,
        answer: Answer,
        owners: Owners,
    ) -> None:
        self._plane = plane
        self._generation = generation
        self._request = request
        self._record = record
        self._answer = answer
        self._owners = owners

    async def forward(self, exchange: Exchange, body: bytes, slot: Slot) -> None:
        """Send the request with exactly this body, and relay the answer.

        Raises:
            Refusal: the upstream gave no usable answer, and nothing was answered yet.
        """
        try:
            if exchange.match.route.public and exchange.principal is None:
                await self._liveness(exchange)
            elif exchange.match.route.turn is Turn.BACKGROUND:
                # A run that was started goes on whether or not its caller waits to hear its id. So the gate does wait:
                # else the run would have no owner, and its slot would be given back while it runs.
                whole = await self._plane.keep(self._whole(exchange, body, slot.lend()))
                await self._answer.whole(whole.status, whole.headers, whole.body)
            else:
                async with self._ask(exchange, body) as response:
                    await self._relay(exchange, response)
        except UpstreamError as error:
            safe = exchange.head.method in _SAFE or not error.sent
            raise Refusal(upstream_failed(error.kind, safe=safe)) from None

    async def upgrade(self, exchange: Exchange) -> None:
        """Carry a WebSocket handshake on, and then the messages of both directions while the caller's credential holds."""
        try:
            async with self._ask(exchange, b"", websocket=True) as response:
                if response.upgrade is None:
                    await self._relay(exchange, response)
                else:
                    self._record.status = 101
                    async with holding(self._plane, exchange, self._request.peer) as stay:
                        await relay_socket(
                            self._plane,
                            self._generation,
                            exchange,
                            self._request,
                            response,
                            self._record,
                            stay,
                        )
        except UpstreamError as error:
            raise Refusal(upstream_failed(error.kind, safe=True)) from None

    def _ask(
        self, exchange: Exchange, body: bytes, *, websocket: bool = False
    ) -> AbstractAsyncContextManager[UpstreamResponse]:
        # A handshake with a wrong key is refused with either.
        refused = {401, 403} if websocket else {401}
        return authorized(
            self._generation.key, lambda key: self._send(exchange, body, key, websocket=websocket), refused
        )

    def _send(
        self, exchange: Exchange, body: bytes, key: Secret | None, *, websocket: bool
    ) -> AbstractAsyncContextManager[UpstreamResponse]:
        generation, head, peer = self._generation, exchange.head, self._request.peer
        trusted = generation.settings.trusted_proxies
        headers = upstream_headers(
            head,
            authority=generation.authority,
            credential=key,
            forwarded=Forwarded(
                address=exchange.address,
                proto=forwarded_proto(peer.address, head.headers, trusted, tls=peer.tls),
                host=(head.get(b"host") or b"").decode("ascii"),
            ),
            cookies=generation.profile.cookies,
            websocket=websocket,
        )
        if (repeat := head.get(b"idempotency-key")) is not None:
            headers = [
                *(line for line in headers if line[0] != b"idempotency-key"),
                _own_repeat(exchange, repeat),
            ]
        return generation.pool.request(
            head.method.encode("ascii"),
            handshake_target(head.target, generation.profile.token_param, key)
            if websocket
            else head.target.raw,
            headers,
            body,
            idempotent=head.method in _SAFE,
            upgrade=websocket,
            head_timeout_s=generation.upstream.head_timeout_s,
        )

    async def _liveness(self, exchange: Exchange) -> None:
        """Tell a caller without a key that the upstream is alive, and nothing else."""
        async with self._ask(exchange, b"") as response:
            alive = response.head.status == 200
            # Read to its end, so that the connection can serve the next probe.
            await response.read(_MAX_LIVENESS_BYTES)
        if not alive:
            raise Refusal(upstream_failed("connect", safe=True))
        headers = downstream_headers(200, ((b"content-type", b"application/json"),), stream=False)
        await self._answer.whole(200, headers, self._generation.profile.liveness.encode())

    async def _whole(self, exchange: Exchange, body: bytes, slot: Slot) -> _Whole:
        async with slot, self._ask(exchange, body) as response:
            self._record.upstream_head = time.monotonic()
            return await self._judge(exchange, response, slot)

    async def _relay(self, exchange: Exchange, response: UpstreamResponse) -> None:
        head = response.head
        self._record.upstream_head = time.monotonic()
        if 200 <= head.status < 300:
            await self._owners.bind_headers(head.headers)
        media = media_of(_value(head.headers, b"content-type"))
        if exchange.head.method == "HEAD" or head.status in {204, 304}:
            # Nobody knows here how long the answer to GET would be, so no length is told.
            await self._answer.start(head.status, self._headers(head, Media.OPAQUE), length=None)
            await self._request.finish()
        elif _is_reduced(exchange) and media in {Media.EVENTS, Media.OPAQUE}:
            raise Refusal(upstream_failed("unjudged", safe=True))
        elif media is Media.EVENTS:
            await self._answer.start(head.status, self._headers(head, media), length=None)
            async with holding(self._plane, exchange, self._request.peer) as holds:
                await EventRelay(
                    self._plane, self._generation, exchange, self._request, self._record, self._owners, holds
                ).run(response)
        elif media is Media.OPAQUE or _is_file(exchange, head):
            idle = self._generation.upstream.idle_timeout_s
            headers = self._headers(head, Media.OPAQUE)
            await relay_bytes(self._request, response, self._answer, headers, idle, self._record)
        else:
            whole = await self._judge(exchange, response)
            await self._answer.whole(whole.status, whole.headers, whole.body)

    async def _judge(
        self, exchange: Exchange, response: UpstreamResponse, slot: Slot | None = None
    ) -> _Whole:
        """Read and judge a whole answer, and note what it says was made or ended."""
        if media_of(_value(response.head.headers, b"content-type")) is Media.UNREADABLE:
            raise Refusal(upstream_failed("unjudged", safe=False))
        try:
            raw, judged = await read_judged(self._generation, response, self._record)
        except Unjudged:
            raise Refusal(upstream_failed("unjudged", safe=False)) from None
        if _is_reduced(exchange):
            judged = reduced(judged, exchange.match.route.reduced)
        status = response.head.status
        if 200 <= status < 300:
            await self._note(exchange, raw, slot)
        headers = self._headers(response.head, Media.TEXT)
        if self._generation.profile.stateless and promises(judged):
            headers.append(HEADER)
        if status == 200 and _lists_routes(self._generation.profile, exchange.match):
            judged = _with_own(judged)
        if exchange.match.route.serves is Serves.PAGE and status == 200:
            headers = [line for line in headers if line[0] != b"content-security-policy"]
            headers.append((b"content-security-policy", page_policy(judged)))
        return _Whole(status, headers, judged)

    async def _note(self, exchange: Exchange, raw: bytes, slot: Slot | None) -> None:
        status_of = self._generation.profile.run_status
        polled = status_of is not None and exchange.match.route.template == status_of.path
        operation = exchange.match.route.operation
        approved = operation in {"run.approve", "run.stop"}
        awaited = self._owners.awaits_ids if slot is not None else self._owners.awaits_more_than_run
        if not (awaited or polled or approved):
            return
        try:
            answer = parse(raw, max_depth=_MAX_ANSWER_DEPTH, max_keys=_MAX_ANSWER_KEYS).value
        except JsonError:
            answer = None
        bound = await self._owners.bind_answer(answer)
        if slot is not None:
            await slot.hand_over(bound.get("run", ""))
        named = exchange.match.params.get(exchange.match.route.run_param, "")
        if approved:
            # More than one may have been answered at once; what is not known to be on offer is judged strictly.
            await self._plane.store.withdraw(named, every=operation == "run.stop" or _many(answer))
        if status_of is not None and polled and status_of.is_end(answer):
            await self._plane.store.run_ended(named)

    def _headers(self, head: ResponseHead, media: Media) -> list[tuple[bytes, bytes]]:
        """Return the header lines of the answer.

        Values are redacted like a body: an error text in one of them may quote a credential. What was judged leaves
        unpacked, so its Content-Encoding goes.
        """
        redactor, cookies = self._generation.redactor, self._generation.profile.cookies
        authority = self._generation.authority
        lines = []
        for name, value in downstream_headers(
            head.status, head.headers, stream=media is Media.EVENTS, authority=authority
        ):
            if name == b"content-encoding" and media is not Media.OPAQUE:
                continue
            # Where the upstream uses cookies, the one that it sets is the caller's to keep.
            if name not in _PLAIN and not (cookies and name == b"set-cookie"):
                value = redactor.text(value.decode("latin-1")).text.encode("latin-1", "replace")  # noqa: PLW2901 - rewritten
            lines.append((name, value))
        return lines


def _lists_routes(profile: Profile, match: Match) -> bool:
    return (
        profile.stateless
        and profile.capabilities is not None
        and (match.route.template, match.route.method) == (profile.capabilities.path, "GET")
    )


def _with_own(judged: bytes) -> bytes:
    """Say in the list of what the upstream offers what the gate knows of it."""
    text = judged.decode("utf-8", "surrogateescape")
    return with_member(text, "herma", {"async_delivery": "unsupported"}).encode("utf-8", "surrogateescape")


def _is_file(exchange: Exchange, head: ResponseHead) -> bool:
    """Tell whether this is the file that was asked for: an upstream may answer with its page instead."""
    return (
        exchange.match.route.serves is Serves.FILE
        and head.status == 200
        and is_asset(_value(head.headers, b"content-type"))
    )


def _is_reduced(exchange: Exchange) -> bool:
    """Tell whether the caller may see a part of the answer only."""
    principal = exchange.principal
    return bool(exchange.match.route.reduced) and (principal is None or not principal.may(Scope.READ))


def _own_repeat(exchange: Exchange, value: bytes) -> tuple[bytes, bytes]:
    """Give each caller idempotency keys of its own.

    The upstream keeps them by value alone, and would hand one caller's stored answer to another that sends the same one.
    """
    name = exchange.principal.name if exchange.principal is not None else ""
    return b"idempotency-key", hashlib.sha256(name.encode() + b"\0" + value).hexdigest().encode("ascii")


def _value(headers: tuple[tuple[bytes, bytes], ...], name: bytes) -> bytes | None:
    return next((value for held, value in headers if held.lower() == name), None)


def _many(answer: object) -> bool:
    return any(resolved != 1 for _, resolved in find(answer, "/resolved"))
