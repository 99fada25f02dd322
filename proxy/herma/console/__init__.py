"""What operators see: the admin listener."""

from herma.console.admin import Readout, make_app, parser_is_strict, serve_admin

__all__ = ["Readout", "make_app", "parser_is_strict", "serve_admin"]
