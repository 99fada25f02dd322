"""What every suite knows: the marker that ties a test to the rows of the bypass list."""

import os

import pytest
from hypothesis import settings

# A red run has to mean that a change broke something: the same examples each time, and no clock. New examples are looked for
# with HYPOTHESIS_PROFILE=explore.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers that are used across suites."""
    config.addinivalue_line(
        "markers", "bypass(*rows): the rows of the bypass list (docs/security/bypass.md) this test holds shut"
    )
