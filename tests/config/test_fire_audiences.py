"""Tokens that start jobs are for one agent server and nothing else."""

import pytest

from support.config_text import problems

TOKENS = (
    "auth: {tokens: [{name: ci, issuer: 'https://s.example.com', audience: AUD, jwks_url: 'https://s.example.com/c', "
    "scopes: [run], default_scopes: [run], subjects: [bot]}]}\n"
)


def fire(audience: str) -> str:
    return (
        f"cron_fire: {{issuers: [{{name: s, issuer: 'https://s.example.com', audience: {audience}, "
        "jwks_url: 'https://s.example.com/c'}]}"
    )


@pytest.mark.bypass(76)
@pytest.mark.parametrize(("audience", "right"), [("agent-7", True), ("agent-8", False)])
def test_an_audience_has_one_purpose(audience: str, right: bool) -> None:
    """A token for the one must never be good for the other."""
    text = f"upstream: {{url: 'http://127.0.0.1:8642', {fire('agent-8')}}}\n" + TOKENS.replace(
        "AUD", audience
    )
    said = problems(text, upstream=False, keys=False)
    assert (not said) is right, said
    assert right or "each purpose" in said[0]


@pytest.mark.bypass(76)
def test_an_audience_is_one_agent_server() -> None:
    """Else a token for the one would start a job at the other."""
    text = (
        f"upstream: {{url: 'http://127.0.0.1:8642', {fire('a')}}}\n"
        f"upstreams: {{two: {{url: 'http://127.0.0.1:9119', public_names: [two.example.com], {fire('AUD')}}}}}\n"
    )
    assert problems(text.replace("AUD", "b"), upstream=False) == []
    assert "each agent server its own" in problems(text.replace("AUD", "a"), upstream=False)[0]
