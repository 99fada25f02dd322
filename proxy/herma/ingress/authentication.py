"""Who is asking: the key or the session, and the throttle on failed attempts."""

import time
from datetime import UTC, datetime
from typing import assert_never

from herma.identity import Rejected, Verified
from herma.ingress.plane import Generation, Plane
from herma.ingress.refusal import Refusal, slow_down
from herma.ingress.session import visitor
from herma.policy.browser.cross_site import Approach
from herma.policy.decision import Deny
from herma.policy.grant import Principal, Scope
from herma.policy.limits.throttle import subjects
from herma.policy.message.canonical import Head
from herma.policy.message.credential import bearer

__all__ = ["LOCAL", "authenticate", "is_open"]

# A loopback listener without any key or user serves this principal: the start-up law allows that on loopback only.
LOCAL = Principal("local", frozenset({Scope.ADMIN}))

_THROTTLED = "herma.auth.throttled"

# An address that can authenticate is not held to the common budget of failures for a day; telling the store once an hour
# keeps that so, and costs it nothing per request.
TELL_EVERY_S = 3600.0
MAX_KNOWN = 10_000


async def authenticate(
    plane: Plane, generation: Generation, head: Head, address: str, approach: Approach
) -> Principal | None:
    """Return the caller, or None when there is no valid credential.

    Raises:
        Refusal: the credential is malformed or in the wrong place (400), another site used it (403), or this address or key
            failed too often (429).
        StoreError: the throttle or the sessions cannot be asked.
    """
    credential = bearer(head)
    if isinstance(credential, Deny):
        raise Refusal(credential)
    if is_open(generation):
        return LOCAL
    if credential is None:
        found = await visitor(plane, generation, head, approach)
        return found.account.principal if found else None
    # Asked before the key is looked at: while an address is blocked, not even a right guess gets in.
    wait = await plane.store.blocked(subjects(address))
    if wait > 0:
        raise Refusal(slow_down(wait, _THROTTLED))
    verdict = generation.keyring.verify(credential, address, datetime.now(UTC))
    match verdict:
        case Verified(principal=principal):
            await _note_success(plane, address)
            return principal
        case Rejected(reason=reason, key_name=name):
            plane.meter.count("auth_failures", reason)
            # A key that is used after its end or from a wrong network slows itself down wherever it is tried from.
            wait = await plane.store.blocked((f"key:{name}",)) if name else 0.0
            await plane.store.failed(subjects(address, name))
            if wait > 0:
                raise Refusal(slow_down(wait, _THROTTLED))
            return None
        case _:
            assert_never(verdict)


def is_open(generation: Generation) -> bool:
    """Tell whether nobody has to say who they are."""
    return not generation.settings.auth.keys and generation.settings.auth.login is None


async def _note_success(plane: Plane, address: str) -> None:
    now = time.monotonic()
    told = plane.known.get(address)
    if told is not None and now - told < TELL_EVERY_S:
        return
    if len(plane.known) >= MAX_KNOWN:
        plane.known.clear()
    plane.known[address] = now
    await plane.store.succeeded(subjects(address))
