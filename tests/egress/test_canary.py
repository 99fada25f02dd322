"""The self-test of the start."""

import asyncio

import pytest

from herma.egress.canary import HOOKS, CanaryError, try_refusals, unmarked
from herma.egress.connections import Connections
from herma.egress.gate import Gate


class Bare:
    """Hooks of somebody who forgot the wrapper."""

    def request(self, _: object) -> None:
        """Let everything through."""


def test_hooks_without_the_wrapper_are_told_and_missing_ones() -> None:
    """Each by its name."""
    told = list(unmarked([Bare()]))
    assert "Bare.request does not shut when it fails" in told
    assert f"nobody hears {min(HOOKS)}" in told


def test_the_hooks_of_the_gate_wear_the_wrapper_and_none_is_missing() -> None:
    """They are looked at before anything is served."""
    assert list(unmarked([Connections, Gate])) == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 403 No\r\n\r\n",
        b"HTTP/1.1 403 No\r\nx-herma-egress: 1\r\n\r\n",
    ],
)
async def test_a_proxy_that_does_not_refuse_in_our_words_fails(answer: bytes) -> None:
    """Whatever else it says."""

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(answering, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        with pytest.raises(CanaryError):
            await try_refusals(host, port, "canary.invalid")
