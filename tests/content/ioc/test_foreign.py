"""Claims about `herma.content.ioc.foreign`."""

import json

import pytest

from herma.content.ioc import foreign as module
from herma.content.ioc.draft import Terms
from herma.content.ioc.foreign import import_foreign
from herma.errors import ContentError
from support.ioc_files import NOW, attribute, bundle, event, indicator


def test_formats_are_told_apart_by_what_they_say() -> None:
    """A file's name says nothing."""
    for value in (
        bundle(indicator("[domain-name:value='evil.example']")),
        event(attribute("domain", "evil.example")),
    ):
        found = import_foreign(json.dumps(value).encode(), "f", Terms(NOW))
        assert [one.indicator.value for one in found.records] == ["evil.example"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "one way only"),
        (b'{"type":"bundle","type":"x"}', "one way only"),
        (b"[" * 100_000, "one way only"),
        (b"\xef\xbb\xbf{}", "one way only"),
        (b"{}", "neither"),
        (b"[]", "neither"),
        (b'{"type":"bundle","objects":7}', "list"),
    ],
)
def test_other_files_are_refused(content: bytes, says: str) -> None:
    """Also those that two readers would understand differently, and bombs."""
    with pytest.raises(ContentError, match=says):
        import_foreign(content, "f", Terms(NOW))


def test_files_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is parsed."""
    monkeypatch.setattr(module, "MAX_FOREIGN_BYTES", 4)
    with pytest.raises(ContentError, match="larger"):
        import_foreign(b"[1,2,3]", "f", Terms(NOW))
