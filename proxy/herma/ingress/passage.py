"""One request's way through the gate, from the head on the wire to the judged body.

The order is the order of cost: what is cheap to refuse is refused first, and nothing of a body is read before it is
known who asks. What is judged here is, byte for byte, what the forwarder sends.
"""

import time
from dataclasses import replace
from datetime import UTC, datetime

from herma.errors import StoreError
from herma.ingress.admission import limit_rate, take_rate, take_slot
from herma.ingress.answer import Answer
from herma.ingress.authentication import Asking, authenticate
from herma.ingress.body import BodyReader, body_limit
from herma.ingress.current import look
from herma.ingress.fire import FirePassage
from herma.ingress.forward import Forwarder
from herma.ingress.login import OwnPages
from herma.ingress.ownership import Owners
from herma.ingress.plane import Planes
from herma.ingress.recognition import Stranger
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, body_too_large, draining, store_down
from herma.policy.browser.cross_site import Approach
from herma.policy.browser.navigation import is_navigation, login_location
from herma.policy.browser.page import Page, own_page
from herma.policy.checks import judge_choice, read_document
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Exchange, Phase
from herma.policy.grant import Principal
from herma.policy.limits.throttle import address_group
from herma.policy.message import cors
from herma.policy.message.canonical import Head, canonical_head
from herma.policy.message.client_address import client_address, forwarded_proto
from herma.policy.message.host import HOST_UNKNOWN, judge_origin
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Auth
from herma.wire import ServerRequest

__all__ = ["Passage"]

_APPROVE = "run.approve"


