"""Claims about `herma.policy.entry.url`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.source import Sources
from herma.policy.entry.url import url_effects
from support.guard_content import rules

SOURCES = Sources(rules("mcp"))

JUDGED: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "metadata": ("http://169.254.169.254/latest/", {}, ("url:internal",)),
    "metadata in decimal": ("http://2852039166/", {}, ("url:internal",)),
    "a cluster": ("https://kubernetes.default.svc/api", {}, ("url:internal",)),
    "the dashboard": ("http://127.0.0.1:9119/api/mcp/servers", {}, ("url:internal",)),
    "the container socket": ("http://localhost:2375/", {}, ("url:internal",)),
    "the unspecified address": ("http://0:3000/", {}, ("url:internal",)),
    "a user before the host": ("https://mcp.example.com@198.51.100.30/mcp", {}, ("url:form",)),
    "look-alike letters": ("https://mcp.linе\u0430r.example/mcp", {}, ("url:form",)),
    "a file": ("file:///root/.hermes/.env", {}, ("url:form",)),
    "data": ("data:text/plain,x", {}, ("url:form",)),
    "an onion": ("http://example.onion/", {}, ("url:form",)),
    "a line break": ("https://mcp.example.com/%0d%0aX: 1", {}, ("url:form",)),
    "a line break in a header": ("https://mcp.example.com/", {"X": "1\r\nY: 2"}, ("url:form",)),
    "a key to a stranger": ("https://drop.example.com/?k=${OPENAI_API_KEY}", {}, ("url:secret",)),
    "a key as host": ("https://${OPENROUTER_API_KEY}.x.example.com/", {}, ("url:secret",)),
    "the agent's own in a header": ("https://x.example/", {"X": "${HERMES_PASSWORD}"}, ("url:secret",)),
    "a vendor's key to the vendor": ("https://mcp.openai.example/?k=${OPENAI_API_KEY}", {}, ()),
    "a tool's key to the tool": ("https://mcp.exa.example/?k=${EXA_API_KEY}", {}, ()),
    "a harmless variable": ("https://x.example/${OPENAI_REGION}", {}, ()),
    "loopback": ("http://127.0.0.1:3845/mcp", {}, ()),
    "a name": ("http://localhost:3000", {}, ()),
    "an address": ("https://192.0.2.1:3000", {}, ()),
    "a neighbour's address": ("http://192.168.1.2:3000", {}, ()),
    "a foreign address in clear": ("http://192.0.2.1:3000", {}, ("url:plain",)),
    "a paste": ("https://gist.githubusercontent.com/x/raw", {}, ("url:paste",)),
    "a tunnel": ("https://abcd.ngrok-free.app/mcp", {}, ("url:paste",)),
    "a vendor's name in front": ("https://mcp.linear.app.drop.example.net/", {}, ("url:imitates",)),
    "a vendor's name with a letter wrong": ("https://mcp.atlasian.com/", {}, ("url:imitates",)),
    "a vendor's name with digits": ("https://mcp.n0tion.com/", {}, ("url:imitates",)),
    "a vendor": ("https://mcp.atlassian.com/", {}, ()),
    "a label in another encoding": ("https://xn--gftshop-n2a.example/", {}, ("url:encoded",)),
    "a backslash": ("https://198.51.100.60\\@api.githubcopilot.com/", {}, ("url:form",)),
    "a cloud key in a header": (
        "https://x.example.com/",
        {"Authorization": "${AWS_SECRET_ACCESS_KEY}"},
        ("url:secret",),
    ),
    "two keys in a header": (
        "https://x.example.com/",
        {"Authorization": "${OPENAI_API_KEY}:${GROQ_API_KEY}"},
        ("url:secret",),
    ),
    "a model's key in any header": (
        "https://x.example.com/",
        {"X-Trace": "${ANTHROPIC_API_KEY}"},
        ("url:secret",),
    ),
    "a model's key in a header for it": (
        "https://x.example.com/",
        {"X-Anthropic-Key": "${ANTHROPIC_API_KEY}"},
        (),
    ),
    "a gateway's key": ("https://gw.example.com/", {"Authorization": "Bearer ${GITHUB_TOKEN}"}, ()),
    "a key to a neighbour": ("http://gw.internal/", {"X-A": "${GITHUB_TOKEN}"}, ()),
    "another script": ("https://пример.example/mcp", {}, ()),
    "accents": ("https://café.example/mcp", {}, ()),
    "a placeholder": ("https://<host>/mcp", {}, ()),
    "no URL": ("<url>", {}, ()),
    "three slashes": ("https:///x", {}, ("url:form",)),
    "no host": ("https://:80", {}, ()),
    "no scheme": ("//198.51.100.7/x", {}, ("url:form",)),
    "a share": ("\\\\198.51.100.7\\x", {}, ("url:form",)),
    "one slash": ("http:/198.51.100.7/x", {}, ("url:form", "url:plain")),
    "no slash": ("http:198.51.100.7", {}, ("url:form", "url:plain")),
    "a socket": ("http://unix:/var/run/docker.sock:/", {}, ("url:form",)),
    "metadata by a name": ("http://169-254-169-254.sslip.io/", {}, ("url:internal",)),
    "the nodes' port": ("http://localhost:10255/pods", {}, ("url:internal",)),
    "a database": ("https://x.example.com/?k=${DATABASE_URL}", {}, ("url:secret",)),
    "a password of this machine": ("https://x.example.com/?k=${SUDO_PASSWORD}", {}, ("url:secret",)),
    "a vendor in the middle": ("https://x.example.com/?k=${MY_OPENAI_API_KEY}", {}, ("url:secret",)),
    "a vendor's label": ("https://openai.x.example.com/?k=${OPENAI_API_KEY}", {}, ("url:secret",)),
    "a vendor in a country": ("https://mcp.stripe.co.uk/?k=${STRIPE_API_KEY}", {}, ()),
    "a forge of one's own": ("https://gitlab.x.example.com/?k=${GITLAB_TOKEN}", {}, ()),
    "a tool's key with a vendor in it": ("https://exa.example/?k=${EXA_OPENAI_KEY}", {}, ()),
    "a database to a neighbour": ("http://db.internal/?k=${DATABASE_URL}", {}, ()),
    "a database in a header": ("https://x.example.com/", {"x": "${DATABASE_URL}"}, ("url:secret",)),
    "a database in a header for it": ("https://x.example.com/", {"X-Database": "${DATABASE_URL}"}, ()),
    "another host in a header": (
        "https://x.example.com/",
        {"Host": "localhost:9119"},
        ("url:internal",),
    ),
    "a public host in a header": ("https://192.0.2.1/", {"Host": "mcp.example.com"}, ()),
    "nothing": ("", {}, ()),
}


@pytest.mark.parametrize(("url", "headers", "effects"), JUDGED.values(), ids=JUDGED.keys())
def test_an_address_is_judged_by_where_it_leads(
    url: str, headers: dict[str, str], effects: tuple[str, ...]
) -> None:
    """Internal services, disguised hosts and keys for strangers are named; ordinary addresses pass."""
    assert tuple(dict.fromkeys(url_effects(url, headers, (), SOURCES))) == effects


WORDS = {
    "metadata": ("http://0xa9fea9fe/latest/", {"url:internal"}),
    "a key to a stranger": ("https://x.example.com/sse?k=${GITHUB_TOKEN}", {"url:secret"}),
    "a key to its owner": ("https://api.github.com/sse?k=${GITHUB_TOKEN}", set()),
    "an address in clear": ("http://192.0.2.1/sse", {"url:plain"}),
    "a tunnel": ("https://abcd.ngrok-free.app/sse", {"url:paste"}),
    "a plain word": ("--port", set()),
    "no host": ("http://", set()),
}


@pytest.mark.parametrize(("word", "effects"), WORDS.values(), ids=WORDS.keys())
def test_an_address_among_the_arguments_is_judged(word: str, effects: set[str]) -> None:
    """What a bridge is given as an argument counts like the address of an entry."""
    assert set(url_effects("", {}, ("npx", "mcp-remote", word), SOURCES)) == effects


def test_only_a_bridge_stands_for_what_it_is_told() -> None:
    """What other programs ask is their own affair."""
    address = "http://192.0.2.1/api"
    assert not set(url_effects("", {}, ("npx", "-y", "weather-mcp", "--api", address), SOURCES))
    assert "url:plain" in set(url_effects("", {}, ("npx", "@example/mcp-remote@1", address), SOURCES))


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=2))
def test_any_address_is_judged(url: str, headers: dict[str, str]) -> None:
    """No text makes the judgement fail."""
    for address in (url, "http://" + url):
        assert all(effect.startswith("url:") for effect in url_effects(address, headers, (address,), SOURCES))
