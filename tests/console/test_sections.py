"""The parts of the page."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.console.sections import SECTIONS, fragments
from herma.console.view import View
from support.console_view import AT, EXCHANGE, FULL, REFUSED, hostile
from support.markup import read_page


def said(name: str, view: View = FULL) -> str:
    """Return the text of one part."""
    return " ".join(" ".join(read_page(fragments(view)[name]).pieces).split())


def test_every_part_is_written() -> None:
    """The names are those of the page."""
    assert list(fragments(FULL)) == [name for name, _, _ in SECTIONS]


def test_a_gate_that_has_nothing_to_say_says_so() -> None:
    """An empty view is a page as well."""
    parts = fragments(View(at=AT))
    assert "No setting makes the gate weaker" in parts["concerns"]
    assert "Nothing." in parts["refusals"]
    assert "Nobody." in parts["connected"]
    assert "without a cap" in parts["state"]
    for html in parts.values():
        read_page(html)


def test_insecure_settings_are_red_and_first() -> None:
    """Grave ones say so in words, not by their colour alone."""
    listed = read_page(fragments(FULL)["concerns"]).all("li")
    assert [one["class"] for one in listed] == ["grave", "mild"]
    assert said("concerns").startswith("Insecure: checks.cron_scan is in mode monitor.")
    assert SECTIONS[0][0] == "concerns"


def test_the_state_names_slots_and_a_refused_reload() -> None:
    """What is wrong with the new file stands there in full."""
    assert "3 of 10" in said("state")
    assert "unknown key 'nonsense'" in said("state")
    assert "serving, ready" in said("state")
    assert "not ready: no answer" in said("state", replace(FULL, ready=False, reason="no answer"))


def test_decisions_are_told_in_numbers_too() -> None:
    """A row for each check that decided something, and for what passed."""
    rows = said("decisions")
    assert "Server entries 0 2" in rows.replace("at most 2 in a minute", "")
    assert "Who is asking 7 7" in rows
    assert "Scheduled prompts" not in rows


def test_a_refusal_names_who_what_and_why_and_leads_to_more() -> None:
    """Time, key, operation, route, code, reason and rule."""
    parsed = read_page(fragments(FULL)["refusals"])
    for text in (
        "laptop",
        "mcp.write",
        "POST /api/mcp/servers",
        "403 herma.mcp.download",
        "mcp-download-run",
    ):
        assert text in parsed.text
    (link,) = parsed.all("a")
    assert link["href"] == f"/console/refusals/{EXCHANGE}"
    assert "nobody known" in said("refusals", replace(FULL, refusals=(replace(REFUSED, who="", status=0),)))


def test_who_is_connected_stands_there_by_name() -> None:
    """Streams, sockets and runs; how many more there are is said."""
    assert "alice chat.terminal at dashboard socket" in said("connected")
    assert "3 more are not listed" in said("connected")
    assert "laptop run.start background run" in said("connected")


def test_every_upstream_has_its_row() -> None:
    """Whether it is up, whether its key is taken, what it offers anew, and whether it can be reached beside the gate."""
    text = said("upstreams")
    assert "default http://127.0.0.1:8642 (hermes-api) up accepted none" in text
    assert "down: no answer reachable beside the gate on 0.0.0.0" in text
    assert "GET /api/new" in text
    unasked = replace(FULL.upstreams[0], key_accepted=None)
    assert "not asked" in said("upstreams", replace(FULL, upstreams=(unasked,)))


def test_feeds_tell_their_age() -> None:
    """Or why there are none."""
    assert "ioc 700 2026-11-01 31 days" in said("feeds")
    assert said("feeds", replace(FULL, feeds_problem="cannot be read")) == "cannot be read"
    assert said("feeds", replace(FULL, feeds=())) == "Nothing."


ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</table></section><script src=//evil.example></script>",
    "javascript:alert(1)",
    "{{7*7}}${7*7}",
    "\u202e<b>",
    "&lt;script&gt;",
]


def _shape(view: View) -> dict[str, list[tuple[str, dict[str, str | None]]]]:
    return {name: read_page(html).elements for name, html in fragments(view).items()}


@pytest.mark.parametrize("text", ATTACKS)
def test_no_text_becomes_markup(text: str) -> None:
    """A key's name, a route, a reason: wherever it stands, it makes no element and no attribute."""
    harmless = _shape(hostile("x")[0])
    for name, elements in _shape(hostile(text)[0]).items():
        assert [(tag, list(attributes)) for tag, attributes in elements] == [
            (tag, list(attributes)) for tag, attributes in harmless[name]
        ]


@given(st.text(st.characters(exclude_characters="`"), min_size=1, max_size=80).filter(str.strip))
def test_the_shape_of_the_page_does_not_depend_on_what_is_shown(text: str) -> None:
    """Whatever a name is made of."""
    harmless, shown = _shape(hostile("x")[0]), _shape(hostile(text)[0])
    assert {name: [tag for tag, _ in elements] for name, elements in shown.items()} == {
        name: [tag for tag, _ in elements] for name, elements in harmless.items()
    }
