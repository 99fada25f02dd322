"""Event streams and JSON lines: framing, text channels, what may leave."""
