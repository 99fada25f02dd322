"""The gate's own pages: logging in, logging out, and who is logged in.

Nothing of these is forwarded. Every wrong login gets the same answer after the same work, whether there is such a name or not; it
is charged to the address and to the account (see `policy.limits.throttle`), also when the caller hangs up before the answer.
"""

import json
from datetime import UTC, datetime, timedelta

from herma.config.login import Login
from herma.identity import Account, Member, TooManyPasswords
from herma.ingress.answer import Answer
from herma.ingress.authentication import Asking, known_without_header
from herma.ingress.body import BodyReader
from herma.ingress.login_page import HEADERS, Ways, login_page, notice_page, signed_out_page
from herma.ingress.login_reply import landing, leave, say
from herma.ingress.plane import Generation, Plane
from herma.ingress.recognition import Stranger
from herma.ingress.record import Record
from herma.ingress.refusal import Refusal, slow_down
from herma.ingress.session import Visitor, ident_of, open_session, visitor
from herma.ingress.sign_in import SignInPages
from herma.policy.browser.cookie import ERASED, planted, session_cookie
from herma.policy.browser.cross_site import Approach, cross_site
from herma.policy.browser.login_form import MAX_FORM_BYTES, LoginForm, back_of, is_form, read_form
from herma.policy.browser.own_url import own_url
from herma.policy.browser.page import Page
from herma.policy.browser.password_hash import prepared
from herma.policy.browser.transport import cleartext
from herma.policy.decision import Deny
from herma.policy.limits.throttle import address_group, login_subjects
from herma.policy.message.canonical import Head
from herma.policy.routing.envelope import Envelope
from herma.wire import ServerRequest

__all__ = ["OwnPages"]

# One password of an address is verified at a time, so that guesses cannot overtake what they are charged.
_BUSY_S = 1

_MALFORMED = Deny(400, "herma.auth.form", "The login form is malformed.", close=True)
_NO_FORM = Deny(415, "herma.auth.form", "A login is a form: application/x-www-form-urlencoded.", close=True)
_NO_LOGIN = Deny(404, "herma.route.unknown", "There is no such page at the gate.")
_NO_PASSWORDS = Deny(404, "herma.route.unknown", "Nobody logs in with a password here.", close=True)
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
        auth = self._generation.settings.auth
        login = auth.login
        # Who is known by other means than a login has a name to be told, and nothing to log in to.
        told = page is Page.SESSION and bool(auth.certificates or auth.proxy_headers)
        if isinstance(page, Deny) or (login is None and not told):
            raise Refusal(page if isinstance(page, Deny) else _NO_LOGIN)
        self._record.operation, self._record.route = page.operation, page.path
        if head.method not in page.methods:
            self._answer.allow = page.methods
            raise Refusal(Deny(405, "herma.route.method", f"This path takes {', '.join(page.methods)} only."))
        if page is Page.SESSION or login is None:
            await self._session(head)
        elif page is Page.LOGOUT:
            await self._log_out(head)
        elif cleartext(self._approach, self._record.address):
            body = notice_page("Not over this connection", _CLEARTEXT.message)
            await say(self._answer, self._record, _CLEARTEXT, body)
        elif page is not Page.LOGIN:
            await self._sign_in(page, head, login)
        elif head.method == "POST":
            await self._log_in(head, login)
        else:
            found = await self._visitor(head)
            name = found.account.name if found else ""
            body = login_page(back_of(head.target.query), self._ways(login), name=name)
            await self._answer.whole(200, HEADERS, body)

    def _ways(self, login: Login) -> Ways:
        sign_in = self._generation.accounts.sign_in
        return Ways(bool(login.users), sign_in.label if sign_in else "")

    async def _sign_in(self, page: Page, head: Head, login: Login) -> None:
        sign_in = self._generation.accounts.sign_in
        if sign_in is None:
            raise Refusal(_NO_LOGIN)
        self._refuse_cross_site(head)
        pages = SignInPages(self._plane, sign_in, login, self._record, self._answer, self._approach.proto)
        await (pages.begin(head) if page is Page.BEGIN else pages.come_back(head))

    async def _visitor(self, head: Head) -> Visitor | None:
        found = await visitor(self._plane, self._generation, head, self._approach)
        if found is not None:
            self._record.principal = found.account.principal.name
        return found

    async def _session(self, head: Head) -> None:
        # Whoever asks how long it holds does not make it longer.
        asking = Asking(head, self._record.address, self._request.peer, self._approach, use=False)
        if head.get(b"authorization") is not None:
            raise Refusal(_NO_SESSION)
        found = await known_without_header(self._plane, self._generation, asking)
        if isinstance(found, Stranger):
            self._record.add(found.findings)
            raise Refusal(_NO_SESSION)
        self._record.principal = found.principal.name
        said = {
            "name": found.name,
            "scopes": sorted(found.principal.scopes),
            "expires": _moment(found.left_s),
        }
        headers = [(b"content-type", b"application/json"), *HEADERS[1:]]
        await self._answer.whole(200, headers, json.dumps(said).encode("ascii"))

    async def _log_out(self, head: Head) -> None:
        self._refuse_cross_site(head)
        found = await self._visitor(head)
        if (cookie := session_cookie(head)) is not None:
            await self._plane.store.end_session(ident_of(cookie))
        sign_in = self._generation.accounts.sign_in
        if found is not None and isinstance(found.account, Member) and sign_in is not None:
            onward = sign_in.sign_out(own_url(head, self._approach.proto, Page.LOGIN))
            if onward:
                headers = [*HEADERS, (b"set-cookie", ERASED)]
                await self._answer.whole(200, headers, signed_out_page(sign_in.label, onward))
                return
        await leave(self._answer, Page.LOGIN.path, ERASED)

    async def _log_in(self, head: Head, login: Login) -> None:
        self._refuse_cross_site(head)
        if not login.users:
            raise Refusal(_NO_PASSWORDS)
        if not is_form(head.get(b"content-type")):
            raise Refusal(_NO_FORM)
        with BodyReader(self._plane, self._generation) as reader:
            form = read_form(await reader.read(self._request, head, MAX_FORM_BYTES))
        if form is None:
            raise Refusal(_MALFORMED)
        # A guess is judged and charged to its end, whether or not somebody waits for the answer.
        outcome = await self._plane.keep(self._judge(form))
        if isinstance(outcome, Deny):
            body = login_page(form.back, self._ways(login), problem=outcome.message)
            await say(self._answer, self._record, outcome, body)
            return
        self._record.principal = outcome.principal.name
        session = await open_session(self._plane, head, outcome, login)
        await leave(self._answer, landing(self._generation, form.back), planted(session))

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

    def _refuse_cross_site(self, head: Head) -> None:
        denied = cross_site(head, self._approach)
        if denied is not None:
            raise Refusal(denied)


def _moment(left_s: float | None) -> str | None:
    if left_s is None:
        return None
    return (datetime.now(UTC) + timedelta(seconds=left_s)).isoformat(timespec="seconds")
