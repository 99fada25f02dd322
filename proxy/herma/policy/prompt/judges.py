"""What is judged in code: characters that hide, keys in commands, addresses of metadata."""

import re
from collections.abc import Callable
from typing import Final

from herma.policy.address import Host, hosts, is_metadata
from herma.policy.text.views import conceals

__all__ = ["JUDGES"]

_KEY = re.compile(
    r"\$(?:env:)?\{?((?:[A-Za-z0-9_]{0,60}?)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API)[A-Za-z0-9_]{0,30})",
    re.IGNORECASE,
)
_FETCHER = re.compile(r"\b(?:curl|wget|http|iwr|invoke-webrequest)\b", re.IGNORECASE)
_COMMAND_END = re.compile(r"[|;\n]|&&")
# Only what names a host in one of these ways can be an address of metadata.
_ADDRESS = re.compile(r"[0-9][0-9a-fA-FxX.:]{4}")
_NAMES: Final = ("://", "metadata", "instance-data", "::", "fd00:")
_ALIASES = {
    "gh": "github",
    "hf": "huggingface",
    "gl": "gitlab",
    "do": "digitalocean",
    "cf": "cloudflare",
    "dd": "datadog",
    "sg": "sendgrid",
    "aws": "amazonaws",
    "gcp": "googleapis",
    "google": "googleapis",
    "gemini": "googleapis",
    "claude": "anthropic",
    "pd": "pagerduty",
    "ha": "homeassistant",
    "hass": "homeassistant",
}
# Second-level labels under which registries sell names: `example.co.uk`.
_SHARED_LABELS = frozenset({"co", "com", "org", "net", "gov", "ac", "edu"})


def _sends_key(text: str) -> bool:
    """Tell whether a download command carries a key to a host that is not its vendor's.

    The vendor is the first word of the variable: `$GITHUB_TOKEN` may go to `api.github.com`, and not to
    `api.github.com.example` or `api.github.com@example`.
    """
    if "$" not in text:
        return False
    for command in _COMMAND_END.split(text):
        if _FETCHER.search(command) is None or (key := _KEY.search(command)) is None:
            continue
        addressed = [host for host in hosts(command) if host.scheme]
        vendor = key[1].lower().split("_")[0]
        vendor = _ALIASES.get(vendor, vendor)
        if not addressed or any(
            host.userinfo or "@" in command.partition("://")[2] or not _belongs(host, vendor)
            for host in addressed
        ):
            return True
    return False


def _belongs(host: Host, vendor: str) -> bool:
    labels = host.name.split(".")
    owner = labels[-3:-2] if labels[-2:-1] and labels[-2] in _SHARED_LABELS else labels[-2:-1]
    return len(vendor) > 2 and bool(owner) and owner[0].startswith(vendor)


def _asks_metadata(text: str) -> bool:
    if text.isascii() and _ADDRESS.search(text) is None and not any(name in text.lower() for name in _NAMES):
        return False
    return any(is_metadata(host) and host.name != "metadata" for host in hosts(text))


JUDGES: Final[dict[str, Callable[[str], bool]]] = {
    "concealed": conceals,
    "command_key": _sends_key,
    "metadata": _asks_metadata,
}
