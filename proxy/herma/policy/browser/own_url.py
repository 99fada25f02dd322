"""The address of one of the gate's pages, as a browser knows it that made the request at hand."""

from herma.policy.browser.page import Page
from herma.policy.message.canonical import Head

__all__ = ["own_url"]

_DEFAULT_PORTS = {"http": 80, "https": 443}


def own_url(head: Head, proto: str, page: Page) -> str:
    """Return the address.

    The host is that of the request, which was compared with the configured names before there was a `Head` to speak of; `proto`
    is `http` or `https`, from the connection or a trusted proxy.
    """
    host = f"[{head.host}]" if ":" in head.host else head.host
    port = "" if head.port in {None, _DEFAULT_PORTS[proto]} else f":{head.port}"
    return f"{proto}://{host}{port}{page.path}"
