"""Server entries: where they are, and what they would do."""
