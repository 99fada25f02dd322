"""How the ingress answers: whole bodies, denials, and what every answer carries."""

from collections.abc import Sequence

from herma.ingress.record import Record
from herma.policy.decision import Deny
from herma.policy.envelope import Envelope, render
from herma.wire import ServerRequest

__all__ = ["Answer"]

type HeaderLines = Sequence[tuple[bytes, bytes]]


class Answer:
    """The one answer of an exchange.

    `extra` are header lines that go on every answer, such as the CORS grant of the caller's origin.
    """

    def __init__(self, request: ServerRequest, record: Record) -> None:
        self._request = request
        self._record = record
        self.extra: tuple[tuple[bytes, bytes], ...] = ()

    async def deny(self, deny: Deny, envelope: Envelope, *, token_given: bool = False) -> None:
        """Answer with a refusal in the route's envelope."""
        headers, body = render(deny, envelope, token_given=token_given)
        self._record.code = deny.code
        self._record.outcome = "denied"
        self._record.add(deny.findings)
        await self.whole(deny.status, headers, body, close=deny.close)

    async def whole(self, status: int, headers: HeaderLines, body: bytes, *, close: bool = False) -> None:
        """Answer with a body that is complete in memory."""
        self._record.status = status
        self._record.bytes_out = len(body)
        await self._request.respond(status, self.lines(headers), body, close=close)

    async def start(self, status: int, headers: HeaderLines, *, length: int | None) -> None:
        """Begin an answer whose body follows in pieces; `length` None means it ends when it ends."""
        self._record.status = status
        await self._request.start(status, self.lines(headers), length=length)

    def lines(self, headers: HeaderLines) -> list[tuple[bytes, bytes]]:
        """Put the lines that every answer carries in place of the same names in `headers`."""
        extra = (*self.extra, (b"x-herma-exchange", self._record.exchange.encode()))
        names = {name for name, _ in extra}
        return [*((name, value) for name, value in headers if name.lower() not in names), *extra]
