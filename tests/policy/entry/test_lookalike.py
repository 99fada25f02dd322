"""Claims about `herma.policy.entry.lookalike`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.lookalike import MAX_LETTERS, Lookalikes, is_near
from herma.policy.entry.package import Package

KNOWN = Lookalikes(
    {
        "npm": [
            "@modelcontextprotocol/server-filesystem",
            "mcp-remote",
            "playwright",
            "@abc/x",
            "@azure/mcp",
            "@brand/navigator-server",
            "flow-mcp",
        ],
        "pypi": ["mcp-server-fetch", "mcp_server_time", "litellm"],
    }
)
IMITATED = {
    "the name itself": ("npm", "mcp-remote", ""),
    "a letter more": ("npm", "mcp-remotee", "name"),
    "a letter less": ("npm", "playwrigt", "name"),
    "another letter": ("npm", "playwr1ght", "name"),
    "letters swapped": ("npm", "palywright", "name"),
    "two letters": ("npm", "plaiwrigt", ""),
    "the shared part": ("pypi", "mcp-sevrer-fetch", "name"),
    "a short thing": ("pypi", "mcp-server-fetcher", ""),
    "a short thing, one letter": ("pypi", "mcp-server-fetchx", ""),
    "underscores": ("pypi", "mcp-server-time", ""),
    "a short name": ("pypi", "litelm", ""),
    "letters of a short name in another order": ("pypi", "mitelll", ""),
    "two neighbours swapped": ("pypi", "litelml", "name"),
    "two neighbours of what follows the shared part": ("pypi", "mcp-server-tmie", "name"),
    "a known scope": ("npm", "@modelcontextprotocol/server-new", ""),
    "nearly a scope": ("npm", "@modelcontextprotoco1/x", "scope"),
    "a scope with more behind it": ("npm", "@modelcontextprotocol-servers/x", "scope"),
    "a short scope": ("npm", "@abd/x", ""),
    "a short scope before the same name": ("npm", "@bramd/navigator-server", "scope"),
    "another scope before the same name": ("npm", "@example/navigator-server", ""),
    "a scope as a name": ("npm", "modelcontextprotocol-server-filesystem", "scope"),
    "a name as a scope": ("npm", "@mcp/remote", "scope"),
    "the server of a vendor, beside one that anybody made": ("npm", "@flow/mcp", ""),
    "another ecosystem": ("pypi", "playwrigt", ""),
    "an unknown scope": ("npm", "@example/mcp-remote", ""),
    "too long": ("npm", "x" * (MAX_LETTERS + 1), ""),
}


@pytest.mark.parametrize(("ecosystem", "name", "how"), IMITATED.values(), ids=IMITATED.keys())
def test_a_name_near_a_known_one_is_told(ecosystem: str, name: str, how: str) -> None:
    """One letter's difference counts where the name is long enough; exact names always pass."""
    assert KNOWN.imitates(Package(ecosystem, name)) == how


def test_one_apart_is_one_step() -> None:
    """Added, left out, changed or swapped; the same is not apart."""
    assert is_near("abc", "abcd")
    assert is_near("abcd", "acbd")
    assert not is_near("abc", "abc")
    assert not is_near("abc", "abcde")
    assert not is_near("abcd", "badc")


@given(st.text(alphabet="abc", max_size=6), st.text(alphabet="abc", max_size=6))
def test_nearness_has_no_direction(first: str, second: str) -> None:
    """Who imitates whom makes no difference."""
    assert is_near(first, second) == is_near(second, first)
