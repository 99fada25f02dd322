"""Asking a provider whose certificate is from authorities of the operator's own."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from herma.identity.asking import asking
from herma.identity.remote import FetchError
from herma.policy.secret import Secret
from support.wire_tls import make_pair

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@asynccontextmanager
async def provider(tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer everybody; keep what was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(OK)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


async def test_the_authorities_of_the_file_are_trusted_and_no_others(tmp_path: Path) -> None:
    """With the file it is answered; without it, it is asked nothing."""
    pair = make_pair(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert, pair.key)
    async with provider(context) as (port, asked):
        url = f"https://localhost:{port}/token"
        assert (
            await asking(pair.cert)(url, max_bytes=10, form=b"a=b", authorization=Secret(b"Basic x")) == b"{}"
        )
        with pytest.raises(FetchError, match="no answer"):
            await asking(None)(url, max_bytes=10)
    (request,) = asked
    assert b"Authorization: Basic x\r\n" in request


async def test_a_file_that_cannot_be_read_trusts_nobody(tmp_path: Path) -> None:
    """It is not as if there were no file."""
    async with provider() as (port, asked):
        with pytest.raises(FetchError, match="file of authorities"):
            await asking(str(tmp_path / "gone.pem"))(f"http://127.0.0.1:{port}/", max_bytes=10)
        assert await asking(None)(f"http://127.0.0.1:{port}/", max_bytes=10) == b"{}"
    assert len(asked) == 1
