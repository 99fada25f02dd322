"""How the ingress answers: whole bodies, denials, and what every answer carries."""

from collections.abc import Sequence

from herma.ingress.record import Record
from herma.policy.decision import Deny
from herma.policy.routing.envelope import Envelope, render
from herma.wire import ServerRequest

__all__ = ["Answer"]

type HeaderLines = Sequence[tuple[bytes, bytes]]


class Answer:
    """The one answer of an exchange.

    `extra` are header lines that go on every answer, such as the CORS grant of the caller's origin. `envelope`, `allow`
    `token_given` and `login_url` shape a refusal; they are filled in as more of the request is known. `login_location` is where a
    person who waits for a page is sent to instead of a 401; empty for everybody else.
    """

    def __init__(self, request: ServerRequest, record: Record) -> None:
        self._request = request
        self._record = record
        self.extra: tuple[tuple[bytes, bytes], ...] = ()
        self.envelope = Envelope.OPENAI
        self.allow: tuple[str, ...] = ()
        self.token_given = False
        self.login_url = ""
        self.login_location = ""

    async def deny(self, deny: Deny) -> None:
        """Answer with a refusal."""
        headers, body = render(
            deny,
            self.envelope,
            token_given=self.token_given,
            allow=self.allow,
            login_url=self.login_url,
        )
        self._record.code, self._record.reason = deny.code, deny.message
        self._record.outcome = "denied"
        self._record.add(deny.findings)
        if deny.status == 401 and self.login_location:
            location = self.login_location.encode("ascii")
            await self.whole(303, [(b"location", location), (b"cache-control", b"no-store")], b"")
            return
        await self.whole(deny.status, headers, body, close=deny.close)

    async def whole(self, status: int, headers: HeaderLines, body: bytes, *, close: bool = False) -> None:
        """Answer with a body that is complete in memory."""
        self._record.status = status
        self._record.bytes_out = len(body)
        await self._request.respond(status, self._lines(headers), body, close=close)

    async def start(self, status: int, headers: HeaderLines, *, length: int | None) -> None:
        """Begin an answer whose body follows in pieces; `length` None means it ends when it ends."""
        self._record.status = status
        await self._request.start(status, self._lines(headers), length=length)

    def _lines(self, headers: HeaderLines) -> list[tuple[bytes, bytes]]:
        # What the upstream says in the same words, such as `Vary: Origin`, is said once.
        own = [line for line in headers if line not in self.extra]
        return [*own, *self.extra, (b"x-herma-exchange", self._record.exchange.encode("ascii"))]
