"""What every suite knows: the marker that ties a test to the rows of the bypass list."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers that are used across suites."""
    config.addinivalue_line(
        "markers", "bypass(*rows): the rows of the bypass list (docs/security/bypass.md) this test holds shut"
    )
