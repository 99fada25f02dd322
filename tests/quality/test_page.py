"""The page says what is measured."""

import pytest

from quality import recorded
from quality.measure import Measures
from quality.page import PAGE, render
from support.generated import check_page


@pytest.mark.generated
def test_the_page_is_what_was_measured(measures: Measures) -> None:
    """`make docs` would not change it."""
    check_page(PAGE, render(measures, recorded.load()))


def test_the_page_stands_without_recorded_figures(measures: Measures) -> None:
    """A column that nobody measured is empty, not zero."""
    text = render(measures, {})
    assert "None is recorded yet." in text
    assert "Not recorded yet." in text
    assert "| hermes-agent 0.19.0, on the same lines | - | - |" in text
