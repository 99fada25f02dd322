"""Opens the listening sockets, all or none, after everything else was found to be right."""

import contextlib
import os
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from herma.config.settings import Settings
from herma.config.values import Address, Tcp, Unix
from herma.errors import HermaError

__all__ = ["Bound", "StartError", "bind_all"]

BACKLOG = 1024


class StartError(HermaError):
    """The gate cannot start; the message says what is missing or taken, and what to do."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A listening socket; `listener` is its place in the configuration, -1 for the admin listener."""

    listener: int
    sock: socket.socket


def bind_all(settings: Settings) -> tuple[Bound, ...]:
    """Bind and listen on every configured address.

    A configured name was resolved and judged when the configuration was read; the addresses that were judged are the
    ones that are bound.

    Raises:
        StartError: one of them cannot be bound; none is left open.
    """
    with contextlib.ExitStack() as opened:
        bound = [
            Bound(index, opened.enter_context(_listen(address, mode)))
            for index, listener in enumerate(settings.listen)
            for address, mode in _addresses(listener.address, listener.binds, listener.mode)
        ]
        bound += [
            Bound(-1, opened.enter_context(_listen(address, mode)))
            for address, mode in _addresses(settings.admin.address, settings.admin.binds, 0o600)
        ]
        opened.pop_all()
        return tuple(bound)


def _addresses(address: Address, binds: Sequence[str], mode: int) -> list[tuple[Address, int]]:
    match address:
        case Unix():
            return [(address, mode)]
        case Tcp(port=port):
            return [(Tcp(host, port), mode) for host in binds]
        case _:
            assert_never(address)


def _listen(address: Address, mode: int) -> socket.socket:
    try:
        return _unix(address.path, mode) if isinstance(address, Unix) else _tcp(address)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "it cannot be bound"
        raise StartError(
            f"cannot listen on {address}: {reason}; stop what uses it or name another address"
        ) from None


def _tcp(address: Tcp) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without SO_REUSEPORT nobody else can bind the same port beside us; workers inherit this one socket.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # `::` must not silently serve IPv4 as well: the start-up law judged the IPv6 address.
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address.host, address.port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _unix(path: str, mode: int) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        # The mode is set by the umask at the moment of binding: a chmod afterwards would leave a window.
        previous = os.umask(0o777 & ~mode)
        try:
            sock.bind(path)
        finally:
            os.umask(previous)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _remove_stale(path: str) -> None:
    """Remove the socket that an earlier process left behind; never a file, and never one that is being served."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        # A server whose queue is full must not make this start wait.
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
