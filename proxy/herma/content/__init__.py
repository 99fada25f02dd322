"""Rules, profiles and indicators as data: where they are, and how they are read."""

from herma.content.indicators import load_indicators
from herma.content.profiles import load_profile, parse_profile, profile_names
from herma.content.rules import load_rules

__all__ = ["load_indicators", "load_profile", "load_rules", "parse_profile", "profile_names"]
