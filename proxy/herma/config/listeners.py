"""Judges the listeners: the start-up law, addresses that collide, certificates that do not load."""

import ipaddress
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from herma.config.files import Files
from herma.config.listen import PRIVATE_MODE, Resolver, judge
from herma.config.reader import Reader
from herma.config.settings import Admin, Listener, Settings, Tls
from herma.config.values import Address, Tcp, Unix
from herma.errors import Source
from herma.yamlfile import Path

__all__ = ["Listeners"]

_WILDCARDS = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True, slots=True)
class _Opened:
    """An address that is going to be bound, and where it is configured."""

    address: Address
    binds: tuple[str, ...]
    at: Source


class Listeners:
    """Applies the law to each listener as it is read, and to all of them at the end."""

    def __init__(self, resolver: Resolver, files: Files) -> None:
        self._resolver = resolver
        self._files = files
        self._public: list[tuple[Address, Source, str]] = []
        self._opened: list[_Opened] = []

    def finish_listener(self, reader: Reader, made: Listener, path: Path, raw: Mapping[str, Any]) -> Listener:
        """Give a listener its verdict; a public one should have TLS and names."""
        at = reader.at((*path, "address"))
        if "mode" in raw and isinstance(made.address, Tcp):
            reader.problem(
                reader.at((*path, "mode")), "listen.mode", "only a Unix socket has a mode; remove it"
            )
        verdict = judge(made.address, made.mode, self._resolver)
        self._opened.append(_Opened(made.address, verdict.binds, at))
        if verdict.public:
            self._public.append((made.address, at, verdict.reason))
            self._warn_public(reader, made, at, resolved=bool(verdict.binds))
        return replace(made, binds=verdict.binds, public=verdict.public)

    @staticmethod
    def _warn_public(reader: Reader, made: Listener, at: Source, *, resolved: bool) -> None:
        if isinstance(made.address, Unix):
            return
        if not resolved:
            reader.warn(
                at,
                "listen.unresolved",
                "the name does not resolve, so it cannot be listened on; name an address",
            )
        if made.tls is None:
            reader.warn(
                at,
                "listen.cleartext",
                "a public listener without TLS shows keys to the network; add tls, or end TLS in front of it",
            )

    def finish_tls(self, reader: Reader, made: Tls, path: Path, raw: Mapping[str, Any]) -> Tls:
        """Load the certificate once, so that a wrong one is told before a port opens."""
        certificate = self._files.resolve(made.cert_file)
        key = self._files.resolve(made.key_file)
        if self._files.check and self._files.private(reader, (*path, "key_file"), key):
            try:
                # An empty password: an encrypted key must not ask on a terminal that nobody watches.
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
            except (OSError, ValueError):
                message = "certificate and key cannot be loaded; expected PEM files, a key without password that fits the certificate"
                reader.problem(reader.at((*path, "cert_file")), "listen.tls", message)
        if made.client_ca_file is None:
            if "client_auth" in raw:
                message = "found no authorities that callers' certificates are from; add client_ca_file"
                reader.problem(reader.at((*path, "client_auth")), "listen.client_auth", message)
            return replace(made, cert_file=certificate, key_file=key)
        authorities = self._files.resolve(made.client_ca_file)
        self._files.authorities(reader, (*path, "client_ca_file"), authorities)
        return replace(made, cert_file=certificate, key_file=key, client_ca_file=authorities)

    def finish_admin(self, reader: Reader, made: Admin, path: Path, _raw: Mapping[str, Any]) -> Admin:
        """Keep the admin listener on loopback: it knows no keys."""
        return replace(made, binds=self.private(reader, made.address, (*path, "address"), "admin.public"))

    def private(self, reader: Reader, address: Address, path: Path, code: str) -> tuple[str, ...]:
        """Return the addresses to bind of what only this machine may reach; anything else is a problem."""
        at = reader.at(path)
        verdict = judge(address, PRIVATE_MODE, self._resolver)
        if verdict.public:
            message = f"found an address that is not loopback ({verdict.reason}), expected 127.0.0.1, [::1] or unix:/path"
            reader.problem(at, code, message)
        self._opened.append(_Opened(address, verdict.binds, at))
        return verdict.binds

    def finish_all(self, reader: Reader, settings: Settings | None, *, keys_given: bool) -> None:
        """Apply the law: a public listener needs a key; and no address is used twice."""
        if not keys_given:
            for address, at, reason in self._public:
                message = f"found {address} and no key: {reason}; add a key to auth.keys (`herma key new`) or listen on 127.0.0.1"
                reader.problem(at, "listen.unauthenticated", message)
        if settings is None:
            return
        asked = any(one.tls is not None and one.tls.client_ca_file is not None for one in settings.listen)
        if settings.auth.certificates and not asked:
            message = "no listener asks for certificates; add tls.client_ca_file to one"
            reader.problem(reader.at(("auth", "certificates")), "auth.certificates.unasked", message)
        opened = self._all(reader, settings)
        for first, second in self._collisions(opened):
            reader.problem(
                second.at, "listen.duplicate", f"the address is taken by the one at {first.at}; change one"
            )
        upstreams = [upstream.url.address for upstream in settings.all_upstreams().values()]
        for one in opened:
            if any(_is_loop(one, upstream) for upstream in upstreams):
                message = (
                    "found the upstream's own address, so that the gate would call itself; change the port"
                )
                reader.problem(one.at, "listen.upstream", message)

    def _all(self, reader: Reader, settings: Settings) -> list[_Opened]:
        """Return what is opened: what was read, and the defaults of what was not."""
        root = reader.at(())
        admin = settings.admin
        everything = [(one.address, one.binds) for one in settings.listen] + [(admin.address, admin.binds)]
        if settings.egress is not None:
            everything.append((settings.egress.address, settings.egress.binds))
        read = {id(one.address) for one in self._opened}
        return self._opened + [
            _Opened(address, binds, root) for address, binds in everything if id(address) not in read
        ]

    @staticmethod
    def _collisions(opened: list[_Opened]) -> Iterator[tuple[_Opened, _Opened]]:
        for index, second in enumerate(opened):
            for first in opened[:index]:
                if _same(first, second):
                    yield first, second
                    break


def _hosts(address: Address) -> tuple[str, ...]:
    if isinstance(address, Unix):
        return ()
    return ("127.0.0.1", "::1") if address.host == "localhost" else (address.host,)


def _is_loop(listener: _Opened, upstream: Address) -> bool:
    """Tell whether the listener takes the upstream's own address.

    A wildcard takes the loopback addresses; that another host has the same port is no loop.
    """
    if not isinstance(listener.address, Tcp) or not isinstance(upstream, Tcp):
        return listener.address == upstream
    return listener.address.port == upstream.port and any(
        bind == host or (bind in _WILDCARDS and (":" in bind) == (":" in host) and _is_own(host))
        for bind in listener.binds
        for host in _hosts(upstream)
    )


def _is_own(host: str) -> bool:
    """Tell whether an upstream host is surely this host: a loopback address, or a wildcard."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _same(first: _Opened, second: _Opened) -> bool:
    if isinstance(first.address, Tcp) and isinstance(second.address, Tcp):
        return first.address.port == second.address.port and any(
            a == b or (_WILDCARDS & {a, b} and (":" in a) == (":" in b))
            for a in first.binds
            for b in second.binds
        )
    return first.address == second.address
