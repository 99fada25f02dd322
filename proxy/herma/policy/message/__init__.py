"""The parts of an HTTP message: one meaning for its head, or none."""
