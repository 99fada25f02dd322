"""Opening the listening sockets: all or none, each as configured."""

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from herma.config.settings import Admin, Listener, Settings
from herma.config.upstream import Upstream
from herma.config.values import Address, FileMode, Tcp, Unix, UpstreamUrl
from herma.runtime.sockets import Bound, StartError, bind_all
from support.gate import free_port


def _settings(*addresses: Address, mode: int = 0o600, admin: Address | None = None) -> Settings:
    def binds(address: Address) -> tuple[str, ...]:
        return (address.host,) if isinstance(address, Tcp) else ()

    admin = admin or Tcp("127.0.0.1", free_port())
    return Settings(
        upstream=Upstream(url=UpstreamUrl(Tcp("127.0.0.1", 9))),
        listen=tuple(
            Listener(address=address, mode=FileMode(mode), binds=binds(address)) for address in addresses
        ),
        admin=Admin(address=admin, binds=binds(admin)),
    )


@contextlib.contextmanager
def _bound(settings: Settings) -> Iterator[tuple[Bound, ...]]:
    with contextlib.ExitStack() as stack:
        bound = bind_all(settings)
        for one in bound:
            stack.enter_context(one.sock)
        yield bound


def _free(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def test_every_address_is_open_in_order_and_the_admin_listener_last() -> None:
    """Each socket knows its place in the configuration; none blocks, and all take connections."""
    first, second = Tcp("127.0.0.1", free_port()), Tcp("::1", free_port("::1"))
    with _bound(_settings(first, second)) as bound:
        assert [one.listener for one in bound] == [0, 1, -1]
        for one, address in zip(bound, (first, second), strict=False):
            assert one.sock.getblocking() is False
            assert one.sock.getsockname()[:2] == (address.host, address.port)
            socket.create_connection((address.host, address.port)).close()


def test_what_was_judged_is_bound_and_no_name_is_resolved_again() -> None:
    """A name that would resolve elsewhere by now is bound where it was judged."""
    port = free_port()
    listener = Listener(address=Tcp("name.invalid", port), binds=("127.0.0.1", "127.0.0.2"))
    settings = Settings(
        upstream=Upstream(url=UpstreamUrl(Tcp("127.0.0.1", 9))),
        listen=(listener,),
        admin=Admin(address=Tcp("127.0.0.1", free_port())),
    )
    with _bound(settings) as bound:
        names = [one.sock.getsockname() for one in bound if one.listener == 0]
    assert names == [("127.0.0.1", port), ("127.0.0.2", port)]


def test_all_or_none(tmp_path: Path) -> None:
    """When the last address is taken, none of the others stays open, and the message names the one."""
    ports = [free_port(), free_port()]
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        settings = _settings(*(Tcp("127.0.0.1", port) for port in ports), admin=Tcp("127.0.0.1", taken))
        with pytest.raises(StartError) as caught:
            bind_all(settings)
    assert f"127.0.0.1:{taken}" in str(caught.value)
    assert os.strerror(errno.EADDRINUSE) in str(caught.value)
    assert all(_free(port) for port in ports)


def test_an_address_that_this_machine_does_not_have_is_named() -> None:
    """The message tells which line of the configuration is wrong."""
    with pytest.raises(StartError, match=r"\[2001:db8::7\]:8643|2001:db8::7"):
        bind_all(_settings(Tcp("2001:db8::7", 8643)))


def test_a_path_that_is_too_long_is_named(tmp_path: Path) -> None:
    """What fails without an error number is a bind error like any other."""
    path = tmp_path / ("x" * 200)
    with pytest.raises(StartError, match="cannot be bound") as caught:
        bind_all(_settings(Unix(str(path))))
    assert str(path) in str(caught.value)


def test_nobody_else_can_listen_beside_it() -> None:
    """Another program cannot take a share of the connections."""
    port = free_port()
    with _bound(_settings(Tcp("127.0.0.1", port))), socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))


def test_an_ipv6_wildcard_is_no_ipv4_wildcard() -> None:
    """`::` was judged as an IPv6 address, so no IPv4 caller is served by it."""
    port = free_port("::")
    with _bound(_settings(Tcp("::", port))) as bound:
        assert bound[0].sock.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == 1
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        socket.create_connection(("::1", port)).close()


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o666])
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_unix_socket_has_exactly_the_configured_mode(tmp_path: Path, mode: int, umask: int) -> None:
    """The process's umask neither widens nor narrows it, and is afterwards what it was."""
    path = tmp_path / "gate.sock"
    before = os.umask(umask)
    try:
        with _bound(_settings(Unix(str(path)), mode=mode)):
            assert stat.S_IMODE(path.stat().st_mode) == mode
        assert os.umask(umask) == umask
    finally:
        os.umask(before)


def test_the_admin_socket_is_private(tmp_path: Path) -> None:
    """Whatever the modes of the others, only its owner reaches the admin listener."""
    path = tmp_path / "admin.sock"
    with _bound(_settings(Unix(str(tmp_path / "gate.sock")), mode=0o666, admin=Unix(str(path)))):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_socket_that_nobody_serves_is_replaced(tmp_path: Path) -> None:
    """A gate that was killed does not keep its successor from starting."""
    path = tmp_path / "gate.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with _bound(_settings(Unix(str(path)))), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))


@pytest.mark.parametrize("queue", ["empty", "full"])
def test_a_socket_that_is_served_is_left_alone(tmp_path: Path, queue: str) -> None:
    """Another server's socket is never taken away, not even from one that is too busy to accept."""
    path = tmp_path / "gate.sock"
    with socket.socket(socket.AF_UNIX) as served, contextlib.ExitStack() as waiting:
        served.bind(str(path))
        served.listen(0)
        for _ in range(8 if queue == "full" else 0):
            caller = waiting.enter_context(socket.socket(socket.AF_UNIX))
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect(str(path))
        inode = path.stat().st_ino
        with pytest.raises(StartError, match=f"unix:{path}"):
            bind_all(_settings(Unix(str(path))))
        assert path.stat().st_ino == inode


def test_a_plain_file_is_never_removed(tmp_path: Path) -> None:
    """A path that holds somebody's file is an error, and the file stays."""
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(StartError, match="in use"):
        bind_all(_settings(Unix(str(path))))
    assert path.read_text() == "precious"


def test_a_link_to_a_stale_socket_is_left_alone(tmp_path: Path) -> None:
    """What the path itself is decides, not what it points to."""
    real, link = tmp_path / "real.sock", tmp_path / "link.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(real))
    link.symlink_to(real)
    with pytest.raises(StartError):
        bind_all(_settings(Unix(str(link))))
    assert real.is_socket()
    assert link.is_symlink()


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A unix socket in a missing directory is an error with its path."""
    path = tmp_path / "none" / "gate.sock"
    with pytest.raises(StartError, match=f"unix:{path}"):
        bind_all(_settings(Unix(str(path))))
