"""Herma, a hardening gate for agent servers."""

__all__ = ["__version__"]

__version__ = "0.1.0"
