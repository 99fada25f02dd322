"""Published indicators of compromise, and where a text holds one.

Each is compared as what it is: an address in any spelling, a domain by label, a package in its ecosystem and version.
Text that is merely similar is no match: `60.165.167.` lies inside `160.165.167.20`, and an npm package may be hostile where
the PyPI one of the same name is official.
"""

from herma.policy.indicator.indicator import Action, Indicator, Matching
from herma.policy.indicator.set import IndicatorSet

__all__ = ["Action", "Indicator", "IndicatorSet", "Matching"]
