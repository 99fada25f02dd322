"""Published indicators of compromise, and where a text holds one.

Each is compared as what it is: an address in any spelling, a domain by label, a package in its ecosystem and version.
Text that is merely similar is no match: `60.165.167.` lies inside `160.165.167.20`, and an npm package may be hostile where
the PyPI one of the same name is official.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network

import ahocorasick_rs

from herma.policy.address import Host, hosts, spellings
from herma.policy.command.path import resolve_path
from herma.policy.decision import Finding, Level
from herma.policy.entry.package import Package, packages, version_matches

__all__ = ["Action", "Indicator", "IndicatorSet", "Matching"]

_WORD_EDGE = r"(?<![A-Za-z0-9_]){}(?![A-Za-z0-9_])"
_PATH = re.compile(r"(?:~[\w.-]{0,32}|\$\{?HOME\}?)?/[^\s'\"`;|&<>(){}\\]{1,512}")
# A host of digits that is no dotted quad: an address in an unusual spelling, of which there are too many to list.
_ODD = r"://(?:[^/\s@]{1,64}@)?(?:\[[0-9a-f:.]{2,45}\]|0x[0-9a-f]|0[0-7]|[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}\.?[0-9]{4})"
_ODD_HOST = re.compile(_ODD)
_ODD_HOST_BYTES = re.compile(_ODD.encode())
# Shorter words are in every text.
_SHORTEST_GATE_WORD = 4


class Matching(StrEnum):
    """How a value is compared."""

    EXACT = "exact"
    SUBSTRING = "substring"
    CASEFOLD = "casefold"
    WORD = "word"
    PREFIX = "prefix"
    REGEX = "regex"
    PATH = "path"
    ADDRESS = "address"
    DOMAIN = "domain"
    PACKAGE = "package"
    SCOPE = "scope"


class Action(StrEnum):
    """`block` refuses, `alert` only reports, `context` counts beside another indicator only."""

    BLOCK = "block"
    ALERT = "alert"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Indicator:
    """One published value; `entry_only` ones (server names, environment) mean nothing outside a server entry."""

    id: str
    value: str
    matching: Matching
    action: Action
    campaign: str
    ecosystem: str = ""
    versions: tuple[str, ...] = ()
    entry_only: bool = False

    def finding(self, place: str) -> Finding:
        """Say that the indicator was met at `place`."""
        levels = {
            Action.BLOCK: Level.CRITICAL,
            Action.ALERT: Level.MEDIUM,
            Action.CONTEXT: Level.INFORMATIONAL,
        }
        return Finding(f"ioc-{self.id}", levels[self.action], place)


class IndicatorSet:
    """All indicators, arranged for a quick first look at raw bytes and an exact second look at text."""

    def __init__(self, indicators: Sequence[Indicator]) -> None:
        if not indicators:
            raise ValueError("an empty indicator set would find nothing")
        self.indicators = tuple(indicators)
        free = [indicator for indicator in indicators if not indicator.entry_only]
        self._addresses = [
            (indicator, *_network(indicator.value))
            for indicator in free
            if indicator.matching is Matching.ADDRESS
        ]
        self._domains: dict[str, list[tuple[Indicator, int | None]]] = {}
        for indicator in free:
            if indicator.matching is Matching.DOMAIN:
                name, _, port = indicator.value.partition(":")
                self._domains.setdefault(name, []).append((indicator, int(port) if port else None))
        self._packages: dict[tuple[str, str], list[Indicator]] = {}
        for indicator in free:
            if indicator.matching in {Matching.PACKAGE, Matching.SCOPE}:
                self._packages.setdefault((indicator.ecosystem, indicator.value.lower()), []).append(
                    indicator
                )
        self._paths = [
            (indicator, resolve_path(indicator.value))
            for indicator in free
            if indicator.matching is Matching.PATH
        ]
        self._texts = [
            (indicator, _pattern(indicator)) for indicator in free if indicator.matching in _TEXTUAL
        ]
        self.names = [
            (
                indicator,
                re.compile(indicator.value)
                if indicator.matching is Matching.REGEX
                else re.compile(re.escape(indicator.value)),
            )
            for indicator in indicators
            if indicator.entry_only
        ]
        by_id = {item.id: frozenset(_gate_words(item)) for item in free}
        for item in free:
            # A word of three letters, a pattern without a literal: met beside other indicators only, which is good
            # enough to report and not to refuse.
            if not by_id[item.id] and item.action is Action.BLOCK:
                raise ValueError("an indicator has no word that the first look could find")
        words = sorted(frozenset[bytes]().union(*by_id.values()))
        # Twice as fast as the automatic choice on prose, for 80 ms and a few MiB once at the start.
        self._gate = ahocorasick_rs.BytesAhoCorasick(words, implementation=ahocorasick_rs.Implementation.DFA)
        self._finder = ahocorasick_rs.AhoCorasick([word.decode() for word in words])

    def suspects(self, lowered: bytes) -> bool:
        """Take the quick look: False means that no indicator is in these lower-cased bytes, plain or base64 or hex."""
        return (
            bool(self._gate.find_matches_as_indexes(lowered)) or _ODD_HOST_BYTES.search(lowered) is not None
        )

    def places(self, text: str) -> list[int]:
        """Give about where a text holds a suspicious word, in order."""
        lowered = text.lower()
        words = [start for _, start, _ in self._finder.find_matches_as_indexes(lowered)]
        return sorted([*words, *(match.start() for match in _ODD_HOST.finditer(lowered))])

    def find(self, text: str) -> Iterator[tuple[Indicator, int]]:
        """Give the indicators in a text and about where each begins (0 where only the whole text says so)."""
        for indicator, pattern in self._texts:
            if (match := pattern.search(text)) is not None:
                yield indicator, match.start()
        for host in hosts(text):
            yield from ((indicator, max(text.lower().find(host.name), 0)) for indicator in self.of_host(host))
        for match in _PATH.finditer(text):
            path = resolve_path(match[0])
            for indicator, value in self._paths:
                if path == value or path.startswith(value + "/"):
                    yield indicator, match.start()
        yield from ((indicator, 0) for package in packages(text) for indicator in self.of_package(package))

    def of_host(self, host: Host) -> Iterator[Indicator]:
        """Give the indicators that name this host or a domain it lies in."""
        if host.address is not None:
            for indicator, network, port in self._addresses:
                if host.address in network and port in {None, host.port}:
                    yield indicator
            return
        labels = host.name.split(".")
        for start in range(len(labels) - 1):
            for indicator, port in self._domains.get(".".join(labels[start:]), ()):
                if port is None or host.port in {None, port}:
                    yield indicator

    def of_package(self, package: Package) -> Iterator[Indicator]:
        """Give the indicators of a package in its ecosystem, if the version is one of theirs."""
        for name in (package.name, package.name.partition("/")[0]):
            for indicator in self._packages.get((package.ecosystem, name), ()):
                if (indicator.matching is Matching.SCOPE) == (name != package.name) and version_matches(
                    package.version, indicator.versions
                ):
                    yield indicator

    def of_names(self, names: Iterable[str]) -> Iterator[Indicator]:
        """Give the indicators that name a server, an environment variable or an assignment as a whole."""
        for name in names:
            yield from (indicator for indicator, pattern in self.names if pattern.fullmatch(name))


def _network(value: str) -> tuple[IPv4Network, int | None]:
    address, _, port = value.partition(":")
    return IPv4Network(address), int(port) if port else None


_TEXTUAL = {
    Matching.EXACT,
    Matching.SUBSTRING,
    Matching.CASEFOLD,
    Matching.WORD,
    Matching.PREFIX,
    Matching.REGEX,
}


def _pattern(indicator: Indicator) -> re.Pattern[str]:
    literal = re.escape(indicator.value)
    match indicator.matching:
        case Matching.CASEFOLD:
            return re.compile(literal, re.IGNORECASE)
        case Matching.WORD:
            return re.compile(_WORD_EDGE.format(literal), re.IGNORECASE | re.ASCII)
        case Matching.EXACT:
            return re.compile(rf"(?<![\w.-]){literal}(?![\w-])", re.ASCII)
        case Matching.PREFIX:
            return re.compile(rf"(?<![A-Za-z0-9]){literal}")
        case Matching.REGEX:
            return re.compile(indicator.value)
        case _:
            return re.compile(literal)


def _gate_words(indicator: Indicator) -> Iterator[bytes]:
    """Give lower-case bytes one of which is in every text that holds the indicator, plain, base64 or hex."""
    value = indicator.value.lower()
    match indicator.matching:
        case Matching.ADDRESS:
            network, _ = _network(value)
            plain = (
                spellings(str(network.network_address))
                if network.num_addresses == 1
                else (str(network.network_address).rpartition(".")[0] + ".",)
            )
        case Matching.DOMAIN:
            plain = (value.partition(":")[0],)
        case Matching.PATH:
            # The last part stays the same however the path is written.
            plain = ("/" + value.rpartition("/")[2],)
        case Matching.REGEX:
            # The longest literal run; a pattern without one is no use in a first look.
            plain = (max(re.findall(r"[a-z0-9_./-]{4,}", re.sub(r"\\.", " ", value)), key=len, default=""),)
        case _:
            plain = (value,)
    for word in plain:
        if len(word) >= _SHORTEST_GATE_WORD:
            raw = word.encode()
            yield raw
            yield raw.hex().encode()
            if len(raw) >= 6:
                yield from (
                    form.lower() for form in _base64_forms(indicator.value.encode() if word == value else raw)
                )


def _base64_forms(raw: bytes) -> Iterator[bytes]:
    """Give what base64 makes of `raw` at each of the three alignments, without the characters its neighbours change."""
    for offset in range(3):
        form = base64.b64encode(b"\0" * offset + raw)
        start = (0, 2, 3)[offset]
        whole = (len(raw) + offset) * 8 // 6
        yield form[start:whole]
