"""What operators see: the admin listener, and on it the console."""

from herma.console.access import Keys
from herma.console.admin import Readout, make_app, parser_is_strict, serve_admin
from herma.console.pages import Console, Source
from herma.console.series import PASSED, REPORTED, series_of
from herma.console.token_file import read_token
from herma.console.view import (
    Concern,
    Explained,
    Feed,
    Found,
    Minute,
    Open,
    Refused,
    RuleText,
    Upstream,
    View,
)

__all__ = [
    "PASSED",
    "REPORTED",
    "Concern",
    "Console",
    "Explained",
    "Feed",
    "Found",
    "Keys",
    "Minute",
    "Open",
    "Readout",
    "Refused",
    "RuleText",
    "Source",
    "Upstream",
    "View",
    "make_app",
    "parser_is_strict",
    "read_token",
    "series_of",
    "serve_admin",
]
