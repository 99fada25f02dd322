"""Claims about `herma.policy.entry.certificate`."""

from typing import Any

import pytest

from herma.policy.entry.certificate import certificate_effects, is_unchecked, unchecked_settings

FOREIGN = "https://mcp.example.com/mcp"

SERVERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "no check": ({"url": FOREIGN, "ssl_verify": False}, {"url:unchecked"}),
    "no check in words": ({"url": FOREIGN, "sslVerify": " Off "}, {"url:unchecked"}),
    "a check that is left out": ({"url": FOREIGN, "insecure-skip-verify": 1}, {"url:unchecked"}),
    "no check further in": ({"url": FOREIGN, "tls": {"verify": False}}, {"url:unchecked"}),
    "a host that is filled in": ({"url": "${MCP_URL}", "verify": False}, {"url:unchecked"}),
    "a bare address": ({"url": "wss://198.51.100.7/", "verify": False}, {"url:unchecked:raw"}),
    "an authority where all may write": ({"url": FOREIGN, "ssl_verify": "/tmp/ca.pem"}, {"url:authority"}),
    "an authority that others sent": ({"url": FOREIGN, "tls": {"ca_file": "/root/.hermes/uploads/ca.pem"}}, {"url:authority"}),
    "an authority of the house": ({"url": FOREIGN, "ssl_verify": "/etc/ssl/certs/house.pem"}, set()),
    "a check": ({"url": FOREIGN, "ssl_verify": True, "insecure": False}, set()),
    "this host": ({"url": "https://localhost:8443/", "ssl_verify": False}, set()),
    "a neighbour": ({"url": "https://192.168.1.4/", "ssl_verify": False}, set()),
    "a list": ({"url": FOREIGN, "verify": ["false"]}, set()),
    "no address": ({"command": "server", "verify": False}, set()),
    "an empty address": ({"url": " ", "verify": False}, set()),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "effects"), SERVERS.values(), ids=SERVERS)
def test_a_server_counts_by_who_may_answer_in_its_place(fields: dict[str, Any], effects: set[str]) -> None:
    """Behind a foreign name somebody on the way, behind a bare address anybody."""
    assert set(certificate_effects(fields)) == effects


def test_what_is_not_about_connections_turns_nothing_off() -> None:
    """A member of that name may mean something else further in."""
    assert not is_unchecked({"mail": {"verify": False}})
    assert is_unchecked({"verify_certs": "none"})


SETTINGS: dict[str, tuple[tuple[str, ...], dict[str, Any], bool]] = {
    "of a server": (("mcpservers", "x"), {"sslverify": False}, True),
    "of a server, further in": (("mcpservers", "x"), {"tls": {"verify": False}}, True),
    "of a provider by another name of its address": (
        ("customproviders",),
        {"url": FOREIGN, "sslverify": False},
        True,
    ),
    "of a provider": (("customproviders",), {"baseurl": FOREIGN, "sslverify": False}, True),
    "of a provider at home": (("providers", "x"), {"baseurl": "https://localhost/", "sslverify": False}, False),
    "of a server with its address": (("mcpservers", "x"), {"url": FOREIGN, "sslverify": False}, False),
    "of a server with its command": (("mcpservers", "x"), {"command": "x", "verify": False}, False),
    "told one level above": (("mcpservers", "x", "tls"), {"verify": False}, False),
    "of something else": (("mail",), {"verify": False}, False),
    "on": (("mcpservers", "x"), {"sslverify": True}, False),
}  # fmt: skip


@pytest.mark.parametrize(("path", "members", "told"), SETTINGS.values(), ids=SETTINGS)
def test_a_check_may_be_turned_off_by_itself(
    path: tuple[str, ...], members: dict[str, Any], told: bool
) -> None:
    """A later write changes what was judged before."""
    assert bool(list(unchecked_settings(path, members, ""))) is told
