"""What ships is read once for all commands that tests run in this process: reading proves every rule, which takes a second."""

from functools import cache

import pytest

from herma.content import library
from herma.content.library import Library
from herma.content.shipped import data_dir

_READ_RULES, _READ_INDICATORS = Library.rules, Library.indicators


@cache
def _rules(family: str):
    return _READ_RULES(Library(), family)


@cache
def _indicators():
    return _READ_INDICATORS(Library())


_words = cache(library.load_vocabulary)


@pytest.fixture(autouse=True)
def _shipped_content_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = str(data_dir("rules"))

    def rules(self, family):
        plain = not self._own and str(self.base) == shipped
        return _rules(family) if plain else _READ_RULES(self, family)

    def known(self):
        plain = self._content.ioc_dir is None and not self._content.ioc_dirs
        return _indicators() if plain else _READ_INDICATORS(self)

    monkeypatch.setattr(Library, "rules", rules)
    monkeypatch.setattr(Library, "indicators", known)
    monkeypatch.setattr(library, "load_vocabulary", _words)
