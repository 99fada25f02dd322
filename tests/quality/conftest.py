"""One measurement for all tests of this suite."""

import pytest

from quality.figures import measure
from quality.judges import GATE
from quality.lines import SHIPPED
from quality.measure import Measures


@pytest.fixture(scope="session")
def measures() -> Measures:
    """What the gate reaches on the corpora of this checkout."""
    return measure(SHIPPED, GATE)
