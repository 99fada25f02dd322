"""The remote start of one scheduled job: what asks for it, and what may be asked for by whom."""
