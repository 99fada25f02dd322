"""Who is at the other end of a connection."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herma.wire import Peer, Server, ServerLimits, ServerRequest, renew, server_context
from herma.wire.messages import Certificate
from support.certificates import Authority, make_authority
from support.wire_client import PATIENCE_S, bound
from support.wire_tls import Pair

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
UNTIL = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=5)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Pair:
    return authority.issue("server", "dns:localhost")


@asynccontextmanager
async def serving(context: ssl.SSLContext | None) -> AsyncIterator[tuple[int, list[Peer]]]:
    """Answer everybody, and note who they were."""
    seen: list[Peer] = []

    async def handle(request: ServerRequest) -> None:
        seen.append(request.peer)
        await request.respond(200, [], b"")

    sock = bound()
    gate = Server(handle, ServerLimits(), lambda *_: ([], b""))
    await gate.serve(sock, ssl=context)
    try:
        yield sock.getsockname()[1], seen
    finally:
        await gate.drain(0)


async def ask(port: int, context: ssl.SSLContext | None) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname="localhost" if context else None
        )
        writer.write(REQUEST)
        try:
            return await reader.read()
        finally:
            writer.close()


def client(authority: Authority, pair: Pair | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.path)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if pair is not None:
        context.load_cert_chain(pair.cert, pair.key)
    return context


async def test_in_clear_there_is_no_certificate() -> None:
    """Only an address and a port."""
    async with serving(None) as (port, seen):
        await ask(port, None)
    assert (seen[0].address, seen[0].tls, seen[0].certificate) == ("127.0.0.1", False, None)
    assert seen[0].local == f"127.0.0.1:{port}"


@pytest.mark.parametrize("required", [False, True])
async def test_a_verified_certificate_is_told(authority: Authority, server: Pair, required: bool) -> None:
    """All of its names with their kinds, and its end; not its subject."""
    context = server_context(server.cert, server.key, client_ca=authority.path, required=required)
    names = ("dns:bot.example.com", "uri:spiffe://example.com/bot", "email:ops@example.com", "ip:192.0.2.1")
    pair = authority.issue("bot", *names, common_name="root", until=UNTIL)
    async with serving(context) as (port, seen):
        assert (await ask(port, client(authority, pair))).startswith(b"HTTP/1.1 200")
    said = (
        ("DNS", "bot.example.com"),
        ("URI", "spiffe://example.com/bot"),
        ("email", "ops@example.com"),
        ("IP Address", "192.0.2.1"),
    )
    assert seen[0].tls
    assert seen[0].certificate == Certificate(said, UNTIL.timestamp(), context.authorities)


async def test_where_a_certificate_is_optional_others_connect(authority: Authority, server: Pair) -> None:
    """They are nobody in particular; so is who has a certificate without alternative names."""
    context = server_context(server.cert, server.key, client_ca=authority.path, required=False)
    nameless = authority.issue("nameless", common_name="bot.example.com", until=UNTIL)
    async with serving(context) as (port, seen):
        await ask(port, client(authority, None))
        await ask(port, client(authority, nameless))
    assert [peer.certificate for peer in seen] == [
        None,
        Certificate((), UNTIL.timestamp(), context.authorities),
    ]


async def answered(port: int, context: ssl.SSLContext) -> bool:
    """Tell whether a request over such a connection is answered."""
    try:
        return bool(await ask(port, context))
    except (ssl.SSLError, OSError):
        return False


async def refused(context: ssl.SSLContext, client_context: ssl.SSLContext) -> bool:
    """Tell whether nothing was answered, and no request seen."""
    async with serving(context) as (port, seen):
        return not await answered(port, client_context) and not seen


async def test_who_cannot_be_verified_is_not_connected(
    authority: Authority, server: Pair, tmp_path: Path
) -> None:
    """Without a certificate where one is required; with one of another authority, past its end, or for servers only, never."""
    from cryptography.x509.oid import ExtendedKeyUsageOID

    stranger = make_authority(tmp_path, "stranger").issue("bot", "dns:bot.example.com")
    past = authority.issue("past", "dns:bot.example.com", until=datetime.now(UTC) - timedelta(hours=1))
    for_servers = authority.issue(
        "for-servers", "dns:bot.example.com", usage=[ExtendedKeyUsageOID.SERVER_AUTH]
    )
    for required in (False, True):
        context = server_context(server.cert, server.key, client_ca=authority.path, required=required)
        for pair in (stranger, past, for_servers):
            assert await refused(context, client(authority, pair)), pair.cert
    assert await refused(context, client(authority, None))


async def test_older_tls_is_not_spoken_with_certificates(authority: Authority, server: Pair) -> None:
    """It shows them to the network, and a session could be resumed with one."""
    context = server_context(server.cert, server.key, client_ca=authority.path)
    older = client(authority, authority.issue("older", "dns:bot.example.com"))
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    assert await refused(context, older)
    assert context.num_tickets == 0


async def test_renewed_authorities_count_for_new_connections(
    authority: Authority, server: Pair, tmp_path: Path
) -> None:
    """Whoever is from the old ones is verified no more, and is not let in by what a session remembers; each tells whom it was trusted by."""
    other = make_authority(tmp_path, "other")
    pairs = [one.issue("bot", "dns:bot.example.com") for one in (authority, other)]
    serving_with = server_context(server.cert, server.key, client_ca=authority.path)
    async with serving(serving_with) as (port, seen):
        assert await answered(port, client(authority, pairs[0]))
        renew(serving_with, server_context(server.cert, server.key, client_ca=other.path))
        assert await answered(port, client(authority, pairs[1]))
        assert not await answered(port, client(authority, pairs[0]))
    told = [peer.certificate.authorities for peer in seen if peer.certificate is not None]
    assert [len(each) for each in told] == [1, 1]
    assert told[0] != told[1]


def test_authorities_are_told_one_by_one(authority: Authority, server: Pair, tmp_path: Path) -> None:
    """A file with one more has the old ones still, whatever stands around them; a listener that asks for none has none."""
    both = tmp_path / "both.pem"
    other = Path(make_authority(tmp_path, "other").path).read_text()
    both.write_text(f"# two of them\n{other}\n{Path(authority.path).read_text()}")
    one, two = (
        server_context(server.cert, server.key, client_ca=path) for path in (authority.path, str(both))
    )
    assert one.authorities < two.authorities
    assert server_context(server.cert, server.key).authorities == frozenset()
