"""Connections lead to judged addresses only."""

import asyncio
from ipaddress import ip_address

import pytest

from herma.egress import loop as module
from herma.egress.loop import JudgedLoop, NotJudgedError


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
