"""URLs of indicators and of texts, compared by what they address and not by how they are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from herma.policy.address import Host, parse_address, url_host
from herma.policy.indicator.name import ascii_name

__all__ = ["Locator", "locators", "parse_locator", "place_of"]

_LOCATOR = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]{1,20}):[/\\]{2,4})?((?:[^\s/\\?#\"'<>|;,()]{0,256}@)?(?:\[[0-9A-Fa-f:.]{2,45}\]|[^\s/\\?#\"'<>|;,()@]{1,256})(?::[0-9]{1,5})?)"
    r"([/\\?][^\s\"'<>|;]{0,2048})?"
)
_PLACE = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?:/[\w.-]{1,100}){1,4}/?", re.ASCII)
_SCP = re.compile(
    r"(@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}):(?=[\w~])(?![0-9]{1,5}(?:[/\s]|\Z))", re.ASCII
)
# A word without a scheme and without one of these is a word.
_HOST_MARKS = {".", ":", "%", "\u3002", "\uff0e", "\uff61"}
_ESCAPED = re.compile(r"%([0-9a-fA-F]{2})")
_SENTENCE_END = ".,:!)]}'`"
# Browsers and download tools go from one to the other by themselves.
_DEFAULT_PORTS = {None, 80, 443}


@dataclass(frozen=True, slots=True)
class Locator:
    """What a URL addresses; `host` is an address or a name in one spelling, `path` is resolved and lower-case.

    `open_end` marks an indicator that stands for everything that begins so.
    """

    host: str
    port: int | None
    path: str
    query: str = ""
    open_end: bool = False

    def covers(self, other: "Locator") -> bool:
        """Tell whether `other` lies at or below this one; a query counts only where this one has it."""
        if self.host != other.host:
            return False
        ports = {self.port, other.port}
        if len(ports) > 1 and not ports <= _DEFAULT_PORTS:
            return False
        if self.open_end:
            whole = f"{other.path}?{other.query}" if other.query else other.path
            return whole.startswith(f"{self.path}?{self.query}" if self.query else self.path)
        if self.query and self.query != other.query:
            return False
        if other.path == self.path or (not self.query and other.path.startswith(self.path + "/")):
            return True
        return not self.query and other.path == self.path + ".git"


def parse_locator(value: str) -> Locator:
    """Read an indicator's URL; `*` at its end stands for any continuation.

    Raises:
        ValueError: there is no scheme or no host.
    """
    match = _LOCATOR.fullmatch(value.removesuffix("*"))
    made = _locator(match[1], match[2], match[3]) if match is not None and match[1] else None
    if made is None or not set(made.host) & {".", ":"}:
        raise ValueError("expected a URL with scheme and host, without blanks and quotes")
    if not value.endswith("*"):
        return made
    return Locator(made.host, made.port, made.path, made.query, open_end=True)


def place_of(value: str) -> Locator | None:
    """Read `forge.example/owner/repository`, as people publish repositories; None for any other text."""
    if _PLACE.fullmatch(value) is None:
        return None
    return parse_locator(f"https://{value.lower().removesuffix('.git')}")


def locators(text: str) -> Iterator[Locator]:
    """Give what a text names like a URL, with a scheme or without one, or like `scp` and `git` name a repository.

    All of it, as of hosts: who asks bounds the text.
    """
    text = _SCP.sub(r"\1/", text)
    likely = (match for match in _LOCATOR.finditer(text) if match[1] or set(match[2]) & _HOST_MARKS)
    # What a list repeats is taken apart once.
    parts = dict.fromkeys((match[1], match[2], match[3]) for match in likely)
    yield from (locator for one in parts if (locator := _locator(*one)) is not None)


def _locator(scheme: str | None, authority: str, rest: str | None) -> Locator | None:
    host = url_host(authority, scheme or "")
    if host is None:
        return None
    path, _, query = (rest or "").partition("#")[0].rstrip(_SENTENCE_END).partition("?")
    return Locator(_host(host), host.port, _path(path), _decoded(query))


def _host(host: Host) -> str:
    address = host.address or parse_address(host.name)
    return str(address) if address is not None else ascii_name(host.name)


def _decoded(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).lower()


def _path(path: str) -> str:
    parts: list[str] = []
    for part in _decoded(path).replace("\\", "/").split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "".join("/" + part for part in parts)
