"""The gate's own pages: logging in, logging out, and who is logged in.

Nothing of these is forwarded. Every wrong login gets the same answer after the same work, whether there is such a name or not; it
is charged to the address and to the account (see `policy.limits.throttle`), also when the caller hangs up before the answer.
"""

import json
import secrets
from datetime import UTC, datetime, timedelta

from herma.config.login import Login
from herma.identity import Account, TooManyPasswords
from herma.ingress.answer import Answer
from herma.ingress.body import BodyReader
from herma.ingress.login_page import HEADERS, login_page, notice_page
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, slow_down
from herma.ingress.session import Visitor, ident_of, limits_of, visitor
from herma.policy.browser.cookie import ERASED, SESSION_BYTES, planted, session_cookie
from herma.policy.browser.cross_site import Approach, cross_site
from herma.policy.browser.login_form import MAX_FORM_BYTES, LoginForm, back_of, is_form, read_form
from herma.policy.browser.page import Page
from herma.policy.browser.password_hash import prepared
from herma.policy.browser.transport import cleartext
from herma.policy.decision import Deny
from herma.policy.limits.throttle import address_group, login_subjects
from herma.policy.message.canonical import Head
from herma.policy.routing.envelope import Envelope
from herma.policy.secret import Secret
from herma.wire import ServerRequest

__all__ = ["OwnPages"]

# One password of an address is verified at a time, so that guesses cannot overtake what they are charged.
_BUSY_S = 1

# RFC 9110 section 15.5.2 asks a 401 for one; on this one no browser opens a dialogue.
_CHALLENGE = ((b"www-authenticate", b'Bearer realm="herma"'),)

_MALFORMED = Deny(400, "herma.auth.form", "The login form is malformed.", close=True)
_NO_FORM = Deny(415, "herma.auth.form", "A login is a form: application/x-www-form-urlencoded.", close=True)
_NO_LOGIN = Deny(404, "herma.route.unknown", "There is no such page at the gate.")
_NO_SESSION = Deny(401, "herma.auth.required", "There is no session.")
_WRONG = Deny(401, "herma.auth.login", "Name or password is wrong.")
_CLEARTEXT = Deny(
    403,
    "herma.auth.cleartext",
    "This connection is not encrypted, so a password typed here could be read by others. Use the https address of this gate.",
)
_FULL = Deny(
    503, "herma.auth.busy", "Too many people are signing in. Try again in a moment.", retry_after_s=2
)


