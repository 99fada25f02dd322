"""Who is asking: the sources in their order, the rules for what a browser sends by itself, and the throttle on failed attempts."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from herma.ingress.plane import Generation, Plane
from herma.ingress.recognition import LOCAL, Stranger, by_bearer, by_certificate, by_proxy, is_open
from herma.ingress.refusal import Refusal, slow_down
from herma.ingress.session import visitor
from herma.policy.browser.cross_site import Approach, cross_site, led_here
from herma.policy.decision import Deny
from herma.policy.grant import Principal
from herma.policy.limits.throttle import subjects
from herma.policy.message.canonical import Head
from herma.policy.message.credential import bearer
from herma.policy.secret import Secret
from herma.wire import Peer

__all__ = ["Asking", "Known", "authenticate", "known_without_header"]

_THROTTLED = "herma.auth.throttled"

# An address that can authenticate is not held to the common budget of failures for a day; telling the store once an hour
# keeps that so, and costs it nothing per request.
TELL_EVERY_S = 3600.0
MAX_KNOWN = 10_000

_NOBODY = Stranger()


@dataclass(frozen=True, slots=True)
class Asking:
    """A request that asks to come in: its head, the caller's address, the other end of the connection, and how it came.

    What a page sends by itself is no `use` of a session.
    """

    head: Head
    address: str
    peer: Peer
    approach: Approach
    use: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """A caller who sent no credential by hand: what they are called on a page, and how long that holds if nothing happens."""

    principal: Principal
    name: str
    left_s: float | None = None


async def authenticate(plane: Plane, generation: Generation, asking: Asking) -> Principal | Stranger:
    """Return the caller, or a stranger when there is no valid credential; `recognition` tells the order.

    Raises:
        Refusal: the credential is malformed or in the wrong place (400), another site used it (403), or this address or key
            failed too often (429).
        StoreError: the throttle or the sessions cannot be asked.
    """
    credential = bearer(asking.head)
    if isinstance(credential, Deny):
        raise Refusal(credential)
    if is_open(generation):
        if (denied := led_here(asking.head, asking.approach)) is not None:
            raise Refusal(denied)
        return LOCAL
    if credential is not None:
        return await _judge(plane, generation, credential, asking.address)
    if asking.head.get(b"authorization") is not None:
        return _NOBODY
    found = await known_without_header(plane, generation, asking)
    return found.principal if isinstance(found, Known) else found


async def known_without_header(plane: Plane, generation: Generation, asking: Asking) -> Known | Stranger:
    """Ask the sources that the caller's program need not know of: a proxy, a cookie, the connection.

    A browser sends along what these read whoever made it send the request. Only for a request without `Authorization`.

    Raises:
        Refusal: the proxy says it in two ways (400), or another site made a browser send the request (403).
        StoreError: the sessions cannot be asked.
    """
    vouched = by_proxy(generation, asking.peer, asking.head)
    match vouched:
        case Principal():
            return Known(_from_own_site(vouched, asking), vouched.name)
        case Deny():
            raise Refusal(vouched)
        case Stranger(reason=reason):
            plane.meter.count("auth_failures", reason)
            return vouched
        case None:
            pass
    person = await visitor(plane, generation, asking.head, asking.approach, touch=asking.use)
    if person is not None:
        return Known(person.account.principal, person.account.name, person.left_s)
    now = datetime.now(UTC)
    known, shown = by_certificate(generation, asking.peer, now), asking.peer.certificate
    if known is None or shown is None:
        return _NOBODY
    left_s = shown.not_after - now.timestamp()
    return Known(_from_own_site(known, asking, programs=True), known.name, left_s)


def _from_own_site(principal: Principal, asking: Asking, *, programs: bool = False) -> Principal:
    denied = cross_site(asking.head, asking.approach, programs=programs)
    if denied is not None:
        raise Refusal(denied)
    return principal


async def _judge(
    plane: Plane, generation: Generation, credential: Secret, address: str
) -> Principal | Stranger:
    # Asked before the credential is looked at: while an address is blocked, not even a right guess gets in.
    wait = await plane.store.blocked(subjects(address))
    if wait > 0:
        raise Refusal(slow_down(wait, _THROTTLED))
    found = by_bearer(plane, generation, credential, address, datetime.now(UTC))
    if not isinstance(found, Stranger):
        await _note_success(plane, address)
        return found[0]
    plane.meter.count("auth_failures", found.reason)
    if found.charged:
        name = found.key_name
        # A key that is used after its end or from a wrong network slows itself down wherever it is tried from.
        wait = await plane.store.blocked((f"key:{name}",)) if name else 0.0
        await plane.store.failed(subjects(address, name))
        if wait > 0:
            raise Refusal(slow_down(wait, _THROTTLED))
    return found


async def _note_success(plane: Plane, address: str) -> None:
    now = time.monotonic()
    told = plane.known.get(address)
    if told is not None and now - told < TELL_EVERY_S:
        return
    if len(plane.known) >= MAX_KNOWN:
        plane.known.clear()
    plane.known[address] = now
    await plane.store.succeeded(subjects(address))
