"""TLS: versions, ALPN, verification, and what encryption changes about the ends of a connection."""

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from herma.wire import (
    Pool,
    PoolLimits,
    Server,
    ServerLimits,
    ServerRequest,
    TcpAddress,
    TunnelEnd,
    UpstreamError,
    UpstreamFailure,
    client_context,
    connection,
    renew,
    server_context,
    splice,
)
from support.through import Through
from support.wire_client import PATIENCE_S, Client, bound, echo, reset, serving, wire_error
from support.wire_tls import Pair, make_pair
from support.wire_upstream import Side, playing

SOON_S = 0.05
POST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """One certificate for all tests."""
    return make_pair(tmp_path_factory.mktemp("tls"))


def test_a_listener_speaks_tls_1_2_or_newer(pair: Pair) -> None:
    """Older versions are not offered."""
    context = server_context(pair.cert, pair.key)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_protected_key_is_an_error_not_a_prompt(tmp_path: Path) -> None:
    """Nobody sits at the terminal of a service."""
    protected = make_pair(tmp_path, passphrase="not-the-empty-one")
    with pytest.raises(OSError):
        server_context(protected.cert, protected.key)


def test_towards_an_upstream_certificates_are_verified(pair: Pair) -> None:
    """Chain and name, with the system's authorities or the operator's own."""
    for context in (client_context(), client_context(pair.cert)):
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.minimum_version is ssl.TLSVersion.TLSv1_2


async def test_a_request_over_tls(pair: Pair) -> None:
    """ALPN settles on HTTP/1.1, the handler knows, the connection is kept."""
    peers = []

    async def who(request: ServerRequest) -> None:
        peers.append(request.peer.tls)
        await echo(request)

    trusting = pair.trusting()
    trusting.set_alpn_protocols(["h2", "http/1.1"])
    async with serving(who, ssl=server_context(pair.cert, pair.key), client_ssl=trusting) as served:
        client = await served.client()
        for _ in range(2):
            client.send(POST)
            assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")
        assert client.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
        assert peers == [True, True]


async def test_a_pool_over_tls_reuses_its_connection(pair: Pair) -> None:
    """The handshake is paid once; a certificate nobody vouches for is no upstream."""
    server = Server(echo, ServerLimits(), wire_error)
    sock = bound()
    await server.serve(sock, server_context(pair.cert, pair.key))
    address = TcpAddress(*sock.getsockname())
    trusting, doubting = Pool(address, ssl=client_context(pair.cert)), Pool(address, ssl=client_context())
    for _ in range(3):
        async with trusting.request(
            b"POST", b"/", [], b"abc", idempotent=False, head_timeout_s=5
        ) as response:
            assert await response.read(10) == b"abc"
    assert trusting.connects == 1
    with pytest.raises(UpstreamError) as caught:
        async with doubting.request(b"POST", b"/", [], b"abc", idempotent=False, head_timeout_s=5):
            pass
    assert (caught.value.kind, caught.value.sent) == (UpstreamFailure.CONNECT, False)
    await trusting.close()
    await doubting.close()
    await server.drain(PATIENCE_S)


async def test_an_early_answer_over_tls_is_readable(pair: Pair) -> None:
    """Without a half close the rest of the body is read until the client has its answer and closes."""

    async def refuse(request: ServerRequest) -> None:
        await request.respond(413, [], b"too much")

    async with serving(refuse, ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()) as served:
        client = await served.client()
        client.send(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (1 << 20) + b"x" * (1 << 20))
        assert await client.answer() == (b"HTTP/1.1 413 Request Entity Too Large", b"too much")


