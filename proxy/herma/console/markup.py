"""HTML that is escaped unless it says that it is markup already.

Whatever is shown comes as `str` and is escaped here; only what this package wrote itself is `Markup`. Characters that a browser
would obey without showing them (controls, marks of direction, zero widths) are written as their escapes.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

__all__ = ["Markup", "element", "joined", "link", "prose", "row", "shown", "table"]

# Longer than any name or reason of the gate; what is longer came from somewhere else.
MAX_CHARS: Final = 2000


class Markup(str):
    """HTML that may stand in a page as it is."""

    __slots__ = ()


def shown(value: object) -> Markup:
    """Escape a value, unless it is markup."""
    if isinstance(value, Markup):
        return value
    text = str(value)[:MAX_CHARS]
    return Markup(escape(text if text.isprintable() else "".join(map(_plain, text))))


def _plain(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode("ascii")


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Join values, each escaped unless it is markup; what stands between is markup."""
    return Markup(between.join(map(shown, parts)))


def element(name: str, *content: object, **attributes: object) -> Markup:
    """Write an element; an attribute ends in an underscore where its name is a word of Python, and is left out when None."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{shown(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def link(target: str, *content: object, **attributes: object) -> Markup:
    """Write a link to a page of the console."""
    return element("a", *content, href=target, **attributes)


def prose(text: str) -> Markup:
    """Write a sentence in which backquotes mark what is typed; without a second one a backquote is itself."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return shown(text)
    return joined(element("code", part) if at % 2 else part for at, part in enumerate(parts))


def table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[object] | Markup], kind: str = ""
) -> Markup:
    """Write a table; a row is its cells, or was written by `row` before.

    The roles repeat what the elements say: on a narrow screen the rows become cards, and browsers forget the table then.
    """
    head = joined(element("th", one, scope="col", role="columnheader") for one in headings)
    body = joined(one if isinstance(one, Markup) else row(headings, one) for one in rows)
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head, role="row"), role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        role="table",
        class_=kind or None,
    )


def row(headings: Sequence[str], values: Sequence[object]) -> Markup:
    """Write a row of a table; the first cell names it."""
    first, *rest = values
    # On a narrow screen a cell has two columns: its heading, and this one element.
    cells = [element("th", element("div", first), scope="row", role="rowheader", data_label=headings[0])]
    cells += [
        element("td", element("div", value), role="cell", data_label=heading)
        for heading, value in zip(headings[1:], rest, strict=True)
    ]
    return element("tr", *cells, role="row")
