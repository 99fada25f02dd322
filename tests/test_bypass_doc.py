"""The published list of bypass classes is the one the tests hold shut."""

import pytest

from support.bypass_table import DOCUMENT, LATER, ROWS, collected, render
from support.generated import check_page


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    """The tests of each row."""
    return collected()


@pytest.mark.generated
def test_the_document_is_current(table: dict[str, list[str]]) -> None:
    """`make docs` would not change the document."""
    check_page(DOCUMENT, render(table))


def test_every_class_has_a_test(table: dict[str, list[str]]) -> None:
    """No class of the parts that exist is without a test."""
    assert [row for row in ROWS if row not in LATER and not table.get(row)] == []


def test_no_test_names_a_class_that_does_not_exist(table: dict[str, list[str]]) -> None:
    """A marker's rows are rows of the list."""
    assert sorted(set(table) - set(ROWS)) == []


def test_what_is_said_to_come_later_has_no_test_yet(table: dict[str, list[str]]) -> None:
    """A class that has its test is no longer announced."""
    assert [row for row in LATER if table.get(row)] == []
