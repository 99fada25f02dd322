"""Hosts whose interfaces ask for a key of their own: the agent may show it there, and nothing else.

A key is shown in a field for credentials, and at some hosts in a named place of the query or the body. Nobody else reads what stands
there, so it may be one of a watched file; all other places are judged as those of a stranger are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from herma.policy.egress.divided import form_of, json_spans
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.platform import InUse
from herma.policy.message.form import as_text, form_decoded

__all__ = ["FORM", "MAX_KEY_BYTES", "Apart", "Service", "Services", "Shown", "kept_apart"]

FORM: Final = b"application/x-www-form-urlencoded"
# A signed token with many claims has so many bytes, a file of keys more.
MAX_KEY_BYTES: Final = 8 * 1024
# Neither quotes nor anything that parts one line or value from another.
_KEY: Final = re.compile(r"[!#-&(-+\--:<-\[\]-z|~]+")


@dataclass(frozen=True, slots=True)
class Service:
    """One service; `in_use` are the places of its key in a query or a body, as JSON Pointers.

    `fields` are those of the key, in lower case, where the host hands others on to whoever has a place there; without any, all
    fields for credentials are.
    """

    name: str
    hosts: tuple[HostPattern, ...]
    in_use: tuple[str, ...] = ()
    fields: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """Where keys are shown at one host: in `places`, and in `fields`, or in all for credentials where it is None."""

    places: tuple[InUse, ...]
    fields: frozenset[bytes] | None

    def others(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Give the fields in which no key is shown."""
        fields = self.fields
        return [] if fields is None else [pair for pair in headers if pair[0].lower() not in fields]


class Services:
    """All services; of several that name a host, each one's places and fields are right there."""

    def __init__(self, services: Sequence[Service] = ()) -> None:
        self._services = [(service, InUse(service.in_use)) for service in services]

    def at(self, name: str, port: int) -> Shown | None:
        """Say where a host is shown keys; None for strangers."""
        here = [one for one in self._services if covered(one[0].hosts, name, port)]
        if not here:
            return None
        fields = frozenset(field for service, _ in here for field in service.fields)
        return Shown(
            tuple(places for service, places in here if service.in_use),
            fields if all(service.fields for service, _ in here) else None,
        )


@dataclass(frozen=True, slots=True)
class Apart:
    """What is judged as everything is, and the keys that stood in it."""

    rest: bytes = field(repr=False)
    keys: tuple[bytes, ...] = field(repr=False, default=())


def kept_apart(raw: bytes, content_type: bytes, places: Sequence[InUse]) -> Apart:
    """Take the keys out of a form, a query or JSON; anything else stays whole."""
    if not places:
        return Apart(raw)
    if form_of(content_type) == FORM:
        return _of_pairs(raw, places)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Apart(raw)
    spans = list(_spans(text, places))
    if not spans:
        return Apart(raw)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return Apart(rest.encode(), tuple(text[start:end].encode() for start, end in spans))


def _of_pairs(raw: bytes, places: Sequence[InUse]) -> Apart:
    rest: list[bytes] = []
    keys: list[bytes] = []
    for pair in raw.split(b"&"):
        name, _, value = pair.partition(b"=")
        plain = form_decoded(value)
        if _is_key(f"/{as_text(form_decoded(name))}", plain, places):
            keys.append(plain)
        else:
            rest.append(pair)
    return Apart(b"&".join(rest), tuple(keys)) if keys else Apart(raw)


def _spans(text: str, places: Sequence[InUse]) -> Iterator[tuple[int, int]]:
    for pointer, (start, end) in sorted(json_spans(text).items(), key=lambda item: item[1]):
        if _is_key(pointer, text[start:end].encode(), places):
            yield start, end


def _is_key(pointer: str, value: bytes, places: Sequence[InUse]) -> bool:
    return (
        len(value) <= MAX_KEY_BYTES
        and _KEY.fullmatch(as_text(value)) is not None
        and any(in_use.covers(pointer) for in_use in places)
    )
