"""Fetching what an identity provider publishes."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from herma.identity import remote as module
from herma.identity.remote import FetchError, fetch
from herma.policy.secret import Secret
from support.wire_tls import make_pair

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@asynccontextmanager
async def provider(
    answer: bytes, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Serve one answer to everybody; keep what was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            if answer:
                await writer.drain()
            else:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


async def test_a_document_is_fetched() -> None:
    """As it is, and without anything that says who asks."""
    async with provider(OK) as (port, asked):
        assert await fetch(f"http://127.0.0.1:{port}/jwks?x=1", max_bytes=10) == b"{}"
    (request,) = asked
    assert request.startswith(b"GET /jwks?x=1 HTTP/1.1\r\n")
    assert b"identity" in request
    assert b"cookie" not in request.lower()
    assert b"authorization" not in request.lower()


def head(status: int, *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} X", "Connection: close", *lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (head(302, "Location: http://127.0.0.1:1/", "Content-Length: 0"), "status 302"),
        (head(404, "Content-Length: 2") + b"{}", "status 404"),
        (head(204), "status 204"),
        (head(200, "Content-Encoding: gzip", "Content-Length: 2") + b"{}", "compressed"),
        (head(200, "Content-Length: 11") + b"x" * 11, "more than 10 bytes"),
        (head(200, "Transfer-Encoding: chunked") + b"b\r\nxxxxxxxxxxx\r\n0\r\n\r\n", "more than 10 bytes"),
        (head(200) + b"x" * 100_000, "more than 10 bytes"),
        (head(200, "Content-Length: 5") + b"{}", "no answer"),
        (b"SSH-2.0-x\r\n\r\n", "no answer"),
    ],
)
async def test_what_is_not_the_document_is_refused(answer: bytes, says: str) -> None:
    """Redirects lead nowhere, nothing is unpacked, and reading stops at the bound."""
    async with provider(answer) as (port, asked):
        with pytest.raises(FetchError, match=says):
            await fetch(f"http://127.0.0.1:{port}/jwks", max_bytes=10)
    assert len(asked) == 1


async def test_a_provider_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is for all of it together."""
    monkeypatch.setattr(module, "FETCH_TIMEOUT_S", 0.05)
    async with provider(b"") as (port, _):
        with pytest.raises(FetchError, match="no answer"):
            await fetch(f"http://127.0.0.1:{port}/", max_bytes=10)


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could answer what it likes."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with provider(OK) as (port, _):
        assert await fetch(f"http://127.0.0.1:{port}/", max_bytes=10) == b"{}"


async def test_a_certificate_is_verified(tmp_path: Path) -> None:
    """By the authorities that are named, or else by those of the system."""
    pair = make_pair(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.cert, pair.key)
    async with provider(OK, context) as (port, _):
        url = f"https://localhost:{port}/"
        assert await fetch(url, max_bytes=10, authorities=pair.trusting()) == b"{}"
        with pytest.raises(FetchError):
            await fetch(url, max_bytes=10)
        with pytest.raises(FetchError):
            await fetch(f"https://127.0.0.2:{port}/", max_bytes=10, authorities=pair.trusting())


WRONG: list[str] = [
    "",
    "idp.example.com/jwks",
    "http://idp.example.com/jwks",
    "http://localhost/jwks",
    "http://127.0.0.1.example.com/",
    "http://127.1/",
    "http://2130706433/",
    "http://[::ffff:10.0.0.1]/",
    "http://10.0.0.1/jwks",
    "ftp://127.0.0.1/jwks",
    "file:///etc/passwd",
    "https:///jwks",
    "https://",
    "https://user:secret@idp.example.com/",
    "https://@idp.example.com/",
    "https://idp.example.com/#keys",
    "https://idp.example.com:99999/",
    "https://idp.example.com:x/",
    "https://[::1/",
    "https://idp.example.com\\@evil.example.com/",
    "https://idp.example.com/a b",
    "https://idp.example.com/\r\nX: y",
    "https://idp.éxample.com/",
]


@pytest.mark.parametrize("url", WRONG)
async def test_what_may_not_be_fetched(url: str) -> None:
    """In clear over a network, with a password, or with two meanings."""
    with pytest.raises(FetchError, match="its address"):
        await fetch(url, max_bytes=10)


async def test_a_form_is_posted_with_who_asks() -> None:
    """The secret goes into its header, and nowhere else."""
    async with provider(OK) as (port, asked):
        url = f"http://127.0.0.1:{port}/token"
        found = await fetch(url, max_bytes=10, form=b"a=b", authorization=Secret(b"Basic ZmFrZQ=="))
    assert found == b"{}"
    (request,) = asked
    assert request.startswith(b"POST /token HTTP/1.1\r\n")
    assert b"Authorization: Basic ZmFrZQ==\r\n" in request
    assert b"Content-Type: application/x-www-form-urlencoded\r\n" in request
    assert b"Content-Length: 3\r\n" in request


@pytest.mark.parametrize(("answer", "status"), [(head(400, "Content-Length: 0"), 400), (b"", None)])
async def test_an_answer_that_is_none_has_a_status(
    answer: bytes, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks can tell a refusal from an issuer that is away."""
    monkeypatch.setattr(module, "FETCH_TIMEOUT_S", 0.2)
    async with provider(answer) as (port, _):
        with pytest.raises(FetchError) as caught:
            await fetch(f"http://127.0.0.1:{port}/token", max_bytes=10, form=b"")
    assert caught.value.status == status


NONSENSE = (
    st.binary(max_size=200)
    | st.lists(st.sampled_from([
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200", b"HTTP/9.9 200 OK\r\n", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n",
        b"Content-Encoding: \xff\r\n", b"Set-Cookie: a=b\r\n", b"Location: //[\r\n", b"X: " + b"y" * 9000 + b"\r\n",
        b": x\r\n", b"\x00: \x00\r\n", b" folded\r\n", b"\r\n", b"5\r\n{}{}{\r\n", b"zz\r\n", b"0\r\n\r\n", b"{}{}{", b"\xff" * 20,
    ]), max_size=12).map(b"".join)
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(NONSENSE)
async def test_whatever_is_answered_is_a_document_or_none(answer: bytes) -> None:
    """No answer makes fetching fail in a way that nobody expects."""
    async with provider(answer or b"\r\n") as (port, _):
        try:
            found = await fetch(f"http://127.0.0.1:{port}/", max_bytes=10)
        except FetchError:
            return
        assert len(found) <= 10
