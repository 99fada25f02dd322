"""Which requests a page of another site, or of another port of this machine, made a browser send.

A name that was rebound is refused before, by `Host`. What is left is a page elsewhere that a person has open: a browser names it
in `Origin` or in `Sec-Fetch-Site`, and neither can be forged by a page. Another port of this machine is another site here.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["from_a_browser", "of_another_page"]

_SAFE: Final = frozenset({"GET", "HEAD"})
_FOREIGN: Final = frozenset({"cross-site", "same-site"})


def of_another_page(method: str, host: str, headers: Mapping[str, str]) -> bool:
    """Tell whether another page is behind a request to one of the console's own; `host` was judged before.

    What changes something has to show that the console's own page sent it. What only reads must not be shown to come from
    elsewhere, but a link that a person follows may.
    """
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    if origin is not None:
        return origin.lower() != f"http://{host.lower()}"
    if method not in _SAFE:
        return site != "same-origin"
    navigates = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    return site in _FOREIGN and not navigates


def from_a_browser(headers: Mapping[str, str]) -> bool:
    """Tell whether any page at all is behind a request; programs send neither line."""
    return "Origin" in headers or "Sec-Fetch-Site" in headers
