"""Whether a person waits in front of a browser for a page, and where to send them to log in."""

from herma.policy.browser.local_target import HOME, encoded, local_target
from herma.policy.browser.page import Page
from herma.policy.message.canonical import Head

__all__ = ["is_navigation", "login_location"]


def is_navigation(head: Head) -> bool:
    """Tell whether the request is for a page that is shown to a person.

    Browsers say so with `Sec-Fetch-Mode`; those that do not, and browsers over plain HTTP, ask for HTML before anything else.
    Programs want a 401 that they understand, not a page.
    """
    kinds = [kind.partition(b";")[0].strip().lower() for kind in (head.get(b"accept") or b"").split(b",")]
    if head.method not in {"GET", "HEAD"} or b"text/html" not in kinds:
        return False
    mode = head.get(b"sec-fetch-mode")
    return kinds[0] == b"text/html" if mode is None else mode == b"navigate"


def login_location(head: Head) -> str:
    """Return the login page that leads back to what was asked for."""
    back = local_target(head.target.raw.decode("ascii"))
    return Page.LOGIN.path if back == HOME else f"{Page.LOGIN.path}?next={encoded(back)}"
