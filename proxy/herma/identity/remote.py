"""Fetching a document that an identity provider publishes: small, in a short time, from the very place that was named."""

import asyncio
import ipaddress
import ssl
from urllib.parse import urlsplit

__all__ = ["FETCH_TIMEOUT_S", "FetchError", "check_url", "fetch"]

# From the look-up of the name to the last byte.
FETCH_TIMEOUT_S = 10.0

# Undone compression is a second size; nothing that small needs it.
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "herma"}


class FetchError(Exception):
    """The document cannot be had; the message repeats nothing of it."""


def check_url(url: str) -> None:
    """Refuse a URL that would be fetched in clear over a network, or is none.

    Raises:
        ValueError: it is neither https nor http on a loopback address; the message does not repeat it.
    """
    wrong = "expected https://host/path; http only to a loopback address such as http://127.0.0.1:8080/path"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(wrong) from None
    printable = url.isascii() and url.isprintable() and not set(url) & set(' "<>\\^`{|}')
    if not printable or not host or "@" in parts.netloc or parts.fragment:
        raise ValueError(wrong)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise ValueError(wrong)


async def fetch(url: str, *, max_bytes: int, authorities: ssl.SSLContext | None = None) -> bytes:
    """GET a document, within `FETCH_TIMEOUT_S`; a redirect is not followed, nor a proxy of the environment asked.

    Args:
        url: where it is; `check_url` says which may be.
        max_bytes: the most that is read.
        authorities: whom to trust; those of the system if None.

    Raises:
        FetchError: there is no such document, or not in time, or a larger one.
    """
    # Late: it takes a quarter of a second, and most commands fetch nothing.
    from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar

    within = ClientTimeout(total=FETCH_TIMEOUT_S)
    try:
        check_url(url)
        async with (
            ClientSession(timeout=within, cookie_jar=DummyCookieJar(), auto_decompress=False) as session,
            session.get(url, headers=_HEADERS, allow_redirects=False, ssl=authorities or True) as response,
        ):
            if response.status != 200:
                raise FetchError(f"the answer has status {response.status}, expected 200")
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise FetchError("the answer is compressed, which was not asked for")
            body = bytearray()
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > max_bytes:
                    raise FetchError(f"the answer has more than {max_bytes} bytes")
            return bytes(body)
    except (ClientError, TimeoutError, asyncio.IncompleteReadError, OSError, ValueError) as error:
        raise FetchError(f"no answer ({type(error).__name__})") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
