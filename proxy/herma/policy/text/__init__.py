"""What a text says to a reader, and what it hides."""
