"""Command lines: what a shell or a launcher really runs."""
