"""The egress gate: the hooks of mitmproxy through which all that the agent sends out passes."""
