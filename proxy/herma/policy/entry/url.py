"""What is wrong with the address of a remote server entry."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from herma.policy.address import Host, is_foreign, is_metadata, url_host
from herma.policy.entry.lookalike import is_near
from herma.policy.entry.source import Sources, under

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


def url_effects(
    url: str, headers: Mapping[str, str], words: Sequence[str], sources: Sources
) -> Iterator[str]:
    """Give the effects of using an address with these headers, and of addresses among the words of a command."""
    if _BREAK.search(url) or any(_BREAK.search(name + value) for name, value in headers.items()):
        yield "url:form"
    match = _URL.match(url)
    host = None
    if match is not None:
        scheme = match[1].lower()
        host = url_host(match[2], scheme)
        if scheme not in _SCHEMES or "\\" in url or (host is not None and _is_disguised(host, match[2])):
            yield "url:form"
        if host is not None:
            yield from _of_host(host, scheme, sources)
    if _leaks_key(url, host) or (host is not None and _misdirects(host, headers)):
        yield "url:secret"
    for word in words:
        inner = _URL.match(word) if word[:4].lower() == "http" else None
        if inner is not None and (target := url_host(inner[2], "")) is not None:
            if is_metadata(target):
                yield "url:internal"
            if "$" in word and _leaks_key(word, target):
                yield "url:secret"


def _of_host(host: Host, scheme: str, sources: Sources) -> Iterator[str]:
    if _is_internal(host):
        yield "url:internal"
    if not is_foreign(host):
        return
    if host.address is not None and scheme in {"http", "ws"}:
        yield "url:plain"
    if under(host, sources.names("paste")):
        yield "url:paste"
    known = sources.names("vendor")
    if host.address is None and not under(host, known) and _imitates(host.name, known):
        yield "url:imitates"
    if any(label.startswith("xn--") for label in host.name.split(".")):
        yield "url:encoded"


def _imitates(name: str, known: frozenset[str]) -> bool:
    """Tell whether a host carries a vendor's name in front of another domain, or differs from it by a letter."""
    labels = name.split(".")
    own = labels[-2] if len(labels) > 1 else name
    for vendor in known:
        if name.startswith((f"{vendor}.", f"{vendor}-")) or f".{vendor}." in name:
            return True
        word = vendor.split(".")[-2]
        if len(word) >= MIN_VENDOR_LETTERS and own != word and own.translate(_DIGITS) == word:
            return True
        if len(word) >= MIN_VENDOR_LETTERS and is_near(own, word):
            return True
    return False


# Of fewer letters, one wrong makes another firm's name.
MIN_VENDOR_LETTERS = 6
_DIGITS = str.maketrans("0135", "oles")


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


def _leaks_key(url: str, host: Host | None) -> bool:
    """Tell whether a variable with a key goes to a host it does not belong to.

    `${EXA_API_KEY}` sent to mcp.exa.ai is how remote servers are used; `${OPENAI_API_KEY}` sent anywhere else than to
    OpenAI, and the agent's own keys sent to anybody, are not.
    """
    name = _VARIABLE.sub("", host.name) if host is not None else ""
    for variable in _VARIABLE.findall(url):
        if _OWN_NAME.match(variable) or (_is_key(variable) and _vendor(variable) not in name):
            return True
    return False


def _misdirects(host: Host, headers: Mapping[str, str]) -> bool:
    """Tell whether a header sends the key of a model or cloud to somebody else.

    A header that says whose key it is (`X-OpenAI-Key`) is how tools ask for one; `Authorization` with one key may be a
    gateway's.
    """
    for header, value in headers.items():
        found = _VARIABLE.findall(value)
        if any(_OWN_NAME.match(variable) for variable in found):
            return True
        keys = [
            variable
            for variable in found
            if _is_key(variable)
            and _vendor(variable) not in host.name + header.lower()
            and (len(found) > 1 or header.lower() != "authorization" or _vendor(variable) == "aws")
        ]
        if keys and is_foreign(host):
            return True
    return False


def _is_key(variable: str) -> bool:
    return _SECRET_NAME.search(variable) is not None and _vendor(variable) in _MODEL_VENDORS


def _vendor(variable: str) -> str:
    return variable.lower().split("_")[0]


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
