"""Rules, profiles and indicators as data: where they are, and how they are read."""

from herma.content.profiles import load_profile, parse_profile, profile_names

__all__ = ["load_profile", "parse_profile", "profile_names"]
