"""The command line."""

from herma.cli.command_line import main

__all__ = ["main"]