class OwnPages:
    """Answers one request for a page of the gate."""

    def __init__(
        self,
        plane: Plane,
        generation: Generation,
        approach: Approach,
        request: ServerRequest,
        record: Record,
        answer: Answer,
    ) -> None:
        self._plane = plane
        self._generation = generation
        self._approach = approach
        self._request = request
        self._record = record
        self._answer = answer

    async def serve(self, page: Page | Deny, head: Head) -> None:
        """Answer the request.

        Raises:
            Refusal: there is no such page, or the request is none that a browser makes of it.
            StoreError: sessions or throttle cannot be asked.
        """
        # No other site is told anything, whatever it may call elsewhere.
        self._answer.extra = ()
        self._answer.envelope = Envelope.FLAT
        login = self._generation.settings.auth.login
        if isinstance(page, Deny) or login is None:
            raise Refusal(page if isinstance(page, Deny) else _NO_LOGIN)
        self._record.operation, self._record.route = page.value, page.path
        if head.method not in page.methods:
            self._answer.allow = page.methods
            raise Refusal(Deny(405, "herma.route.method", f"This path takes {', '.join(page.methods)} only."))
        if page is Page.SESSION:
            await self._session(head)
        elif page is Page.LOGOUT:
            await self._log_out(head)
        elif cleartext(self._approach, self._record.address):
            self._note(_CLEARTEXT)
            await self._answer.whole(
                403, HEADERS, notice_page("Not over this connection", _CLEARTEXT.message)
            )
        elif head.method == "POST":
            await self._log_in(head, login)
        else:
            found = await self._visitor(head)
            name = found.account.name if found else ""
            await self._answer.whole(200, HEADERS, login_page(back_of(head.target.query), name=name))

    async def _visitor(self, head: Head) -> Visitor | None:
        found = await visitor(self._plane, self._generation, head, self._approach)
        if found is not None:
            self._record.principal = found.account.principal.name
        return found

    async def _session(self, head: Head) -> None:
        found = await self._visitor(head)
        if found is None:
            raise Refusal(_NO_SESSION)
        expires = datetime.now(UTC) + timedelta(seconds=found.left_s)
        said = {
            "name": found.account.name,
            "scopes": sorted(found.account.role.scopes),
            "expires": expires.isoformat(timespec="seconds"),
        }
        headers = [(b"content-type", b"application/json"), *HEADERS[1:]]
        await self._answer.whole(200, headers, json.dumps(said).encode("ascii"))

    async def _log_out(self, head: Head) -> None:
        self._refuse_cross_site(head)
        await self._visitor(head)
        if (cookie := session_cookie(head)) is not None:
            await self._plane.store.end_session(ident_of(cookie))
        await self._leave(Page.LOGIN.path, ERASED)

    async def _log_in(self, head: Head, login: Login) -> None:
        self._refuse_cross_site(head)
        if not is_form(head.get(b"content-type")):
            raise Refusal(_NO_FORM)
        with BodyReader(self._plane, self._generation) as reader:
            form = read_form(await reader.read(self._request, head, MAX_FORM_BYTES))
        if form is None:
            raise Refusal(_MALFORMED)
        # A guess is judged and charged to its end, whether or not somebody waits for the answer.
        outcome = await self._plane.keep(self._judge(form))
        if isinstance(outcome, Deny):
            self._note(outcome)
            headers = [*HEADERS, *_CHALLENGE] if outcome.status == 401 else list(HEADERS)
            if outcome.retry_after_s is not None:
                headers.append((b"retry-after", b"%d" % outcome.retry_after_s))
            body = login_page(form.back, problem=outcome.message)
            await self._answer.whole(outcome.status, headers, body)
            return
        self._record.principal = outcome.principal.name
        await self._leave(form.back, planted(await self._begin(head, outcome, login)))

    async def _judge(self, form: LoginForm) -> Account | Deny:
        """Tell whose name and password these are, or why it is not said."""
        address = self._record.address
        group, charged = address_group(address), login_subjects(address, form.name)
        wait = await self._plane.store.blocked(charged)
        if wait > 0 or group in self._plane.attempts:
            return slow_down(max(wait, _BUSY_S), "herma.auth.throttled")
        self._plane.attempts.add(group)
        try:
            right = await self._verify(form)
            account = self._generation.accounts.get(form.name) if right else None
            if account is None:
                self._plane.meter.count("auth_failures", "password")
                await self._plane.store.failed(charged)
                return _WRONG
            await self._plane.store.succeeded(charged)
        except TooManyPasswords:
            return _FULL
        else:
            return account
        finally:
            self._plane.attempts.discard(group)

    async def _verify(self, form: LoginForm) -> bool:
        stored, password = self._generation.accounts.password_of(form.name), prepared(form.password)
        if stored is None or password is None:
            return False
        return await self._plane.passwords.verify(stored, password)

    async def _begin(self, head: Head, account: Account, login: Login) -> Secret:
        """Begin a session under a new name; the one that this browser had ends, whoever planted it."""
        if (before := session_cookie(head)) is not None:
            await self._plane.store.end_session(ident_of(before))
        cookie = Secret(secrets.token_urlsafe(SESSION_BYTES).encode("ascii"))
        await self._plane.store.open_session(
            ident_of(cookie), account.name, account.binding, limits_of(login)
        )
        return cookie

    async def _leave(self, where: str, cookie: bytes) -> None:
        headers = [*HEADERS[1:], (b"location", where.encode("ascii")), (b"set-cookie", cookie)]
        await self._answer.whole(303, headers, b"")

    def _refuse_cross_site(self, head: Head) -> None:
        denied = cross_site(head, self._approach)
        if denied is not None:
            raise Refusal(denied)

    def _note(self, deny: Deny) -> None:
        self._record.code, self._record.outcome = deny.code, "denied"
