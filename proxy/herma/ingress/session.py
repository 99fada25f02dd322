"""The caller who comes with a session's cookie."""

import hashlib
import secrets
from dataclasses import dataclass

from herma.config.login import Login
from herma.identity import Account, Member
from herma.ingress.plane import Generation, Plane
from herma.ingress.refusal import Refusal
from herma.policy.browser.cookie import SESSION_BYTES, session_cookie
from herma.policy.browser.cross_site import Approach, cross_site
from herma.policy.browser.sessions import SessionLimits
from herma.policy.message.canonical import Head
from herma.policy.secret import Secret

__all__ = ["Visitor", "find_session", "ident_of", "limits_of", "open_session", "visitor"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person with a session that holds, and for how long it holds if nothing happens."""

    account: Account | Member
    left_s: float


async def visitor(
    plane: Plane, generation: Generation, head: Head, approach: Approach, *, touch: bool = True
) -> Visitor | None:
    """Return who has the session that the request's cookie names; None when there is none.

    An `Authorization` header decides alone: with one, the cookie says nothing. With `touch` the session counts as used.

    Raises:
        Refusal: the session holds, but another site made the browser send the request (403).
        StoreError: the sessions cannot be asked.
    """
    cookie, login = session_cookie(head), generation.settings.auth.login
    if cookie is None or login is None or head.get(b"authorization") is not None:
        return None
    denied = cross_site(head, approach)
    ident = ident_of(cookie)
    found = await find_session(plane, generation, login, ident, touch=touch and denied is None)
    if found is not None and denied is not None:
        raise Refusal(denied)
    return found


async def find_session(
    plane: Plane, generation: Generation, login: Login, ident: str, *, touch: bool
) -> Visitor | None:
    """Return who has a session by its name; None when it is over, or was another person's, so to say.

    Raises:
        StoreError: the sessions cannot be asked.
    """
    found = await plane.store.session(ident, limits_of(login), touch=touch)
    if found is None:
        return None
    account = generation.accounts.of_session(found.user, found.binding)
    if account is None:
        await plane.store.end_session(ident)
        return None
    return Visitor(account, found.left_s)


async def open_session(plane: Plane, head: Head, account: Account | Member, login: Login) -> Secret:
    """Begin a session under a new name, which is returned; the one that this browser had ends, whoever planted it.

    Raises:
        StoreError: the sessions cannot be asked.
    """
    if (before := session_cookie(head)) is not None:
        await plane.store.end_session(ident_of(before))
    cookie = Secret(secrets.token_urlsafe(SESSION_BYTES).encode("ascii"))
    await plane.store.open_session(ident_of(cookie), account.user, account.binding, limits_of(login))
    return cookie


def ident_of(cookie: Secret) -> str:
    """Name a session by what its cookie holds, so that the store holds nothing that opens the gate."""
    return hashlib.sha256(cookie.reveal()).hexdigest()


def limits_of(login: Login) -> SessionLimits:
    """Return how long sessions last."""
    return SessionLimits(login.idle_timeout_s, login.lifetime_s)
