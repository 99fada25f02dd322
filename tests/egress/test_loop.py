"""Connections lead to judged addresses only."""

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from herma.egress import loop as module
from herma.egress.loop import JudgedLoop, NotJudgedError
from support.egress_process import child, neighbour, ready, through
from support.network import named, own_network, public


@pytest.mark.parametrize("host", ["name.example", "127.0.0.2"])
def test_who_was_not_judged_is_not_connected_to(host: str) -> None:
    """Not even loopback."""
    with asyncio.Runner(loop_factory=JudgedLoop) as runner, pytest.raises(NotJudgedError):
        runner.run(_resolved(runner, host))


async def _resolved(runner: asyncio.Runner, host: str) -> object:
    return await runner.get_loop().getaddrinfo(host, 443)


def test_judged_addresses_are_what_a_connection_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the name would resolve to now; the oldest are forgotten."""
    monkeypatch.setattr(module, "MAX_PINS", 1)
    with asyncio.Runner(loop_factory=JudgedLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, JudgedLoop)
        loop.pin("name.example", 443, (ip_address("192.0.2.1"), ip_address("2001:db8::1")))
        found = runner.run(_resolved(runner, "name.example"))
        assert isinstance(found, list)
        assert [entry[4][:2] for entry in found] == [("192.0.2.1", 443), ("2001:db8::1", 443)]
        loop.pin("other.example", 443, (ip_address("192.0.2.2"),))
        with pytest.raises(NotJudgedError):
            runner.run(_resolved(runner, "name.example"))


def test_a_name_is_resolved_to_its_addresses() -> None:
    """One that has none is an error."""
    with asyncio.Runner(loop_factory=JudgedLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, JudgedLoop)
        assert ip_address("127.0.0.1") in runner.run(loop.resolve("127.0.0.1", 80))
        with pytest.raises(OSError, match=r".+"):
            runner.run(loop.resolve("no-such-name.invalid", 80))


@contextmanager
def name_server(answers: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Answer each question for addresses with the next of the answers, the last again and again; give what was answered."""
    given: list[str] = []

    def serve(sock: socket.socket) -> None:
        while True:
            asked, whom = sock.recvfrom(512)
            if not asked:
                return
            question = asked[12 : asked.index(b"\0", 12) + 5]
            addresses: Sequence[str] = ()
            if question[-4:] == b"\0\1\0\1":
                addresses = answers[min(len(given), len(answers) - 1)]
                given.append(" ".join(addresses))
            head = asked[:2] + struct.pack(">HHHHH", 0x8180, 1, len(addresses), 0, 0)
            records = (
                b"\xc0\x0c\0\1\0\1" + struct.pack(">IH", 0, 4) + ip_address(address).packed
                for address in addresses
            )
            sock.sendto(head + question + b"".join(records), whom)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 53))
        thread = threading.Thread(target=serve, args=(sock,), daemon=True)
        thread.start()
        yield given
        sock.sendto(b"", sock.getsockname())
        thread.join()


def test_a_name_that_changes_leads_to_the_judged_address_only(tmp_path: Path) -> None:
    """DNS rebinding: the next answer is the machine itself, or the metadata service beside the right one; nobody is asked twice."""
    answers = [[public(66)], ["127.0.0.1"], [public(66), "169.254.169.254"], ["127.0.0.1", public(66)]]
    with (
        own_network(),
        name_server(answers) as given,
        neighbour(address=(public(66), 80)) as far,
        neighbour(address=("127.0.0.1", 80)) as near,
        child(tmp_path, {}, launcher=named(tmp_path, {})) as started,
    ):
        ready(started)
        assert through(started, "http://rebound.example/first", b"hello") == (200, {})
        codes = [through(started, "http://rebound.example/later", b"hello")[1].get("code") for _ in range(3)]
    assert codes == ["herma.egress.private", "herma.egress.metadata", "herma.egress.private"]
    assert given == [" ".join(answer) for answer in answers]
    assert far.seen == [("/first", b"hello")]
    assert near.seen == []
