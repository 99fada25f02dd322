"""The console's own pages on the admin listener: who may see them, and what each answers."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol
from urllib.parse import parse_qs

from aiohttp import web

from herma.console.access import Access, Keys
from herma.console.guard import from_a_browser, of_another_page
from herma.console.live import Live
from herma.console.markup import Markup
from herma.console.page import ASSETS, HEADERS, entry_page, explain_page, notice_page, overview_page
from herma.console.problem import problem
from herma.console.token_file import TokenDirectory
from herma.console.view import Explained, View
from herma.policy.secret import Secret

__all__ = ["Console", "Source"]

PREFIX: Final = "/console"

# Not `__Host-`: that needs `Secure`, which not every browser keeps for plain HTTP on loopback, and it guards nothing here, for
# cookies of an address are shared by all its ports. So the path keeps it from the pages of other ports, and the gate forwards no cookie
# whose name begins like this one.
_COOKIE: Final = "herma-console"
_ATTRIBUTES: Final = f"Path={PREFIX}; HttpOnly; SameSite=Strict"
_ERASED: Final = f"{_COOKIE}=; {_ATTRIBUTES}; Max-Age=0"
_VALUE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_EXCHANGE: Final = re.compile(r"[0-9a-f]{16}")
# A key has at most 4,096 characters, each three of them when it is encoded.
MAX_FORM_BYTES: Final = 3 * 4096 + 64
MAX_KEY_CHARS: Final = 4096
FORM_TIMEOUT_S: Final = 10.0

_WRONG: Final = "This is neither a token that is still good nor a key with the scope admin."
_SLOW: Final = "Too many wrong keys. Wait a minute, or use a token of herma console."


class Source(Protocol):
    """Where the pages get what they show."""

    async def view(self) -> View:
        """Return the state of the moment."""
        ...

    async def explained(self, exchange: str) -> Explained | None:
        """Return what is known of one refusal that is still remembered."""
        ...


class Console:
    """The pages; `close` when the listener ends."""

    def __init__(self, source: Source, keys: Keys, environ: Mapping[str, str]) -> None:
        self._source = source
        self._keys = keys
        self._access = Access(keys, TokenDirectory(environ), time.monotonic)
        self._live = Live(source.view)

    def routes(self) -> list[web.RouteDef]:
        """List the pages."""
        return [
            web.get("/", self._home),
            web.get(PREFIX, self._seen(self._overview)),
            # A stream has no use without its body.
            web.get(f"{PREFIX}/live", self._seen(self._stream), allow_head=False),
            web.get(f"{PREFIX}/refusals/{{exchange}}", self._seen(self._explain)),
            web.get(f"{PREFIX}/login", self._entry),
            web.post(f"{PREFIX}/login", self._log_in),
            web.post(f"{PREFIX}/logout", self._log_out),
            web.post(f"{PREFIX}/token", self._token),
            *(web.get(f"{PREFIX}/{name}", _asset(name)) for name in ASSETS),
        ]

    def judge(self, request: web.Request) -> web.Response | None:
        """Refuse a request that another page is behind."""
        if request.path == f"{PREFIX}/token":
            foreign = from_a_browser(request.headers)
        else:
            foreign = of_another_page(request.method, request.headers.get("Host", ""), request.headers)
        if not foreign:
            return None
        return problem(403, "herma.admin.cross_site", "Only the console's own pages may ask for this.")

    def stop(self) -> None:
        """End what is open."""
        self._live.stop()

    def close(self) -> None:
        """Take back tokens and sessions."""
        self._access.close()

    async def _who(self, request: web.Request) -> str:
        """Return who asks; nothing when there is no credential that holds. A key decides alone."""
        address = request.remote or ""
        if "Authorization" in request.headers:
            key = _bearer(request)
            return await self._access.named(key, address) if key is not None else ""
        cookie = _cookie(request)
        return self._access.who(cookie, address) if cookie is not None else ""

    def _seen(
        self, page: Callable[[web.Request, str], Awaitable[web.StreamResponse]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Show a page only to who may see it."""

        async def handle(request: web.Request) -> web.StreamResponse:
            who = await self._who(request)
            if who:
                return await page(request, who)
            if "Authorization" not in request.headers and "text/html" in request.headers.get("Accept", ""):
                return _leads(f"{PREFIX}/login")
            refused = problem(401, "herma.auth.required", "The console needs a token or an admin key.")
            refused.headers["WWW-Authenticate"] = 'Bearer realm="herma console"'
            return refused

        return handle

    async def _home(self, _request: web.Request) -> web.Response:
        return _leads(PREFIX)

    async def _overview(self, _request: web.Request, who: str) -> web.Response:
        return _page(overview_page(await self._source.view(), who))

    async def _explain(self, request: web.Request, _who: str) -> web.Response:
        exchange = request.match_info["exchange"]
        found = await self._source.explained(exchange) if _EXCHANGE.fullmatch(exchange) else None
        if found is None:
            gone = "This refusal is not remembered here any more; the audit has it."
            return _page(notice_page("Not here", gone), 404)
        return _page(explain_page(found))

    async def _stream(self, request: web.Request, _who: str) -> web.StreamResponse:
        if self._live.full:
            return problem(503, "herma.busy.connections", "Too many pages are open.", retry_after_s=30)
        address, cookie, key = request.remote or "", _cookie(request), _bearer(request)

        async def holds() -> bool:
            if key is not None:
                return bool(self._keys.admin(key, address))
            return cookie is not None and bool(self._access.who(cookie, address))

        return await self._live.serve(request, holds)

    async def _entry(self, _request: web.Request) -> web.Response:
        return _page(entry_page())

    async def _log_in(self, request: web.Request) -> web.Response:
        secret = await _typed(request)
        if secret is None:
            return _page(entry_page("Send one token or key."), 400)
        cookie = await self._access.enter(secret, request.remote or "")
        if cookie is None:
            slow = await self._keys.wait_s() > 0
            return _page(entry_page(_SLOW if slow else _WRONG), 429 if slow else 403)
        # The one session that this browser had ends, whoever planted it.
        if (before := _cookie(request)) is not None:
            self._access.leave(before)
        response = _leads(PREFIX)
        response.headers["Set-Cookie"] = f"{_COOKIE}={cookie.reveal().decode('ascii')}; {_ATTRIBUTES}"
        return response

    async def _log_out(self, request: web.Request) -> web.Response:
        if (cookie := _cookie(request)) is not None:
            self._access.leave(cookie)
        response = _leads(f"{PREFIX}/login")
        response.headers["Set-Cookie"] = _ERASED
        return response

    async def _token(self, _request: web.Request) -> web.Response:
        try:
            offer = self._access.offer()
        except OSError:
            said = "The gate has no directory that it can write to; use a key with the scope admin."
            return problem(503, "herma.admin.token", said)
        return web.json_response({"file": offer.path, "expires_in_s": int(offer.left_s)})


