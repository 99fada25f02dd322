"""mitmproxy with the gate's hooks, and with no more of its own parts than are needed to speak HTTP and TLS."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from typing import Final, override

from mitmproxy.addons.core import Core
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.addons.tlsconfig import TlsConfig
from mitmproxy.master import Master
from mitmproxy.options import Options

from herma.config.egress import Beyond, Egress
from herma.config.values import Tcp
from herma.egress.asking import Asking
from herma.egress.authority import Authority
from herma.egress.canary import CanaryError, unmarked
from herma.egress.connections import Connections
from herma.egress.deadlines import Deadlines
from herma.egress.gate import Gate
from herma.egress.held import Held
from herma.egress.layers import BODY_SIZE_LIMIT
from herma.egress.loop import JudgedLoop
from herma.egress.recording import Recording
from herma.egress.trailers import leave_out

__all__ = ["Proxy", "quiet_log"]

# Nothing comes from either side: longer than the longest wait for a model that thinks.
IDLE_S: Final = 1860


class _Opened:
    """Tells when all listeners are open, or cannot be."""

    def __init__(self) -> None:
        self.now = asyncio.Event()

    def running(self) -> None:
        self.now.set()


class Proxy:
    """One listening proxy; make it in the loop that runs it."""

    def __init__(
        self,
        egress: Egress,
        authority: Authority,
        asking: Asking,
        loop: JudgedLoop,
        recording: Recording | None = None,
    ) -> None:
        self._opened = _Opened()
        self._server = Proxyserver()
        self.deadlines = Deadlines()
        self.held = Held(egress.max_body_bytes, egress.max_buffered_bytes)
        further = egress.upstream_proxy.address if egress.upstream_proxy else None
        address = (further.host, further.port) if isinstance(further, Tcp) else None
        self.connections = Connections(
            asking, loop, self.deadlines, egress.max_connections, address, egress.upstream_proxy_login
        )
        gate = Gate(
            asking,
            self.connections,
            self.deadlines,
            self.held,
            pass_beyond=egress.beyond is Beyond.PASS,
            recording=recording,
        )
        if wrong := "; ".join(unmarked((self.connections, gate))):
            raise CanaryError(wrong)
        leave_out()
        # Where it signs is known before it is loaded: mitmproxy would make an authority in the home directory.
        options = Options(
            confdir=str(authority.directory), ssl_verify_upstream_trusted_ca=str(authority.roots)
        )
        self._master = Master(options, event_loop=loop)
        self._master.addons.add(Core(), self._server, TlsConfig(), self.connections, gate, self._opened)
        options.update(
            mode=_modes(egress),
            connection_strategy="lazy",
            body_size_limit=BODY_SIZE_LIMIT,
            ssl_insecure=False,
            upstream_cert=False,
            validate_inbound_headers=True,
            rawtcp=False,
            http3=False,
            tcp_timeout=IDLE_S,
        )

    async def run(self) -> None:
        """Serve until told to stop."""
        await self._master.run()

    async def opened(self) -> Sequence[tuple[str, int]]:
        """Wait until it listens, and say where.

        Raises:
            OSError: it cannot.
        """
        await self._opened.now.wait()
        found = [(str(address[0]), int(address[1])) for address in self._server.listen_addrs()]
        if not found or not all(server.is_running for server in self._server.servers):
            reason = next((server.last_exception for server in self._server.servers), None)
            raise OSError(f"the address cannot be listened on: {reason}")
        return found

    def stop(self) -> None:
        """Stop serving."""
        self._master.shutdown()

    def close(self, client: str) -> None:
        """End a connection of the agent, by its id."""
        handler = self._server.connections.get(client)
        transport = handler.transports.get(handler.client) if handler is not None else None
        if transport is not None and transport.handler is not None:
            transport.handler.cancel("too slow")


def _modes(egress: Egress) -> list[str]:
    mode = f"upstream:{egress.upstream_proxy}" if egress.upstream_proxy else "regular"
    port = egress.address.port if isinstance(egress.address, Tcp) else 0
    return [f"{mode}@{host}:{port}" for host in egress.binds]


class _Plain(logging.Formatter):
    """Says where something was logged and what kind of error it was: the text may repeat what was sent."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        return f"{record.levelname} {record.name}:{record.lineno} {kind}".rstrip()


def quiet_log() -> None:
    """Let mitmproxy's log tell no texts."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain())
    handler.setLevel(logging.ERROR)
    logging.getLogger().handlers[:] = [handler]
    logging.captureWarnings(capture=True)
