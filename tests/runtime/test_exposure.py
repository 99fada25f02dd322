"""Which listening sockets others can reach, by the kernel's own tables."""

import ipaddress
import socket
import sys
from pathlib import Path

import pytest

from herma.runtime.exposure import listening_addresses

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
LISTEN, ESTABLISHED = "0A", "01"


def _line(address: str, port: int, state: str = LISTEN) -> str:
    packed = ipaddress.ip_address(address).packed
    words = [int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4)]
    digits = "".join(f"{word:08X}" for word in words)
    return f"   0: {digits}:{port:04X} {'0' * len(digits)}:0000 {state} 00000000:00000000 00:00000000 0 0\n"


def _table(directory: Path, *lines: str) -> tuple[Path, ...]:
    table = directory / "tcp"
    table.write_text(HEAD + "".join(lines))
    return (table,)


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
        ("0.0.0.0", True),
        ("::", True),
        ("192.0.2.7", True),
        ("10.0.0.5", True),
        ("2001:db8::7", True),
        ("fe80::1", True),
        ("::ffff:192.0.2.7", True),
    ],
)
def test_only_loopback_is_not_exposed(tmp_path: Path, address: str, exposed: bool) -> None:
    """An address that only this machine reaches is fine in every spelling; any other one is reported."""
    found = listening_addresses(8642, _table(tmp_path, _line(address, 8642)))
    assert [ipaddress.ip_address(item) for item in found] == ([ipaddress.ip_address(address)] * exposed)


def test_other_ports_and_other_states_do_not_count(tmp_path: Path) -> None:
    """A connection from outside to the port, or a listener on another port, is no door beside the gate."""
    table = _table(
        tmp_path,
        _line("0.0.0.0", 8643),
        _line("192.0.2.7", 8642, ESTABLISHED),
        "   1: cut\n",
        "\n",
    )
    assert listening_addresses(8642, table) == ()


def test_every_address_is_named_once_and_in_order(tmp_path: Path) -> None:
    """Several sockets on one address are one finding."""
    lines = [_line(address, 8642) for address in ("192.0.2.9", "0.0.0.0", "192.0.2.9")]
    assert listening_addresses(8642, _table(tmp_path, *lines)) == ("0.0.0.0", "192.0.2.9")


def test_a_system_without_tables_reports_nothing(tmp_path: Path) -> None:
    """Where the kernel does not tell, nothing is claimed."""
    assert listening_addresses(8642, (tmp_path / "none",)) == ()


def test_the_tables_of_this_kernel_are_read() -> None:
    """A wildcard listener of this very process is seen; one on loopback is not."""
    with socket.create_server(("0.0.0.0", 0)) as wide, socket.create_server(("127.0.0.1", 0)) as narrow:
        assert listening_addresses(wide.getsockname()[1]) == ("0.0.0.0",)
        assert listening_addresses(narrow.getsockname()[1]) == ()
