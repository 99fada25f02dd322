"""HTML that is escaped unless it says otherwise."""

from hypothesis import given
from hypothesis import strategies as st

from herma.console.markup import MAX_CHARS, Markup, element, joined, link, prose, shown, table
from support.markup import read_page


@given(st.text(max_size=200))
def test_what_is_shown_is_text_and_nothing_else(text: str) -> None:
    """Whatever a text says, it is one text of the page."""
    parsed = read_page(element("p", text))
    assert parsed.elements == [("p", {})]
    visible = "".join(one for one in text if one.isprintable() or one == "\n")
    assert all(one in parsed.text for one in visible)
    assert all(one.isprintable() or one == "\n" for one in parsed.text)


@given(st.text(max_size=200))
def test_an_attribute_holds_no_way_out(text: str) -> None:
    """A value stays a value, whatever quotes are in it."""
    ((name, attributes),) = read_page(element("a", "x", title=text)).elements
    assert (name, list(attributes)) == ("a", ["title"])


def test_characters_that_are_obeyed_without_being_seen_are_written_out() -> None:
    """A name cannot turn the reading direction of what follows, nor hide a part of itself."""
    assert shown("a\u202eb\x00c\u200bd") == r"a\u202eb\x00c\u200bd"


def test_markup_stands_as_it_is() -> None:
    """What this package wrote is not escaped again."""
    assert shown(Markup("<b>x</b>")) == "<b>x</b>"
    assert joined([Markup("<i></i>"), "<"], " ") == "<i></i> &lt;"


def test_a_text_has_an_end() -> None:
    """What is longer than anything the gate says is cut."""
    assert len(shown("x" * 10 * MAX_CHARS)) == MAX_CHARS


def test_attributes_are_spelt_as_html_spells_them() -> None:
    """A word of Python, a dash, and what is not there."""
    assert (
        element("label", "x", for_="y", aria_label="z", id=None) == '<label for="y" aria-label="z">x</label>'
    )
    assert link("/console", "back") == '<a href="/console">back</a>'


def test_backquotes_mark_what_is_typed() -> None:
    """In pairs; one that is left alone is itself."""
    assert prose("Set `a: <b>` now.") == "Set <code>a: &lt;b&gt;</code> now."
    assert prose("it`s") == "it`s"


def test_a_table_keeps_its_meaning_when_its_rows_become_cards() -> None:
    """Caption, headings of columns and rows, and the roles that say so."""
    parsed = read_page(table("What", ("A", "B"), [("<x>", 1), ("y", Markup("<b>2</b>"))], "kind"))
    assert parsed.all("table") == [{"role": "table", "class": "kind"}]
    assert [one["scope"] for one in parsed.all("th")] == ["col", "col", "row", "row"]
    assert [one["data-label"] for one in parsed.all("td")] == ["B", "B"]
    assert parsed.text == "WhatAB<x>1y2"
