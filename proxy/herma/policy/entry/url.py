"""What is wrong with the address of a remote server entry."""

import re
from collections.abc import Iterator, Mapping, Sequence

from herma.policy.address import Host, is_foreign, is_metadata, url_host
from herma.policy.entry.lookalike import is_near
from herma.policy.entry.script import mixes_scripts
from herma.policy.entry.source import Sources, under

__all__ = ["imitates", "url_effects"]

_SCHEMES = frozenset({"http", "https", "ws", "wss", "sse", "http+sse", "https+sse"})
# As browsers read it: any number of slashes, in either direction, behind a scheme.
_URL = re.compile(r"\s{0,8}([A-Za-z][A-Za-z0-9+.-]{0,20}):([/\\]{0,8})([^/?#\\]{0,512})")
# An address that takes its scheme from somewhere, and a share of Windows.
_WITHOUT_SCHEME = re.compile(r"\s{0,8}[/\\]{2}")
_SOCKET = re.compile(r"(?i)\.sock\b|%2fsock")
# Control services of this host or cluster: what answers there acts for whoever asks.
_CONTROL_PORTS = frozenset({2375, 2376, 2379, 6379, 6443, 8200, 8642, 9119, 10250, 10255})
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
    if "\\" in url or _WITHOUT_SCHEME.match(url) is not None or _SOCKET.search(url) is not None:
        yield "url:form"
    match = _URL.match(url)
    host = None
    if match is not None:
        scheme = match[1].lower()
        host = url_host(match[3], scheme)
        if scheme not in _SCHEMES or (host is not None and _is_disguised(host, match[2], match[3])):
            yield "url:form"
        if host is not None:
            yield from _of_host(host, scheme, sources)
            if any(_renames(host, name, value) for name, value in headers.items()):
                yield "url:internal"
    if _leaks_key(url, host) or (host is not None and _misdirects(host, headers)):
        yield "url:secret"
    bridged = any(word.rpartition("/")[2].partition("@")[0] in sources.bridges for word in words)
    for word in words:
        inner = _URL.match(word) if word[:4].lower() == "http" else None
        if inner is not None and (target := url_host(inner[3], "")) is not None:
            if is_metadata(target):
                yield "url:internal"
            if bridged:
                yield from _of_host(target, inner[1].lower(), sources)
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
    if host.address is None and not under(host, known) and imitates(host.name, known):
        yield "url:imitates"
    if any(label.startswith("xn--") for label in host.name.split(".")):
        yield "url:encoded"


def imitates(name: str, known: frozenset[str]) -> bool:
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


def _renames(host: Host, header: str, value: str) -> bool:
    """Tell whether a header asks for another host, one of this machine or its cloud."""
    if header.strip().lower() not in {"host", "x-forwarded-host"}:
        return False
    asked = url_host(value.strip())
    return asked is not None and asked.name != host.name and (not is_foreign(asked) or is_metadata(asked))


def _is_disguised(host: Host, slashes: str, authority: str) -> bool:
    """Tell whether the host is not what a reader takes it for, or cannot be traced at all."""
    # One slash, none or many: programs disagree about where the host begins.
    return len(slashes) != 2 or host.userinfo or host.name.endswith(".onion") or mixes_scripts(authority)


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
    OpenAI, and the agent's or the machine's own secrets sent to anybody, are not.
    """
    leaves = host is None or is_foreign(host) or "$" in host.name
    name = _VARIABLE.sub("", host.name) if host is not None else ""
    return any(
        _OWN_NAME.match(variable) is not None
        or (leaves and _MACHINE_NAME.search(variable) is not None)
        or (_is_key(variable) and not _belongs(variable, name))
        for variable in _VARIABLE.findall(url)
    )


def _misdirects(host: Host, headers: Mapping[str, str]) -> bool:
    """Tell whether a header sends the key of a model or cloud to somebody else.

    A header that says whose key it is (`X-OpenAI-Key`) is how tools ask for one; `Authorization` with one key may be a
    gateway's.
    """
    for header, value in headers.items():
        found = _VARIABLE.findall(value)
        if any(_OWN_NAME.match(variable) for variable in found):
            return True
        if is_foreign(host) and any(_is_machines(variable, header) for variable in found):
            return True
        keys = [
            variable
            for variable in found
            if _is_key(variable)
            and not _belongs(variable, host.name)
            and not _vendors(variable) & set(re.split(r"[^a-z0-9]", header.lower()))
            and (len(found) > 1 or header.lower() != "authorization" or "aws" in _vendors(variable))
        ]
        if keys and is_foreign(host):
            return True
    return False


def _is_key(variable: str) -> bool:
    return _SECRET_NAME.search(variable) is not None and bool(_vendors(variable))


def _vendors(variable: str) -> frozenset[str]:
    """Give the vendors that a variable names, wherever in its name."""
    return _MODEL_VENDORS.intersection(variable.lower().split("_"))


def _belongs(variable: str, host: str) -> bool:
    """Tell whether a key goes to its vendor: to a domain of its name, or to the first word's, whoever that is.

    `openai.drop.example` is not OpenAI's; forges are run by many under a name of their own.
    """
    first = variable.lower().split("_")[0]
    if first not in _MODEL_VENDORS and first in host:
        return True
    labels = host.split(".")
    own = labels[-2:-1] if len(labels) < 3 or len(labels[-2]) > 3 else labels[-3:-1]
    return any(
        vendor in host if vendor in _RUN_BY_MANY else any(vendor in label for label in own)
        for vendor in _vendors(variable)
    )


def _is_machines(variable: str, header: str) -> bool:
    """Tell whether a variable holds a secret of this machine; a header that says so asks for it openly."""
    found = _MACHINE_NAME.search(variable)
    return found is not None and found[found.lastindex or 0].lower() not in header.lower().replace("-", "_")


_RUN_BY_MANY = frozenset({"gitlab", "github", "gh"})
# What opens a database, an account of this machine or a cluster, and belongs to no service on the net.
_MACHINE_NAME = re.compile(
    r"(?i)(?:^|_)(DATABASE|POSTGRES(?:QL)?|PG|MYSQL|MONGO(?:DB)?|REDIS|AMQP|DB)_?(?:URL|URI|DSN|PASS(?:WORD)?|CONNECTION_STRING)$"
    r"|(?:^|_)(SUDO|ROOT|SYSTEM|LOGIN|SSH|GPG|KEYCHAIN|VAULT)_(?:PASS(?:WORD|PHRASE)?|KEY|PRIVATE_KEY|AUTH_SOCK)$"
    r"|^(KUBECONFIG|NETRC|SSH_AUTH_SOCK|DOCKER_AUTH_CONFIG|ENCRYPTION_KEY|PRIVATE_KEY|JWT_SECRET|SECRET_KEY|MASTER_KEY)$"
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
