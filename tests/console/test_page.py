"""The pages, and what holds a browser to them."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.console.page import ASSETS, HEADERS, entry_page, explain_page, notice_page, overview_page
from herma.console.view import Explained, View
from support.console_view import AT, EXPLAINED, FULL, REFUSED, hostile
from support.markup import read_page

PAGES = {
    "overview": overview_page(FULL, "laptop"),
    "empty overview": overview_page(View(at=AT), "local token"),
    "entry": entry_page(),
    "refused entry": entry_page("Wrong."),
    "notice": notice_page("Not here", "It is gone."),
    "explained": explain_page(EXPLAINED),
    "explained without a rule": explain_page(Explained(REFUSED, obstacle="No rule to exempt.")),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_can_be_read_by_everybody(name: str) -> None:
    """One heading of the first level, a language, a title, a way to the content, and headings without gaps."""
    parsed = read_page(PAGES[name])
    levels = [int(tag[1]) for tag in parsed.names() if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert parsed.all("html") == [{"lang": "en"}]
    assert parsed.all("main")[0]["id"] == "main"
    assert parsed.all("title")
    assert all(field["aria-describedby"] for field in parsed.all("input"))
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(name: str) -> None:
    """The policy allows no exception, so there is nothing that would need one."""
    parsed = read_page(PAGES[name])
    for tag, attributes in parsed.elements:
        assert tag != "style"
        assert not [key for key in attributes if key == "style" or key.startswith("on")]
        for key in ("src", "action"):
            assert str(attributes.get(key) or "/console").startswith("/console")
        assert str(attributes.get("href") or "#").startswith(("/console", "#"))
    assert "".join(parsed.pieces).count("alert(") == 0


def test_only_the_overview_runs_a_script() -> None:
    """It is whole without it: the script only makes it young."""
    assert [read_page(page).all("script") for name, page in PAGES.items() if "overview" not in name] == [
        []
    ] * 5
    (script,) = read_page(PAGES["overview"]).all("script")
    assert script == {"src": "/console/live.js", "defer": None}


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    """No source but the console itself, no frame around it, no base."""
    policy = dict(part.split(maxsplit=1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert HEADERS["Cache-Control"] == "no-store"


def test_the_assets_name_nobody_else() -> None:
    """Neither style nor script loads anything."""
    for content, _ in ASSETS.values():
        text = content.decode()
        assert "://" not in text
        assert "url(" not in text
        assert "@import" not in text


def _contrast(first: str, second: str) -> float:
    def light(colour: str) -> float:
        full = "".join(one * 2 for one in colour) if len(colour) == 3 else colour
        parts = [int(full[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = [
            one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
        ]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(theme: int) -> None:
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for what is drawn."""
    blocks = re.findall(r":root\{(.*?)\}", ASSETS["style.css"][0].decode().replace("\n", ""))
    colours = dict(re.findall(r"--([a-z]+):#([0-9a-f]+)", blocks[theme]))
    for ink, paper in (
        ("text", "card"), ("text", "ground"), ("soft", "card"), ("soft", "ground"), ("main", "card"), ("main", "ground"),
        ("on", "main"), ("bad", "badground"), ("bad", "card"), ("warn", "warnground"), ("good", "card"),
    ):  # fmt: skip
        assert _contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    for drawn in ("passed", "reported", "refused", "strong"):
        assert _contrast(colours[drawn], colours["card"]) >= 3, drawn


def test_an_explanation_has_all_that_is_known() -> None:
    """Which rule, where it is defined, what it says, what would let it pass."""
    text = read_page(PAGES["explained"]).text
    for part in (
        "mcp-download-run", "critical", "/mcp_servers/notes/args", "T1105", "A download is run", "What is fetched is run",
        "rules/mcp/mcp-download-run.yaml", "id: mcp-download-run", "https://attack.example/T1105", "exemptions:",
    ):  # fmt: skip
        assert part in text, part
    assert "No rule to exempt." in read_page(PAGES["explained without a rule"]).text


@given(st.text(st.characters(exclude_characters="`"), min_size=1, max_size=80).filter(str.strip))
def test_no_page_is_changed_in_shape_by_what_it_shows(text: str) -> None:
    """Neither the overview nor an explanation, and nobody's name."""
    plain, shown = hostile("x"), hostile(text)
    for write in (
        lambda found: overview_page(found[0], found[1].refused.who),
        lambda found: explain_page(found[1]),
        lambda found: notice_page(found[1].obstacle, found[1].obstacle),
    ):
        assert read_page(write(shown)).names() == read_page(write(plain)).names()
