"""All indicators, arranged for a quick first look at raw bytes and an exact second look at text.

The second look asks only those indicators whose words the text holds: a list of twenty thousand costs a text no more than
one of ten.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import ahocorasick_rs

from herma.policy.address import Host, hosts
from herma.policy.command.path import resolve_path
from herma.policy.entry.package import Package, packages, version_matches
from herma.policy.entry.runner import RUNNER_WORDS
from herma.policy.indicator.disguise import undisguised
from herma.policy.indicator.glance import ODD_HOST, ODD_HOST_BYTES, ODD_NUMBER, encoded_words, words
from herma.policy.indicator.indicator import Action, Indicator, Matching
from herma.policy.indicator.matching import AS_PLACES, TEXTUAL, finder, whole
from herma.policy.indicator.name import ascii_name
from herma.policy.indicator.network import Networks
from herma.policy.indicator.url import Locator, locators, parse_locator, place_of

__all__ = ["IndicatorSet"]

# A DFA is twice as fast as the automatic choice on prose, for 80 ms and a few MiB once at the start; for long lists it
# would take gigabytes.
MAX_DFA_BYTES = 256 * 1024

_PATH = re.compile(r"(?:~[\w.-]{0,32}|\$\{?HOME\}?)?/[^\s'\"`;|&<>(){}\\]{1,512}")
_NAMED = {Matching.PACKAGE, Matching.SCOPE}
_HOSTED = {Matching.ADDRESS, Matching.DOMAIN}


class IndicatorSet:
    """Finds indicators; the order of what is found is that of the text's parts, not of the list."""

    def __init__(self, indicators: Sequence[Indicator]) -> None:
        if not indicators:
            raise ValueError("an empty indicator set would find nothing")
        self.indicators = tuple(indicators)
        self.names = [(item, whole(item)) for item in indicators if item.entry_only]
        free = [item for item in indicators if not item.entry_only]
        self._arrange(free)
        by_word: dict[str, list[Indicator]] = {}
        seen: set[bytes] = set()
        # A word of three letters, a pattern without a literal: looked for in texts that are read for another reason,
        # which is good enough to report and not to refuse.
        self._wordless: list[Indicator] = []
        for item in free:
            found = words(item)
            if not found and item.action is Action.BLOCK:
                raise ValueError("an indicator has no word that the first look could find")
            if not found:
                self._wordless.append(item)
            for word in found:
                by_word.setdefault(word, []).append(item)
            seen.update(encoded_words(item))
        self._by_word = list(by_word.values())
        raw = sorted(seen)
        self._gate = ahocorasick_rs.BytesAhoCorasick(raw, implementation=_implementation(raw))
        self._words = ahocorasick_rs.AhoCorasick(list(by_word))
        self._finder = ahocorasick_rs.AhoCorasick([word.decode() for word in raw])

    def _arrange(self, free: Sequence[Indicator]) -> None:
        self._networks = Networks()
        self._domains: dict[str, list[tuple[Indicator, int | None]]] = {}
        self._packages: dict[tuple[str, str], list[Indicator]] = {}
        self._paths: dict[str, list[Indicator]] = {}
        self._texts = {item.id: finder(item) for item in free if item.matching in TEXTUAL}
        self._urls = {item.id: parse_locator(item.value) for item in free if item.matching is Matching.URL}
        # Repositories are published as text; a program that is given one accepts it in more ways than that.
        places = ((item, place_of(item.value)) for item in free if item.matching in AS_PLACES)
        self._urls |= {item.id: place for item, place in places if place is not None}
        self._urls_of: dict[str, list[tuple[Indicator, Locator]]] = {}
        for item in free:
            if (url := self._urls.get(item.id)) is not None:
                self._urls_of.setdefault(url.host, []).append((item, url))
        for item in free:
            match item.matching:
                case Matching.ADDRESS:
                    self._networks.add(item)
                case Matching.DOMAIN:
                    name, _, port = item.value.partition(":")
                    self._domains.setdefault(ascii_name(name), []).append((item, int(port) if port else None))
                case Matching.PACKAGE | Matching.SCOPE:
                    self._packages.setdefault((item.ecosystem, item.value.lower()), []).append(item)
                case Matching.PATH:
                    self._paths.setdefault(resolve_path(item.value), []).append(item)
                case _:
                    pass

    def suspects(self, lowered: bytes) -> bool:
        """Take the quick look: False means that no indicator is in these lower-cased bytes, plain or base64 or hex."""
        return bool(self._gate.find_matches_as_indexes(lowered)) or ODD_HOST_BYTES.search(lowered) is not None

    def names_one(self, text: str) -> bool:
        """Take the quick look at a text for words of indicators as they are written, odd spellings left out."""
        return bool(self._finder.find_matches_as_indexes(text.lower()))

    def byte_places(self, lowered: bytes) -> list[int]:
        """Give about where such bytes hold a suspicious word, in order."""
        found = [start for _, start, _ in self._gate.find_matches_as_indexes(lowered)]
        return sorted([*found, *(match.start() for match in ODD_HOST_BYTES.finditer(lowered))])

    def places(self, text: str) -> list[int]:
        """Give about where a text holds a suspicious word, in order."""
        lowered = text.lower()
        found = [start for _, start, _ in self._finder.find_matches_as_indexes(lowered)]
        return sorted([*found, *(match.start() for match in ODD_HOST.finditer(lowered))])

    def find(self, text: str) -> Iterator[tuple[Indicator, int]]:
        """Give the indicators in a text and about where each begins, -1 where only another spelling of the text says so."""
        yield from self._find(text)
        if (plain := undisguised(text)) != text:
            yield from self._find(plain)

    def _find(self, text: str) -> Iterator[tuple[Indicator, int]]:
        lowered = text.lower()
        rows = {index for index, _, _ in self._words.find_matches_as_indexes(lowered, overlapping=True)}
        likely = dict.fromkeys(
            [*self._wordless, *(item for row in sorted(rows) for item in self._by_word[row])]
        )
        for item in likely:
            if item.id in self._texts and (start := self._texts[item.id](text)) >= 0:
                yield item, start
        kinds = {item.matching for item in likely}
        if kinds & _HOSTED or _may_hide_hosts(lowered):
            for host in hosts(text):
                yield from ((item, lowered.find(host.name)) for item in self.of_host(host))
        if self._urls and (any(item.id in self._urls for item in likely) or _may_hide_hosts(lowered)):
            yield from self._find_urls(text, lowered, likely)
        if Matching.PATH in kinds:
            yield from self._find_paths(text)
        if self._packages and any(runner in lowered for runner in RUNNER_WORDS):
            for package in packages(text):
                yield from ((item, lowered.find(package.name)) for item in self.of_package(package))

    def _find_urls(
        self, text: str, lowered: str, likely: Iterable[Indicator]
    ) -> Iterator[tuple[Indicator, int]]:
        named = None if _may_hide_hosts(lowered) else {item.id for item in likely}
        for locator in locators(text):
            for item, url in self._urls_of.get(locator.host, ()):
                if (named is None or item.id in named) and url.covers(locator):
                    yield item, lowered.find(locator.host)

    def _find_paths(self, text: str) -> Iterator[tuple[Indicator, int]]:
        for match in _PATH.finditer(text):
            path = resolve_path(match[0])
            while path:
                yield from ((item, match.start()) for item in self._paths.get(path, ()))
                path = path.rpartition("/")[0]

    def of_host(self, host: Host) -> Iterator[Indicator]:
        """Give the indicators that name this host or a domain it lies in."""
        if host.address is not None:
            yield from self._networks.of(host.address, host)
        labels = ascii_name(host.name).split(".")
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
            yield from (indicator for indicator, matches in self.names if matches(name))


def _may_hide_hosts(lowered: str) -> bool:
    """Tell whether a text can name a host in a way that no word of the first look shows."""
    odd = ODD_NUMBER.search(lowered) or ODD_HOST.search(lowered)
    return not lowered.isascii() or "%" in lowered or odd is not None


def _implementation(raw: Sequence[bytes]) -> ahocorasick_rs.Implementation | None:
    small = sum(map(len, raw)) <= MAX_DFA_BYTES
    return ahocorasick_rs.Implementation.DFA if small else None
