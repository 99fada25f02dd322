"""How an installation stands: what of it others on the machine can read or change."""

from herma.posture.hygiene import Flaw, HomeError, Report, Untidy, tidy

__all__ = ["Flaw", "HomeError", "Report", "Untidy", "tidy"]