def _page(html: Markup, status: int = 200) -> web.Response:
    return web.Response(text=html, status=status, content_type="text/html", charset="utf-8", headers=HEADERS)


def _leads(where: str) -> web.Response:
    return web.Response(status=303, headers={**HEADERS, "Location": where})


def _asset(name: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    content, kind = ASSETS[name]

    async def handle(_request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind, charset="utf-8", headers=HEADERS)

    return handle


def _cookie(request: web.Request) -> Secret | None:
    """Return the one cookie of the console; two are two answers to who asks, so they are none."""
    found = [
        value.strip()
        for line in request.headers.getall("Cookie", [])
        for name, _, value in (pair.partition("=") for pair in line.split(";"))
        if name.strip() == _COOKIE
    ]
    return Secret(found[0].encode("ascii")) if len(found) == 1 and _VALUE.fullmatch(found[0]) else None


def _bearer(request: web.Request) -> Secret | None:
    lines = request.headers.getall("Authorization", [])
    if len(lines) != 1:
        return None
    scheme, _, key = lines[0].partition(" ")
    return _secret(key) if scheme.lower() == "bearer" else None


def _secret(text: str) -> Secret | None:
    usable = text.isascii() and text.isprintable() and 0 < len(text) <= MAX_KEY_CHARS
    return Secret(text.encode("ascii")) if usable else None


async def _typed(request: web.Request) -> Secret | None:
    if request.content_type != "application/x-www-form-urlencoded":
        return None
    body = bytearray()
    try:
        async with asyncio.timeout(FORM_TIMEOUT_S):
            async for piece in request.content.iter_any():
                body += piece
                if len(body) > MAX_FORM_BYTES:
                    return None
        fields = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=1, errors="strict")
    except (TimeoutError, ValueError):
        return None
    match fields:
        case {"token": [text]} if len(fields) == 1:
            return _secret(text.strip())
        case _:
            return None
