"""What operators see: the admin listener."""

from herma.console.admin import Readout, make_app, serve_admin

__all__ = ["Readout", "make_app", "serve_admin"]
