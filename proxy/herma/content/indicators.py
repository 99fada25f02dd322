"""The indicators of one directory, for whoever needs no more than that."""

from datetime import UTC, datetime
from importlib.resources.abc import Traversable

from herma.content.ioc.collection import IndicatorSources, collect
from herma.policy.indicator import IndicatorSet

__all__ = ["load_indicators"]


def load_indicators(directory: Traversable, now: datetime | None = None) -> IndicatorSet:
    """Read every file that the manifest of a directory pins; what is past its time is left out.

    Raises:
        ContentError: a file cannot be used, is not pinned, or differs from its digest.
    """
    return collect(IndicatorSources(directory), now or datetime.now(UTC)).indicators()
