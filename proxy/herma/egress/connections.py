"""The hooks about connections: who connects, what is spoken, what a handshake says, and which address is connected to."""

from base64 import b64encode
from typing import Final

from mitmproxy.connection import Client
from mitmproxy.dns import DNSFlow
from mitmproxy.flow import Flow
from mitmproxy.http import HTTPFlow
from mitmproxy.proxy.layer import NextLayer
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.tcp import TCPFlow
from mitmproxy.tls import ClientHelloData
from mitmproxy.udp import UDPFlow

from herma.egress.asking import Asking, place_of
from herma.egress.deadlines import HEAD_S, TUNNEL_S, Deadlines
from herma.egress.fail_closed import fail_closed
from herma.egress.layers import HEAD, Closed, next_layer
from herma.egress.loop import JudgedLoop
from herma.egress.refusal import reason_of
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination
from herma.policy.secret import Secret

__all__ = ["Connections"]

_REFUSED: Final = "refused by the egress gate"
_UNRESOLVED: Final = "the name does not resolve"


class Connections:
    """One addon of mitmproxy. `proxy` is the next proxy's host and port, which the operator vouches for; `login` is told to it alone."""

    def __init__(
        self,
        asking: Asking,
        loop: JudgedLoop,
        deadlines: Deadlines,
        max_connections: int,
        proxy: tuple[str, int] | None = None,
        login: Secret | None = None,
    ) -> None:
        self._asking = asking
        self._loop = loop
        self._deadlines = deadlines
        self._max = max_connections
        self._proxy = proxy
        self._login = login
        self._open: set[str] = set()
        self._shut: set[str] = set()
        self._unread: set[str] = set()
        self._denied: dict[str, Deny] = {}

    def __len__(self) -> int:
        """Count the connections of the agent."""
        return len(self._open)

    def is_shut(self, client: Client) -> bool:
        """Tell whether nothing may be sent on a connection any more: its handshake was refused."""
        return client.id in self._shut

    def tunnelled(self, client: Client) -> None:
        """A tunnel stands: what is sent through it is to come soon."""
        self._deadlines.begin(client.id, HEAD, TUNNEL_S)

    def begun(self, client: Client) -> None:
        """What was waited for has come."""
        self._deadlines.end(client.id, HEAD)

    async def reachable(self, place: Destination) -> Allow | Deny:
        """Judge the addresses of what the next proxy is to connect to: it will not ask.

        A name that this machine cannot resolve is judged by itself: behind such proxies only they can.
        """
        if self._proxy is None:
            return Allow()
        try:
            addresses = (
                (place.address,) if place.address else await self._loop.resolve(place.name, place.port)
            )
        except OSError:
            return Allow()
        return self._asking.resolved(place, addresses)

    def denial(self, client: Client, deny: Deny) -> Deny:
        """Give what a connection was refused for: its words alone come back from mitmproxy."""
        denied = self._denied.get(client.id, deny)
        return denied if denied.code == deny.code else deny

    def introduce(self, flow: HTTPFlow) -> None:
        """Tell the next proxy who asks, in a request that is for it to pass on; one in a tunnel is the destination's."""
        if flow.request.scheme == "http" and flow.server_conn.address is None:
            self._log_in(flow)

    def _log_in(self, flow: HTTPFlow) -> None:
        if self._login is not None:
            told = b64encode(self._login.reveal()).decode()
            flow.request.headers["proxy-authorization"] = f"Basic {told}"

    def failed(self, hook: str, error: Exception) -> None:
        """Tell which hook failed."""
        self._asking.failed(hook, error)

    def _drop(self, client: Client) -> None:
        client.error = _REFUSED

    def _shut_client(self, data: ClientHelloData) -> None:
        data.ignore_connection = False
        self._shut.add(data.context.client.id)

    def _disconnect(self, data: ServerConnectionHookData) -> None:
        data.server.error = _REFUSED

    def _say_nothing(self, asked: NextLayer) -> None:
        asked.layer = Closed(asked.context)

    def _end(self, flow: Flow) -> None:
        flow.kill()

    @fail_closed(_drop)
    def client_connected(self, client: Client) -> None:
        """Take a connection of the agent, if there is room."""
        if len(self._open) >= self._max:
            client.error = "too many connections"
        else:
            self._open.add(client.id)
            self._deadlines.begin(client.id, HEAD, HEAD_S)

    @fail_closed(_drop)
    def client_disconnected(self, client: Client) -> None:
        """Let a connection go."""
        self._open.discard(client.id)
        self._shut.discard(client.id)
        self._unread.discard(client.id)
        self._denied.pop(client.id, None)
        self._deadlines.forget(client.id)

    @fail_closed(_say_nothing)
    def next_layer(self, asked: NextLayer) -> None:
        """Say what is spoken on a connection."""
        asked.layer = next_layer(asked, self._deadlines, self.failed)

    @fail_closed(_shut_client)
    def tls_clienthello(self, data: ClientHelloData) -> None:
        """Judge the name in a handshake; let through unread what goes to models and to programs that trust no other authority."""
        address = data.context.server.address
        place = None if address is None else place_of(address[0], address[1])
        if place is None:
            self._shut_client(data)
            return
        sni = data.client_hello.sni
        decision = self._asking.agreeing(place, f"{sni}:{place.port}") if sni else None
        if isinstance(decision, Deny):
            sending = self._asking.begin(place, "TLS")
            self._asking.refuse(sending, decision)
            self._asking.end(sending)
            self._shut_client(data)
            return
        data.ignore_connection = self._asking.unread(place)
        if data.ignore_connection:
            self._unread.add(data.context.client.id)
            self.begun(data.context.client)

    @fail_closed(_disconnect)
    async def server_connect(self, data: ServerConnectionHookData) -> None:
        """Resolve a name, judge its addresses, and let the connection lead to these."""
        address = data.server.address
        if address is None:
            data.server.error = _REFUSED
            return
        host, port = address[0], address[1]
        place = place_of(host, port)
        decision = self._asking.asked(place)
        trusted = self._proxy == (host, port)
        if place is None:
            data.server.error = _REFUSED
            return
        if isinstance(decision, Deny) and not trusted:
            self._refuse(data, place, decision)
            return
        try:
            addresses = (place.address,) if place.address else await self._loop.resolve(host, port)
        except OSError:
            addresses = ()
        if not addresses:
            data.server.error = _UNRESOLVED
            return
        decision = self._asking.resolved(place, addresses)
        if isinstance(decision, Deny) and not trusted:
            self._refuse(data, place, decision)
            return
        self._loop.pin(host, port, addresses)

    def _refuse(self, data: ServerConnectionHookData, place: Destination, deny: Deny) -> None:
        """Make no connection; who waits for it writes that down, and nobody does where a tunnel is not read."""
        data.server.error = reason_of(deny)
        if data.client.id not in self._unread:
            self._denied[data.client.id] = deny
            return
        sending = self._asking.begin(place, "CONNECT")
        self._asking.refuse(sending, deny)
        self._asking.end(sending)

    @fail_closed(_end)
    def http_connect_upstream(self, flow: HTTPFlow) -> None:
        """Tell the next proxy who asks for a tunnel."""
        self._log_in(flow)

    @fail_closed(_end)
    def tcp_start(self, flow: TCPFlow) -> None:
        """End what is neither HTTP nor a tunnel that was let through."""
        flow.kill()

    @fail_closed(_end)
    def udp_start(self, flow: UDPFlow) -> None:
        """End what is no HTTP."""
        flow.kill()

    @fail_closed(_end)
    def dns_request(self, flow: DNSFlow) -> None:
        """End what is no HTTP."""
        flow.kill()
