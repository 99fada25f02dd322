"""Rules, profiles and indicators as data: where they are, and how they are read."""
