"""Claims about `herma.policy.entry.url`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.url import url_effects

JUDGED: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "metadata": ("http://169.254.169.254/latest/", {}, ("mcp-url-internal",)),
    "metadata in decimal": ("http://2852039166/", {}, ("mcp-url-internal",)),
    "a cluster": ("https://kubernetes.default.svc/api", {}, ("mcp-url-internal",)),
    "the dashboard": ("http://127.0.0.1:9119/api/mcp/servers", {}, ("mcp-url-internal",)),
    "the container socket": ("http://localhost:2375/", {}, ("mcp-url-internal",)),
    "the unspecified address": ("http://0:3000/", {}, ("mcp-url-internal",)),
    "a user before the host": ("https://mcp.example.com@198.51.100.30/mcp", {}, ("mcp-url-form",)),
    "look-alike letters": ("https://mcp.linе\u0430r.example/mcp", {}, ("mcp-url-form",)),
    "a file": ("file:///root/.hermes/.env", {}, ("mcp-url-form",)),
    "data": ("data:text/plain,x", {}, ("mcp-url-form",)),
    "an onion": ("http://example.onion/", {}, ("mcp-url-form",)),
    "a line break": ("https://mcp.example.com/%0d%0aX: 1", {}, ("mcp-url-form",)),
    "a line break in a header": ("https://mcp.example.com/", {"X": "1\r\nY: 2"}, ("mcp-url-form",)),
    "a key to a stranger": ("https://drop.example.com/?k=${OPENAI_API_KEY}", {}, ("mcp-url-secret",)),
    "a key as host": ("https://${OPENROUTER_API_KEY}.x.example.com/", {}, ("mcp-url-secret",)),
    "the agent's own in a header": ("https://x.example/", {"X": "${HERMES_PASSWORD}"}, ("mcp-url-secret",)),
    "a vendor's key to the vendor": ("https://mcp.openai.example/?k=${OPENAI_API_KEY}", {}, ()),
    "a tool's key to the tool": ("https://mcp.exa.example/?k=${EXA_API_KEY}", {}, ()),
    "a harmless variable": ("https://x.example/${OPENAI_REGION}", {}, ()),
    "loopback": ("http://127.0.0.1:3845/mcp", {}, ()),
    "a name": ("http://localhost:3000", {}, ()),
    "an address": ("http://192.0.2.1:3000", {}, ()),
    "another script": ("https://пример.example/mcp", {}, ()),
    "accents": ("https://café.example/mcp", {}, ()),
    "a placeholder": ("https://<host>/mcp", {}, ()),
    "no URL": ("<url>", {}, ()),
    "no host": ("https:///x", {}, ()),
    "nothing": ("", {}, ()),
}


@pytest.mark.parametrize(("url", "headers", "effects"), JUDGED.values(), ids=JUDGED.keys())
def test_an_address_is_judged_by_where_it_leads(
    url: str, headers: dict[str, str], effects: tuple[str, ...]
) -> None:
    """Internal services, disguised hosts and keys for strangers are named; ordinary addresses pass."""
    assert url_effects(url, headers) == effects


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=2))
def test_any_address_is_judged(url: str, headers: dict[str, str]) -> None:
    """No text makes the judgement fail."""
    for address in (url, "http://" + url):
        assert set(url_effects(address, headers)) <= {"mcp-url-form", "mcp-url-internal", "mcp-url-secret"}
