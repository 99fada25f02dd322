"""Which names lead to an upstream at each listener, worked out from the configuration."""

from collections.abc import Iterable, Iterator

from herma.config.settings import Listener, Settings
from herma.config.upstream import DEFAULT_UPSTREAM
from herma.config.values import PublicName, Tcp
from herma.policy.message.host import HostPolicy

__all__ = ["hosts_of"]


def hosts_of(settings: Settings, upstream: str) -> tuple[HostPolicy | None, ...]:
    """Return the names that lead to the upstream at each listener, None where none does."""
    return tuple(_hosts(settings, listener, upstream) for listener in settings.listen)


def _hosts(settings: Settings, listener: Listener, upstream: str) -> HostPolicy | None:
    port = listener.address.port if isinstance(listener.address, Tcp) else None
    names = set(_names(settings.all_upstreams()[upstream].public_names, port))
    if upstream != (listener.upstream or DEFAULT_UPSTREAM):
        # Beside the listener's own upstream, others are reached by their names alone.
        reached = listener.upstream is None and names
        return HostPolicy(frozenset(names), loopback=False, port=port) if reached else None
    names.update(_names(listener.public_names, port))
    if isinstance(listener.address, Tcp) and listener.public and names:
        names |= {(bind, port) for bind in listener.binds}
    return HostPolicy(frozenset(names), loopback=not listener.public, port=port)


def _names(public: Iterable[PublicName], port: int | None) -> Iterator[tuple[str, int | None]]:
    for name in public:
        # A name without a port stands for the default ports and for the listener's own.
        yield from [(name.host, name.port)] if name.port else [(name.host, None), (name.host, port)]