class Passage:
    """Takes one request as far as it may go."""

    def __init__(
        self, planes: Planes, listener: int, request: ServerRequest, record: Record, answer: Answer
    ) -> None:
        self._planes = planes
        self._listener = listener
        # Of the upstream that the request is for; until its Host is read, of the first.
        self._plane = planes.default
        self._generation = planes.default.generation
        self._request = request
        self._record = record
        self._answer = answer

    async def run(self) -> None:
        """Answer the request, one way or the other."""
        try:
            await self._pass()
        except Refusal as refusal:
            await self._answer.deny(refusal.deny)
        except StoreError:
            self._plane.meter.count("store_errors")
            if self._request.started:
                raise
            await self._answer.deny(store_down())

    async def _pass(self) -> None:
        head = self._head()
        preflight = cors.preflight(head, self._generation.settings.cors.origins)
        if preflight is not None:
            self._record.operation = "preflight"
            await self._answer.whole(204, preflight, b"")
            return
        own = own_page(head.target)
        if own is not None:
            await self._serve_own(own, head)
            return
        match = self._generation.profile.match(head.method, head.target)
        if isinstance(match, Deny) and match.status == 400:
            raise Refusal(match)
        self._know(head, match)
        if isinstance(match, Match) and match.route.auth is Auth.JWT:
            fire = FirePassage(self._plane, self._generation, self._request, self._record, self._answer)
            await fire.run(head, match)
            return
        principal = await self._caller(head, match)
        if isinstance(match, Deny):
            # A caller without a key learns nothing about which paths there are.
            if principal is None:
                raise Refusal(_UNAUTHENTICATED)
            self._answer.allow = self._generation.profile.allowed_methods(head.target)
            raise Refusal(match)
        exchange = Exchange(self._record.exchange, head, match, self._record.address, principal)
        self._apply(self._generation.pipeline.decide(exchange, Phase.REQUEST_HEAD))
        owners = Owners(self._plane, exchange)
        await owners.check_head()
        await limit_rate(self._plane, self._generation, exchange)
        await self._carry(exchange, owners)

    async def _serve_own(self, page: Page | Deny, head: Head) -> None:
        await self._limit_strangers()
        pages = OwnPages(
            self._plane, self._generation, self._approach(head), self._request, self._record, self._answer
        )
        await pages.serve(page, head)

    def _approach(self, head: Head) -> Approach:
        peer, trusted = self._request.peer, self._generation.settings.trusted_proxies
        proto = forwarded_proto(peer.address, head.headers, trusted, tls=peer.tls)
        return Approach(self._hosts, proto, self._request.upgrade)

    async def _carry(self, exchange: Exchange, owners: Owners) -> None:
        limit = body_limit(self._generation, exchange.match)
        if (self._request.content_length or 0) > limit:
            raise Refusal(body_too_large(limit))
        forwarder = Forwarder(
            self._plane, self._generation, self._request, self._record, self._answer, owners
        )
        # Without a key there is the liveness only, however it is asked for.
        if self._request.upgrade and exchange.principal is not None:
            if not self._plane.lifecycle.ready:
                # What it opens would keep the gate from stopping.
                raise Refusal(draining())
            await forwarder.upgrade(exchange)
            return
        turn = exchange.match.route.turn
        async with await take_slot(self._plane, self._generation, exchange.principal, turn) as slot:
            with BodyReader(self._plane, self._generation) as reader:
                body = await reader.read(self._request, exchange.head, limit)
                self._record.bytes_in = len(body)
                body = await self._judge_body(exchange, owners, body)
                self._record.judged = time.monotonic()
                await forwarder.forward(exchange, body, slot)

    def _head(self) -> Head:
        raw = self._request.head
        head = canonical_head(raw.method, raw.target, raw.version, raw.headers)
        if isinstance(head, Deny):
            raise Refusal(head)
        self._record.method = head.method
        settings = self._generation.settings
        address = client_address(self._request.peer.address, head.headers, settings.trusted_proxies)
        if isinstance(address, Deny):
            raise Refusal(address)
        self._record.address = address
        self._enter(head)
        denied = judge_origin(head, self._hosts, settings.cors.origins)
        if denied is not None:
            raise Refusal(denied)
        self._answer.extra = tuple(cors.grant(head, settings.cors.origins))
        return head

    def _enter(self, head: Head) -> None:
        """Turn to the upstream that the Host leads to; the page of one upstream is a stranger at another."""
        door = self._planes.door(self._listener, head.host, head.port)
        if door is None:
            raise Refusal(HOST_UNKNOWN)
        self._plane, self._hosts = door
        self._generation = self._plane.generation
        self._record.upstream = self._generation.name

    def _know(self, head: Head, match: Match | Deny) -> None:
        if isinstance(match, Match):
            self._answer.envelope = match.route.envelope
            self._record.operation = match.route.operation
            self._record.route = match.route.template
        else:
            self._answer.envelope = self._generation.profile.envelope_for(head.target)

    async def _caller(self, head: Head, match: Match | Deny) -> Principal | None:
        self._answer.token_given = head.get(b"authorization") is not None
        if self._generation.settings.auth.login is not None:
            self._answer.login_url = Page.LOGIN.path
            if is_navigation(head) and not self._answer.token_given:
                self._answer.login_location = login_location(head)
        polled = isinstance(match, Match) and match.route.polled
        asking = Asking(
            head,
            self._record.address,
            self._request.peer,
            replace(self._approach(head), shows=not isinstance(match, Match) or match.route.shows),
            # A page opens its sockets, and opens them again, by itself; what is sent over them counts.
            use=not (polled or self._request.upgrade),
        )
        found = await authenticate(self._plane, self._generation, asking)
        if isinstance(found, Stranger):
            self._record.add(found.findings)
            await self._limit_strangers()
            return None
        self._record.principal = found.name
        return found

    async def _limit_strangers(self) -> None:
        await take_rate(
            self._plane,
            f"open:{address_group(self._record.address)}",
            self._generation.settings.limits.rates.unauthenticated,
        )

    async def _judge_body(self, exchange: Exchange, owners: Owners, body: bytes) -> bytes:
        """Judge the body and return it as it is sent: where masked values were put back, it is written anew.

        What it was parsed to can be thirty times its size, and is gone before the agent is waited for.
        """
        document = read_document(exchange.head, exchange.match, body, self._generation.settings.limits)
        if isinstance(document, Deny):
            raise Refusal(document)
        looked = await look(self._generation, exchange, document)
        today = datetime.now(UTC).date()
        news = replace(exchange, document=looked.news, today=today)
        self._apply(self._generation.pipeline.decide(news, Phase.REQUEST_BODY))
        self._record.add(looked.findings)
        if looked.news is not looked.document:
            # What was there before is told and not refused: else nobody could mend the rest.
            whole = replace(exchange, document=looked.document, today=today)
            self._record.add(self._generation.pipeline.decide(whole, Phase.REQUEST_BODY).findings)
        await owners.check_body(looked.document)
        if exchange.match.route.operation == _APPROVE and exchange.principal is not None:
            run = exchange.match.params.get(exchange.match.route.run_param, "")
            self._apply(judge_choice(document, exchange.principal, await self._plane.store.offered(run)))
        return body if looked.document is document or looked.document is None else looked.document.raw

    def _apply(self, decision: Allow | Deny) -> None:
        if isinstance(decision, Deny):
            raise Refusal(decision)
        self._record.add(decision.findings)


_UNAUTHENTICATED = Deny(401, "herma.auth.required", "A valid API key is required.")
