"""The gate's own pages: everything below `/.herma`, which is never forwarded.

It is the decoded path that counts, in any letter case and any compatibility form: what a lenient upstream might take for one of
these names is not for the upstream either.
"""

import unicodedata
from enum import StrEnum

from herma.policy.decision import Deny
from herma.policy.message.target import Target

__all__ = ["PREFIX", "Page", "own_page"]

PREFIX = ".herma"


class Page(StrEnum):
    """One of the pages, by its path below the prefix."""

    LOGIN = "login"
    BEGIN = "login/begin"
    CALLBACK = "login/callback"
    LOGOUT = "logout"
    SESSION = "session"

    @property
    def path(self) -> str:
        """Give the path."""
        return f"/{PREFIX}/{self.value}"

    @property
    def operation(self) -> str:
        """Name what is done there, for the audit."""
        return self.value.replace("/", ".")

    @property
    def methods(self) -> tuple[str, ...]:
        """List the methods, as `Allow` names them."""
        return _METHODS[self]


_METHODS = {
    Page.LOGIN: ("GET", "HEAD", "POST"),
    Page.BEGIN: ("GET",),
    Page.CALLBACK: ("GET",),
    Page.LOGOUT: ("POST",),
    Page.SESSION: ("GET", "HEAD"),
}
_PAGES = {page.path: page for page in Page}


def own_page(target: Target) -> Page | Deny | None:
    """Tell which page a target names.

    Returns:
        The page; a denial when the path is reserved and no page; None when it is not reserved.
    """
    first = unicodedata.normalize("NFKC", target.path).split("/")[1].strip()
    if first.casefold() != PREFIX:
        return None
    page = None if target.slashed else _PAGES.get(target.path)
    return page or Deny(404, "herma.route.unknown", "There is no such page at the gate.")