async def test_a_stream_to_an_old_client_over_tls_ends_with_a_close(pair: Pair) -> None:
    """Even if its request was not read to the end."""

    async def stream(request: ServerRequest) -> None:
        await request.start(200, [])
        await request.send(b"hello")
        await request.finish()

    async with serving(stream, ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()) as served:
        answer = await served.talk(b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\nabc")
        assert answer.endswith(b"\r\n\r\nhello")


async def test_an_aborted_stream_over_tls_is_not_a_clean_end(pair: Pair) -> None:
    """The last words arrive, close_notify does not."""

    async def fail(request: ServerRequest) -> None:
        await request.start(200, [])
        await request.send(b"half")
        request.abort()

    async with serving(fail, ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()) as served:
        client = await served.client()
        client.send(POST)
        await client.until(b"half\r\n")
        with pytest.raises(OSError):
            await client.rest()


async def test_a_client_that_leaves_over_tls_ends_the_work(pair: Pair) -> None:
    """close_notify, or a bare end of the connection."""
    for leave in ("close", "reset"):
        started, cancelled = asyncio.Event(), asyncio.Event()

        async def wait(request: ServerRequest) -> None:
            started.set()  # noqa: B023 - the handler of this round
            try:
                await asyncio.sleep(PATIENCE_S * 2)
            except asyncio.CancelledError:
                cancelled.set()  # noqa: B023 - the handler of this round
                raise

        async with serving(
            wait, ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()
        ) as served:
            client = await served.client()
            client.send(POST)
            await started.wait()
            if leave == "close":
                client.writer.close()
            else:
                reset(client.writer)
            async with asyncio.timeout(PATIENCE_S):
                await cancelled.wait()


async def test_a_handshake_has_the_deadline_of_a_head(pair: Pair) -> None:
    """Who connects and says nothing is closed."""
    limits = ServerLimits(head_timeout_s=SOON_S)
    async with serving(limits=limits, ssl=server_context(pair.cert, pair.key)) as served:
        client = await served.client()
        await client.gone()


async def test_lingering_over_tls_is_bounded_in_time(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that keeps the connection after its answer loses it."""
    monkeypatch.setattr(connection, "LINGER_S", SOON_S)
    async with serving(ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()) as served:
        client = await served.client()
        client.send(b"nonsense\n")
        await client.answer()
        async with asyncio.timeout(PATIENCE_S):
            while served.server.connections:
                await asyncio.sleep(0.005)


@pytest.mark.parametrize("first", ["client", "upstream"])
async def test_a_tunnel_from_tls_to_plain(pair: Pair, first: str) -> None:
    """TLS has no half close: when either side ends, both do, after the last byte."""
    ends: asyncio.Queue[TunnelEnd] = asyncio.Queue()
    sides: asyncio.Queue[Side] = asyncio.Queue()

    async def upgrade(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        sides.put_nowait(side)
        await side.gone()

    async with playing(upgrade) as up:

        async def handler(request: ServerRequest) -> None:
            async with up.pool.request(
                b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5, upgrade=True
            ) as got:
                assert got.upgrade is not None
                ends.put_nowait(await splice(request.switch([]), got.upgrade, Through(), PATIENCE_S))

        async with serving(
            handler, ssl=server_context(pair.cert, pair.key), client_ssl=pair.trusting()
        ) as served:
            client = await served.client()
            client.send(b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
            await client.until(b"\r\n\r\n")
            side = await sides.get()
            if first == "client":
                client.writer.close()
            else:
                side.send(b"bye")
                side.writer.write_eof()
                assert await client.rest() == b"bye"
                client.writer.close()
            async with asyncio.timeout(PATIENCE_S):
                await ends.get()


@pytest.mark.parametrize("clean", [True, False])
async def test_a_close_delimited_answer_over_tls_needs_close_notify(pair: Pair, clean: bool) -> None:
    """An end that anybody on the path could have forged is not the end of a body."""

    def answer(listening: socket.socket) -> None:
        raw, _ = listening.accept()
        with raw:
            raw.settimeout(PATIENCE_S)
            sock = server_context(pair.cert, pair.key).wrap_socket(raw, server_side=True)
            with sock:
                sock.recv(65536)
                sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello")
                if clean:
                    sock.unwrap()
                else:
                    sock.shutdown(socket.SHUT_WR)

    with bound() as listening:
        listening.listen()
        answering = asyncio.get_running_loop().run_in_executor(None, answer, listening)
        pool = Pool(TcpAddress(*listening.getsockname()), PoolLimits(), ssl=client_context(pair.cert))
        async with pool.request(b"GET", b"/", [], b"", idempotent=False, head_timeout_s=5) as response:
            if clean:
                assert await response.read(10) == b"hello"
            else:
                with pytest.raises(UpstreamError) as caught:
                    await response.read(10)
                assert caught.value.kind is UpstreamFailure.CLOSED
        await answering
        await pool.close()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"], ids=["with SNI", "without"])
async def test_a_renewed_certificate_is_shown_to_new_connections(
    pair: Pair, tmp_path: Path, name: str
) -> None:
    """Those that are open go on; a client that trusts only the old certificate hears the new one, and again the next."""
    serving_with = server_context(pair.cert, pair.key)

    async def connect(shown: Pair) -> Client:
        trusting = shown.trusting()
        reader, writer = await asyncio.open_connection(*served.address, ssl=trusting, server_hostname=name)
        client = Client(reader, writer)
        served.clients.append(client)
        client.send(POST)
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.3"
        return client

    async with serving(ssl=serving_with) as served:
        before = await connect(pair)
        for directory in ("first", "second"):
            (tmp_path / directory).mkdir()
            renewed = make_pair(tmp_path / directory)
            renew(serving_with, server_context(renewed.cert, renewed.key))
            await connect(renewed)
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect(pair)
        before.send(POST)
        assert await before.answer() == (b"HTTP/1.1 200 OK", b"abc")


async def test_a_renewed_listener_still_speaks_http_1_1_by_tls_1_2_or_newer(
    pair: Pair, tmp_path: Path
) -> None:
    """Nothing but the certificate changes."""
    renewed = make_pair(tmp_path)
    serving_with = server_context(pair.cert, pair.key)
    renew(serving_with, server_context(renewed.cert, renewed.key))
    trusting = renewed.trusting()
    trusting.set_alpn_protocols(["h2", "http/1.1"])
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    async with serving(ssl=serving_with, client_ssl=trusting) as served:
        client = await served.client()
        client.send(POST)
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")
        tls = client.writer.get_extra_info("ssl_object")
        assert (tls.version(), tls.selected_alpn_protocol()) == ("TLSv1.2", "http/1.1")
