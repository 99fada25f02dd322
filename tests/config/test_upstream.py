"""The settings of the agent server."""

from herma.config.upstream import Upstream
from herma.config.values import Tcp, UpstreamUrl
from support.config_text import codes, parsed


def test_upstream_is_an_api_server_by_default() -> None:
    """The smallest configuration names an address alone."""
    made = Upstream(url=UpstreamUrl(Tcp("127.0.0.1", 8642)))
    assert made.profile == "hermes-api"
    assert made.key is None
    assert made.tls is None


def test_a_key_is_configured_or_read_from_the_page() -> None:
    """Both would be two answers; with either there is nothing to warn of."""
    upstream = "upstream: {{url: 'http://127.0.0.1:9119', profile: hermes-dashboard, key_from_page: {}{}}}\n"
    assert parsed(upstream.format("true", ""), upstream=False).warnings == ()
    assert codes(upstream.format("true", ", key: '${OTHER_FAKE_KEY}'"), upstream=False) == [
        "upstream.key.twice"
    ]
    assert codes(upstream.format("1", ""), upstream=False) == ["config.type"]
