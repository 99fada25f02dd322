"""The settings of the agent server."""

from herma.config.upstream import Upstream
from herma.config.values import Tcp, UpstreamUrl


def test_upstream_is_an_api_server_by_default() -> None:
    """The smallest configuration names an address alone."""
    made = Upstream(url=UpstreamUrl(Tcp("127.0.0.1", 8642)))
    assert made.profile == "hermes-api"
    assert made.key is None
    assert made.tls is None
