"""The remote start of a scheduled job: the one route where the gate's keys open nothing, and what opens it opens nothing else.

The order is that of the other routes: who asks is known before a byte of the body is read, and the token is used up last of all,
when nothing can refuse the request any more. Whoever may not is told so in the same words, whatever was wrong; the audit has it.
"""

from datetime import UTC, datetime

from herma.identity import FireRejected
from herma.ingress.admission import take_rate, take_slot
from herma.ingress.answer import Answer
from herma.ingress.body import BodyReader, body_limit
from herma.ingress.fire_delivery import FireDelivery
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, body_too_large, draining, slow_down, store_down
from herma.policy.checks import read_document
from herma.policy.decision import Deny, Finding, Level
from herma.policy.fire.permit import FireFlaw, Permit
from herma.policy.fire.request import Fire, Missing, read_fire
from herma.policy.grant import Principal
from herma.policy.limits.throttle import address_group, subjects
from herma.policy.message.canonical import Head
from herma.policy.message.credential import bearer
from herma.policy.routing.profile import Match
from herma.policy.token.spent import Spending
from herma.wire import ServerRequest

__all__ = ["FirePassage"]

# What a scheduler or a job key is called in the audit; no key of the gate has a colon in its name.
PREFIX = "fire:"

# In the words of the upstream, which schedulers know.
_REFUSED = "invalid fire token"
_MISSING = "missing job_id"
_USED = "this fire token was used already"


class FirePassage:
    """Takes one request to start a job as far as it may go."""

    def __init__(
        self, plane: Plane, generation: Generation, request: ServerRequest, record: Record, answer: Answer
    ) -> None:
        self._plane = plane
        self._generation = generation
        self._request = request
        self._record = record
        self._answer = answer

    async def run(self, head: Head, match: Match) -> None:
        """Answer the request.

        Raises:
            Refusal: the caller may not, or not now.
            StoreError: the shared state cannot be asked; nothing was started.
        """
        permit = await self._permit(head)
        self._record.principal = f"{PREFIX}{permit.name}"
        self._refuse(permit.judge_path(match.profile_prefix), permit)
        await self._limit(permit)
        limit = body_limit(self._generation, match)
        if (self._request.content_length or 0) > limit:
            raise Refusal(body_too_large(limit))
        with BodyReader(self._plane, self._generation) as reader:
            body = await reader.read(self._request, head, limit)
            self._record.bytes_in = len(body)
            fire = self._fire(head, match, body)
            self._refuse(permit.judge_body(fire, body), permit)
            self._record.job = fire.job_id
            if not self._plane.lifecycle.ready:
                raise Refusal(draining())
            principal = Principal(self._record.principal, frozenset())
            # The slot before the token: one that is told to come again must still have a token to come with.
            async with await take_slot(self._plane, self._generation, principal, match.route.turn) as slot:
                await self._spend(permit)
                delivery = FireDelivery(self._plane, self._generation, self._record, self._answer)
                await delivery.deliver(head, match, fire, body, slot)
        self._plane.meter.count("fires", "accepted")

    async def _permit(self, head: Head) -> Permit:
        self._answer.token_given = head.get(b"authorization") is not None
        credential = bearer(head)
        if isinstance(credential, Deny):
            raise Refusal(credential)
        fires = self._generation.fires
        if credential is None or fires is None:
            await self._strangers()
            raise self._refusal("missing", "")
        address = self._record.address
        # Asked before the credential is looked at: while an address is blocked, not even a right guess gets in.
        wait = await self._plane.store.blocked(subjects(address))
        if wait > 0:
            raise Refusal(slow_down(wait, "herma.auth.throttled"))
        found = fires.verify(credential, address, self._plane.key_sets.get, datetime.now(UTC))
        if isinstance(found, Permit):
            await self._plane.store.succeeded(subjects(address))
            return found
        if found.charged:
            await self._charge(address, found)
        await self._strangers()
        raise self._refusal(found.reason, found.by)

    async def _charge(self, address: str, found: FireRejected) -> None:
        # Named so that it slows no key of the gate down that has the same name.
        name = f"{PREFIX}{found.key_name}" if found.key_name else ""
        wait = await self._plane.store.blocked((f"key:{name}",)) if name else 0.0
        await self._plane.store.failed(subjects(address, name))
        if wait > 0:
            raise Refusal(slow_down(wait, "herma.auth.throttled"))

    async def _strangers(self) -> None:
        rate = self._generation.settings.limits.rates.unauthenticated
        await take_rate(self._plane, f"open:{address_group(self._record.address)}", rate)

    async def _limit(self, permit: Permit) -> None:
        rates = self._generation.settings.limits.rates
        if rates.per_address is not None:
            await take_rate(self._plane, f"address:{address_group(self._record.address)}", rates.per_address)
        if rates.per_key is not None:
            await take_rate(self._plane, f"key:{PREFIX}{permit.name}", rates.per_key)

    def _fire(self, head: Head, match: Match, body: bytes) -> Fire:
        document = read_document(head, match, body, self._generation.settings.limits)
        if isinstance(document, Deny):
            raise Refusal(document)
        fire = read_fire(document.value if document is not None and not document.form else None)
        if isinstance(fire, Missing):
            raise Refusal(Deny(400, "herma.fire.job_missing", _MISSING))
        return fire

    async def _spend(self, permit: Permit) -> None:
        if permit.once is None:
            return
        match await self._plane.store.spend(permit.once):
            case Spending.FIRST:
                return
            case Spending.FULL:
                self._plane.meter.count("fires", "full")
                raise Refusal(store_down())
            case Spending.AGAIN | Spending.OUTDATED as spent:
                finding = Finding(f"fire-{spent}", Level.MEDIUM, f"issuer:{permit.name}")
                self._plane.meter.count("fires", spent)
                raise Refusal(Deny(409, "herma.fire.used", _USED, (finding,)))

    def _refuse(self, flaw: FireFlaw | None, permit: Permit) -> None:
        if flaw is not None:
            raise self._refusal(flaw, permit.name)

    def _refusal(self, reason: str, by: str) -> Refusal:
        self._plane.meter.count("fires", reason)
        finding = Finding(f"fire-{reason}", Level.LOW, f"by:{by}" if by else "")
        return Refusal(Deny(401, "herma.fire.refused", _REFUSED, (finding,)))
