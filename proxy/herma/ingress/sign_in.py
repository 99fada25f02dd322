"""The pages of a login at an identity provider: the way there, and the way back.

What the provider says is never shown; each page has a text of its own. Whoever comes back with something that the gate did not
begin, that the provider does not stand by, or that is somebody's who may not come in, is slowed down like one who guesses.
"""

from dataclasses import replace
from typing import Final

from herma.config.login import Login
from herma.identity import Member, NoSignIn, SignIn, Trouble
from herma.ingress.answer import Answer
from herma.ingress.login_page import Ways, login_page
from herma.ingress.login_reply import landing, leave, say
from herma.ingress.plane import Plane
from herma.ingress.record import Record
from herma.ingress.refusal import slow_down
from herma.ingress.session import open_session
from herma.policy.browser.cookie import LOGIN_ERASED, login_cookie, login_planted, planted
from herma.policy.browser.local_target import HOME
from herma.policy.browser.login_form import back_of
from herma.policy.browser.own_url import own_url
from herma.policy.browser.page import Page
from herma.policy.decision import Deny
from herma.policy.limits.throttle import address_group, login_subjects, subjects
from herma.policy.message.canonical import Head
from herma.policy.openid.answer import Answer as Brought
from herma.policy.openid.answer import read_answer
from herma.policy.openid.pending import LOGIN_FOR_S, Pending

__all__ = ["SignInPages"]

# One login of an address is looked at a time, as with passwords.
_BUSY_S = 1
_AGAIN_S = 5

_STALE = Deny(
    400, "herma.auth.callback", "This sign-in took too long, or was begun in another window. Start again."
)
_UNVERIFIED = Deny(
    403, "herma.auth.identity", "What the identity provider said could not be verified. Start again."
)
_AWAY = Deny(
    503,
    "herma.auth.provider",
    "The identity provider does not answer at the moment. Try again shortly.",
    retry_after_s=_AGAIN_S,
)
_TROUBLES: Final = {
    Trouble.ANSWER: _UNVERIFIED,
    Trouble.CODE: _UNVERIFIED,
    Trouble.IDENTITY: _UNVERIFIED,
    Trouble.DECLINED: Deny(403, "herma.auth.declined", "The identity provider did not sign you in."),
    Trouble.UNWELCOME: Deny(
        403, "herma.auth.unwelcome", "Your account may not come in here. Ask whoever runs this gate."
    ),
    Trouble.UNREACHABLE: _AWAY,
    Trouble.BUSY: _AWAY,
    # The code is used up by then.
    Trouble.KEYS: replace(
        _AWAY, message="The identity provider has new keys. Start again in a moment.", retry_after_s=None
    ),
    Trouble.DESCRIPTION: Deny(
        503,
        "herma.auth.provider",
        "The identity provider describes itself in a way that this gate cannot use. Tell whoever runs this gate.",
        retry_after_s=_AGAIN_S,
    ),
}


class SignInPages:
    """Answers one request for one of these pages; `proto` is the scheme that the browser uses."""

    def __init__(
        self, plane: Plane, sign_in: SignIn, login: Login, record: Record, answer: Answer, proto: str
    ) -> None:
        self._plane = plane
        self._sign_in = sign_in
        self._login = login
        self._record = record
        self._answer = answer
        self._proto = proto

    async def begin(self, head: Head) -> None:
        """Send the browser to the provider."""
        back = back_of(head.target.query)
        try:
            url, cookie = await self._sign_in.begin(back, self._here(head))
        except NoSignIn as error:
            self._count(error)
            await self._say(_TROUBLES[error.trouble], back)
        else:
            await leave(self._answer, url, login_planted(cookie))

    async def come_back(self, head: Head) -> None:
        """Take what the browser brings from the provider.

        Raises:
            StoreError: sessions or throttle cannot be asked.
        """
        brought, cookie, here = read_answer(head.target.query), login_cookie(head), self._here(head)
        pending = self._sign_in.resume(cookie, here) if cookie is not None else None
        if brought is None or pending is None:
            await self._say(_STALE, HOME, LOGIN_ERASED)
            return
        # Judged to its end, whether or not somebody waits for the answer: a code is good for one time.
        outcome = await self._plane.keep(self._judge(pending, brought, here))
        match outcome:
            case Member():
                self._record.principal = outcome.principal.name
                session = await open_session(self._plane, head, outcome, self._login)
                place = landing(self._plane.generation, pending.back)
                await leave(self._answer, place, planted(session), LOGIN_ERASED)
            case Deny(retry_after_s=None):
                await self._say(outcome, pending.back, LOGIN_ERASED)
            case Deny():
                # The login still waits: whoever asks for the page again may be luckier.
                await self._say(outcome, pending.back)

    def _here(self, head: Head) -> str:
        return own_url(head, self._proto, Page.CALLBACK)

    async def _judge(self, pending: Pending, brought: Brought, here: str) -> Member | Deny:
        """Tell who came back, or why it is not said."""
        address = self._record.address
        group, charged = address_group(address), subjects(address)
        wait = await self._plane.store.blocked(charged)
        if wait > 0 or group in self._plane.attempts:
            return slow_down(max(wait, _BUSY_S), "herma.auth.throttled")
        self._plane.attempts.add(group)
        try:
            if not pending.is_state(brought.state):
                await self._plane.store.failed(charged)
                return _STALE
            member = await self._once(pending, brought, here)
            await self._plane.store.succeeded(login_subjects(address, member.user))
        except NoSignIn as error:
            self._count(error)
            if not error.trouble.passing:
                await self._plane.store.failed(charged)
            return _TROUBLES[error.trouble]
        else:
            return member
        finally:
            self._plane.attempts.discard(group)

    async def _once(self, pending: Pending, brought: Brought, here: str) -> Member:
        """Let a login give one session, in all workers; that it did is forgotten only when it would be too old."""
        member = await self._sign_in.finish(pending, brought, here)
        if await self._plane.store.take(f"login:{pending.ident}", 0.5 / LOGIN_FOR_S, 1.0) > 0:
            raise NoSignIn(Trouble.CODE, "again")
        return member

    def _count(self, error: NoSignIn) -> None:
        label = f"{error.trouble}.{error.detail}" if error.detail else error.trouble
        self._plane.meter.count("sign_in_troubles", label)

    async def _say(self, deny: Deny, back: str, *cookies: bytes) -> None:
        ways = Ways(bool(self._login.users), self._sign_in.label)
        page = login_page(back, ways, problem=deny.message)
        await say(self._answer, self._record, deny, page, *cookies)
