"""Addresses of models: where every prompt goes, and with it the key of whom the configuration names beside the address.

Rule 1: near addresses (this machine, its network) and the hosts of known providers are ordinary. A host that nobody knows is told.
Rule 2: where a known provider, or a variable that holds its key, stands beside the address of a stranger, the stranger gets the key.
Rule 3: an address that is read in two ways, or comes from a variable, is a stranger's: it may become anything.
Which providers there are is data: `providers` in the options of rules.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from herma.policy.address import Host, is_foreign, is_metadata, url_host
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.keys import fold
from herma.policy.entry.source import Sources, under
from herma.policy.entry.url import imitates
from herma.policy.rule import Rule

__all__ = ["MEMBERS", "WORDS", "Endpoints", "endpoint_variable", "endpoints_of", "is_endpoint"]

_ENDINGS = ("baseurl", "apibase", "inferenceurl")
# For a first look.
WORDS = frozenset(_ENDINGS)
# Of a provider these are its address, too.
_OF_PROVIDERS = frozenset({"api", "url", "endpoint", "apiurl"})
_KEY_NAMES = ("keyenv", "apikeyenv")
# What may refer to a variable that holds a key.
_KEY_HOLDERS = ("apikey", "headers", "extraheaders", "defaultheaders", "extrabody", "token", "authtoken")
# The members that are read together, folded.
MEMBERS = frozenset(
    {"provider", "id", "name", *_KEY_NAMES, *_KEY_HOLDERS, *_OF_PROVIDERS, *_ENDINGS, "inferencebaseurl"}
)  # fmt: skip
# Variables that say where something answers: the names that providers have for theirs are data.
_VARIABLE = re.compile(r"[A-Z0-9_]{0,60}_(?:BASE_URL|API_BASE|API_BASE_URL|ENDPOINT|INFERENCE_URL)")
_REFERENCE = re.compile(r"\$\{?(?:env:)?([A-Za-z_]\w{0,80})\}?")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20})://([^/?#]{0,512})")
# A scheme without the two slashes behind it: a host to a browser, a path to others.
_LOOSE_URL = re.compile(r"(?:https?|wss?):(?!//)", re.IGNORECASE)
# Signs about which programs disagree: whether they end the host, are left out, or are read as what they encode.
_TWO_READINGS = re.compile(r"[\\@%\s\x00-\x1f\x7f]")
_PLAIN = frozenset({"http", "ws"})
# Texts below a member of headers.
MAX_TEXTS = 64


def is_endpoint(member: str) -> bool:
    """Tell whether a member, folded, holds the address of a model."""
    return member.endswith(_ENDINGS)


def endpoints_of(path: tuple[str, ...], members: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give the addresses that a mapping holds, each with the provider and the keys that go with it.

    `path` are the folded keys that lead to it, `members` its own with their keys folded.
    """
    in_providers = path[-2:-1] == ("providers",) or path[-1:] == ("customproviders",)
    for member, value in members.items():
        told = is_endpoint(member) or (in_providers and member in _OF_PROVIDERS)
        if told and isinstance(value, str) and value.strip():
            fields = {
                "endpoint": value,
                "provider": _provider(path, members),
                "keys": list(_key_names(members)),
            }
            yield Entry(member, fields, place, Kind.ENDPOINT)


def endpoint_variable(name: str, value: str, place: str) -> Iterator[Entry]:
    """Give the address that a variable of the agent holds, by its name in capitals."""
    if _VARIABLE.fullmatch(name) is not None and value.strip():
        yield Entry(name, {"endpoint": value, "variable": name}, place, Kind.ENDPOINT)


def _provider(path: tuple[str, ...], members: Mapping[str, Any]) -> str:
    """Name the provider beside an address; that of a place or an id brings its own key, unless one is given."""
    named = members.get("provider")
    if isinstance(named, str) and named.strip():
        return named
    if _is_literal(members.get("apikey")):
        return ""
    if path:
        return path[-1]
    # As the dashboard adds one.
    return next((text for key in ("id", "name") if isinstance(text := members.get(key), str) and text), "")


