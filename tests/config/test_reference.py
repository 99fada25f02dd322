"""The reference page."""

import pytest

from herma.config.reference import reference
from support.generated import check_page


@pytest.mark.generated
def test_reference_page_is_current() -> None:
    """The page says what the settings say."""
    check_page("docs/configuration.md", reference())


def test_reference_shows_defaults_and_bounds() -> None:
    """A reader finds the key, what it takes, and what stands without it."""
    page = reference()
    assert "| `max_concurrent_runs` | 0 to 100000 | `10` |" in page
    assert "| `key`, `key_file`, `hash` | secret | required |" in page
    assert "| `strict` | `true`, `false` | `false` |" in page
    assert "## `auth.keys[]`" in page
