"""The core: it is handed values and returns values; no I/O, no clock, no async."""
