"""Reads a page as a browser would, strictly enough to see what should not be there."""

from html.parser import HTMLParser

__all__ = ["Parsed", "read_page"]

_VOID = frozenset({"meta", "link", "input"})


class Parsed(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"nothing here is written <{tag}/>")

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        """All text, as it is read."""
        return "".join(self.pieces)

    def names(self) -> list[str]:
        """The names of all elements, in order."""
        return [name for name, _ in self.elements]

    def all(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a name."""
        return [attributes for found, attributes in self.elements if found == name]

    def done(self) -> "Parsed":
        """Close; nothing is left open."""
        self.close()
        assert not self._open, self._open
        return self


def read_page(html: str) -> Parsed:
    """Parse a page or a part of one."""
    parsed = Parsed()
    parsed.feed(html)
    return parsed.done()
