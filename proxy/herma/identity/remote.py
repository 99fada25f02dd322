"""Fetching a document that an identity provider publishes: small, in a short time, from the very place that was named."""

import asyncio
import ssl

from herma.policy.openid.endpoint import is_endpoint
from herma.policy.secret import Secret

__all__ = ["FETCH_TIMEOUT_S", "FetchError", "fetch"]

# From the look-up of the name to the last byte.
FETCH_TIMEOUT_S = 10.0

# Undone compression is a second size; nothing that small needs it.
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "herma"}


class FetchError(Exception):
    """The document cannot be had; the message repeats nothing of it. `status` is that of an answer that is none, None without."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


async def fetch(
    url: str,
    *,
    max_bytes: int,
    form: bytes | None = None,
    authorization: Secret | None = None,
    authorities: ssl.SSLContext | None = None,
) -> bytes:
    """GET a document, within `FETCH_TIMEOUT_S`; a redirect is not followed, nor a proxy of the environment asked.

    Args:
        url: where it is; https, or http at a loopback address.
        max_bytes: the most that is read.
        form: what is sent, by POST, as a form.
        authorization: what goes into the header of that name.
        authorities: whom to trust; those of the system if None.

    Raises:
        FetchError: there is no such document, or not in time, or a larger one.
    """
    # Late: it takes a quarter of a second, and most commands fetch nothing.
    from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar

    if not is_endpoint(url, local=True):
        raise FetchError("its address is neither https nor http at a loopback address")
    within = ClientTimeout(total=FETCH_TIMEOUT_S)
    headers = dict(_HEADERS)
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    if authorization is not None:
        headers["Authorization"] = authorization.reveal().decode("ascii")
    try:
        async with (
            ClientSession(timeout=within, cookie_jar=DummyCookieJar(), auto_decompress=False) as session,
            session.request(
                "GET" if form is None else "POST",
                url,
                headers=headers,
                data=form,
                allow_redirects=False,
                ssl=authorities or True,
            ) as response,
        ):
            if response.status != 200:
                raise FetchError(f"the answer has status {response.status}, expected 200", response.status)
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
