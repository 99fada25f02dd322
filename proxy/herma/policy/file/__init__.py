"""Files of the agent's machine: what a path that a caller names leads to."""
