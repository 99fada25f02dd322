"""Things to try Herma against: an agent server that only echoes."""

from herma.drill.echo_agent import make_app, serve_echo

__all__ = ["make_app", "serve_echo"]