def _is_literal(key: Any) -> bool:
    return isinstance(key, str) and bool(key.strip()) and _REFERENCE.search(key) is None


def _key_names(members: Mapping[str, Any]) -> Iterator[str]:
    """Name the variables whose values go along."""
    yield from (name.strip() for key in _KEY_NAMES if isinstance(name := members.get(key), str))
    for holder in _KEY_HOLDERS:
        held = members.get(holder)
        texts = list(held.values())[:MAX_TEXTS] if isinstance(held, Mapping) else [held]
        for text in texts:
            if isinstance(text, str):
                yield from _REFERENCE.findall(text)


@dataclass(frozen=True, slots=True)
class _Provider:
    """A known provider: how its hosts are named, and the whole of its other names, keys and variables."""

    hosts: re.Pattern[str]
    words: frozenset[str]

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "_Provider":
        hosts = [re.escape(str(name)).replace(r"\*", "[a-z0-9-]{1,63}") for name in fields["hosts"]]
        words = (word for kind in ("names", "keys", "addresses") for word in fields[kind])
        return cls(re.compile("|".join(hosts) or r"(?!)"), frozenset(fold(str(word)) for word in words))

    def answers(self, host: Host) -> bool:
        """Tell whether a host is one of its own."""
        return self.hosts.fullmatch(host.name) is not None


class Endpoints:
    """Judges addresses of models by the providers of a set of rules."""

    def __init__(self, rules: Sequence[Rule], sources: Sources) -> None:
        self._providers = [
            _Provider.of(fields) for rule in rules for fields in rule.options.get("providers", {}).values()
        ]
        self._vendors = sources.names("vendor")
        self._tunnels = sources.names("tunnel")

    def effects(self, entry: Entry) -> Iterator[str]:
        """Give the effects of an entry that is an address of a model; none of any other entry."""
        if entry.kind is not Kind.ENDPOINT:
            return
        found = self._effects(entry.fields)
        if entry.fields.get("told"):
            # Somebody speaks of it.
            yield from {"endpoint:told" for effect in found if effect not in _EVERY_DAY}
        else:
            yield from found

    def _effects(self, fields: Mapping[str, Any]) -> set[str]:
        variable = fold(str(fields.get("variable", "")))
        named = [fold(str(fields.get("provider", ""))), variable, *map(fold, fields.get("keys", ()))]
        owners = [one for one in self._providers if not one.words.isdisjoint(named)]
        if variable and not owners:
            # Any service may have such a variable; `Environment` judges it.
            return set()
        text = str(fields["endpoint"]).strip()
        match = _URL.match(text)
        two = match is not None and _TWO_READINGS.search(match[2]) is not None and "${" not in match[2]
        if two or _LOOSE_URL.match(text) is not None:
            return {"endpoint:form"}
        host = url_host(match[2], match[1]) if match is not None else url_host(text.split("/")[0])
        if host is None or "{" in text or "$" in text:
            return {"endpoint:stranger", *(["endpoint:key"] if owners else [])}
        return set(self._of_host(host, owners))

    def _of_host(self, host: Host, owners: list[_Provider]) -> Iterator[str]:
        if is_metadata(host):
            yield "url:internal"
        if not is_foreign(host):
            return
        if host.scheme in _PLAIN:
            yield "endpoint:plain"
        if any(one.answers(host) for one in self._providers):
            if owners and not any(one.answers(host) for one in owners):
                yield "endpoint:other"
            return
        if host.address is not None:
            yield "endpoint:raw"
        elif under(host, self._tunnels):
            yield "endpoint:tunnel"
        elif not under(host, self._vendors) and imitates(host.name, self._vendors):
            yield "url:imitates"
        else:
            yield "endpoint:stranger"
        if owners:
            yield "endpoint:key"


_EVERY_DAY = frozenset({"endpoint:stranger", "endpoint:other"})
