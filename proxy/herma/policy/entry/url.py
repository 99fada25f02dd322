"""What is wrong with the address of a remote server entry."""

import re
import unicodedata
from collections.abc import Mapping

from herma.policy.address import Host, is_metadata, url_host

__all__ = ["url_effects"]

_SCHEMES = frozenset({"http", "https", "ws", "wss", "sse", "http+sse", "https+sse"})
_URL = re.compile(r"\s{0,8}([A-Za-z][A-Za-z0-9+.-]{0,20}):(?:/{2,4})?([^/?#\\]{0,512})")
# Control services of this host or cluster: what answers there acts for whoever asks.
_CONTROL_PORTS = frozenset({2375, 2376, 6443, 8642, 9119, 10250, 6379})
_CONTROL_NAMES = frozenset(
    {"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
)
_LOCAL_NAMES = frozenset({"localhost", "host.docker.internal", "ip6-localhost"})
_VARIABLE = re.compile(r"\$\{?(?:env:)?([A-Za-z_]\w{0,60})\}?")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_OWN_NAME = re.compile(r"(?i)^(?:hermes|api_server)_")
_BREAK = re.compile(r"[\r\n\x00]|%0[ad]|%00", re.IGNORECASE)


def url_effects(url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Give the ids of the rules that apply to the address and the headers sent to it, most telling first."""
    found: list[str] = []
    match = _URL.match(url)
    if _BREAK.search(url) or any(_BREAK.search(name + value) for name, value in headers.items()):
        found.append("mcp-url-form")
    if match is not None:
        scheme = match[1].lower()
        host = url_host(match[2], scheme)
        if scheme not in _SCHEMES or (host is not None and _is_disguised(host, match[2])):
            found.append("mcp-url-form")
        if host is not None and _is_internal(host):
            found.append("mcp-url-internal")
        if _leaks_key(url, host, headers):
            found.append("mcp-url-secret")
    return tuple(dict.fromkeys(found))


def _is_disguised(host: Host, authority: str) -> bool:
    """Tell whether the host is not what a reader takes it for, or cannot be traced at all."""
    return host.userinfo or host.name.endswith(".onion") or _mixes_scripts(authority)


def _mixes_scripts(text: str) -> bool:
    """Tell whether one label has Latin letters beside look-alikes of another script (Unicode TR 39, section 5.1)."""
    if text.isascii():
        return False
    for label in re.split(r"[.\u3002]", unicodedata.normalize("NFKC", text)):
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in label if letter.isalpha()}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
            return True
    return False


def _is_internal(host: Host) -> bool:
    if is_metadata(host) or host.name in _CONTROL_NAMES:
        return True
    local = host.name in _LOCAL_NAMES or (
        host.address is not None and (host.address.is_loopback or host.address.is_unspecified)
    )
    return local and (
        host.port in _CONTROL_PORTS or (host.address is not None and host.address.is_unspecified)
    )


def _leaks_key(url: str, host: Host | None, headers: Mapping[str, str]) -> bool:
    """Tell whether a variable with a key goes to a host it does not belong to.

    `${EXA_API_KEY}` sent to mcp.exa.ai is how remote servers are used; `${OPENAI_API_KEY}` sent anywhere else than to
    OpenAI, and the agent's own keys sent to anybody, are not.
    """
    name = _VARIABLE.sub("", host.name) if host is not None else ""
    for variable in _VARIABLE.findall(url):
        vendor = variable.lower().split("_")[0]
        if _SECRET_NAME.search(variable) and vendor in _MODEL_VENDORS and vendor not in name:
            return True
    return any(
        _OWN_NAME.match(variable) for text in (url, *headers.values()) for variable in _VARIABLE.findall(text)
    )


# Keys that agents hold for themselves; those of tools are meant to be sent to the tool.
_MODEL_VENDORS = frozenset(
    [
        "openai",
        "anthropic",
        "openrouter",
        "gemini",
        "google",
        "mistral",
        "groq",
        "deepseek",
        "xai",
        "together",
        "fireworks",
        "cohere",
        "aws",
        "azure",
        "gh",
        "github",
        "gitlab",
        "stripe",
        "nous",
        "kimi",
        "moonshot",
        "minimax",
        "zai",
        "glm",
        "huggingface",
        "hf",
        "telegram",
        "discord",
        "slack",
    ]
)
