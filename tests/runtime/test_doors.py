"""The names that lead to an upstream at each listener."""

import pytest

from herma.runtime.doors import hosts_of
from support.config_text import parsed
from support.heads import make_head

TEXT = """
upstreams: {board: {url: 'http://127.0.0.1:9119', public_names: [board.example.com, 'b.example.com:9443']}}
listen:
  - {address: '0.0.0.0:8643', public_names: [agent.example.com]}
  - {address: '127.0.0.1:8650', upstream: board}
"""
SETTINGS = parsed(TEXT)


@pytest.mark.parametrize(
    ("upstream", "listener", "host", "port", "allowed"),
    [
        ("default", 0, "agent.example.com", None, True),
        ("default", 0, "agent.example.com", 8643, True),
        ("default", 0, "0.0.0.0", 8643, True),
        ("default", 0, "board.example.com", None, False),
        ("default", 0, "localhost", 8643, False),
        ("board", 0, "board.example.com", 443, True),
        ("board", 0, "board.example.com", 8643, True),
        ("board", 0, "b.example.com", 9443, True),
        ("board", 0, "b.example.com", 443, False),
        ("board", 0, "agent.example.com", None, False),
        ("board", 0, "0.0.0.0", 8643, False),
        ("board", 0, "192.0.2.1", 8643, False),
        ("board", 1, "localhost", 8650, True),
        ("board", 1, "board.example.com", None, True),
        ("board", 1, "agent.example.com", None, False),
    ],
)
def test_a_name_leads_to_one_upstream(
    upstream: str, listener: int, host: str, port: int | None, allowed: bool
) -> None:
    """At an open listener by name; at one that names an upstream everything that it answers to."""
    hosts = hosts_of(SETTINGS, upstream)[listener]
    assert hosts is not None
    assert hosts.allows(host, port) is allowed
    origin = f"https://{host}" + (f":{port}" if port not in {None, 443} else "")
    assert hosts.own_origin(origin, make_head()) is allowed


def test_a_listener_of_one_upstream_leads_nowhere_else() -> None:
    """Not by any name."""
    assert hosts_of(SETTINGS, "default")[1] is None


def test_an_upstream_without_names_is_reached_by_its_listener_only() -> None:
    """An open listener would have to guess."""
    text = "upstreams: {board: {url: 'http://127.0.0.1:9119'}}\nlisten: [{address: '127.0.0.1:8643'}, {address: '127.0.0.1:8650', upstream: board}]\n"
    assert [hosts is None for hosts in hosts_of(parsed(text), "board")] == [True, False]
