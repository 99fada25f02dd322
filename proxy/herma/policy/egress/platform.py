"""Where people talk with the agent: hosts of chat platforms, and what in a message is the platform's own.

Everything that goes there is judged as text for people, but for what is named as in use: credentials and handles that the platform
gave out and wants back. A field that nobody has named yet cannot leak.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from herma.policy.egress.host_pattern import HostPattern, covered

__all__ = ["HandedOn", "InUse", "Platform", "PlatformRoute", "Platforms"]

_STEP: Final = re.compile(r"/(?:\*\*|\*|(?:[^/*~#]|~[01])+)")
_PARAMETER: Final = re.compile(r"\{[a-z_]+\}|\*\*")
# Steps of a path that the platform gave out for the agent alone: `/bot{token}/`.
_KEYS: Final = frozenset({"{token}", "{key}", "{secret}"})
# What a platform gave out: no blank, no line, no letter beyond ASCII. All else in such a place is a text.
_TOKEN: Final = re.compile(r"[!-~]*")
# A credential may have the name of its scheme before it.
_SCHEMED: Final = re.compile(r"[A-Z][A-Za-z]{1,15} [!-~]+")
# A password is what somebody chose, and may have blanks.
_PASSWORD: Final = re.compile(r".*/pass(?:word|phrase)", re.IGNORECASE)
_CHOSEN: Final = re.compile(r"[^\r\n]{0,256}")
# Names of places in which credentials stand; all others are of handles, which are shown to others here and there.
_CREDENTIAL: Final = re.compile(
    r".*/[^/]*(?:token|secret|pass|code|key|assertion|ticket|sign|session|auth|credential)[^/]*",
    re.IGNORECASE,
)


class InUse:
    """Places in bodies and queries that are left as they are.

    They are JSON Pointers in which `*` is any one step and `**` any number of them; a field of a form or a query is a pointer of
    one step. Behind a `#`, the place goes on in a text that is JSON itself: `/content#/file_key`.

    Raises:
        ValueError: a place is no such pointer.
    """

    def __init__(self, places: Sequence[str]) -> None:
        within: dict[str, list[str]] = {}
        for outer, mark, inner in (place.partition("#") for place in places):
            if mark:
                within.setdefault(outer, []).append(inner)
        own = [place for place in places if "#" not in place]
        self._pattern = re.compile("|".join(map(_place, own)) or r"(?!)")
        self._within = [(re.compile(_place(outer)), InUse(inner)) for outer, inner in within.items()]

    def covers(self, pointer: str) -> bool:
        """Tell whether a place is one of them."""
        return self._pattern.fullmatch(pointer) is not None

    def leaves(self, pointer: str, value: str) -> bool:
        """Tell whether what stands at a place is left: it is one of them, and the value is no text."""
        if not self.covers(pointer):
            return False
        if _TOKEN.fullmatch(value) is not None:
            return True
        if _PASSWORD.fullmatch(pointer) is not None:
            return _CHOSEN.fullmatch(value) is not None
        return self.is_credential(pointer) and _SCHEMED.fullmatch(value) is not None

    @staticmethod
    def is_credential(pointer: str) -> bool:
        """Tell whether a credential stands at a place, and no mere handle."""
        return _CREDENTIAL.fullmatch(pointer) is not None

    def within(self, pointer: str) -> "InUse | None":
        """Give the places in the JSON that is written as a text at a place, if it has any."""
        return next((inner for pattern, inner in self._within if pattern.fullmatch(pointer)), None)


def _place(pointer: str) -> str:
    steps = _STEP.findall(pointer)
    if not steps or "".join(steps) != pointer:
        raise ValueError(
            "expected a JSON Pointer as in `/token`, `/attachments/*/id` or `/content#/file_key`"
        )
    return "".join(_step(step) for step in steps)


def _step(step: str) -> str:
    match step:
        case "/**":
            return r"(?:/[^/]*)*"
        case "/*":
            return r"/[^/]*"
        case _:
            return re.escape(step)


@dataclass(frozen=True, slots=True)
class PlatformRoute:
    """What is in use at one path; `{name}` in `path` is what stands there in one step, `**` is the rest.

    `{token}`, `{key}` and `{secret}` are credentials, and in use as the places are. `passed_to` is the place of an address that the
    platform shows them to.

    Raises:
        ValueError: the path or a place cannot be read.
    """

    path: str
    in_use: tuple[str, ...]
    passed_to: str = ""

    def __post_init__(self) -> None:
        """Read both now, so that a route that cannot be used is not made."""
        if not self.path.startswith("/"):
            raise ValueError("expected a path that starts with a slash")
        InUse((*self.in_use, self.passed_to) if self.passed_to else self.in_use)

    def pattern(self) -> re.Pattern[str]:
        """Make what matches a path; its groups are the credentials in it."""
        parts = _PARAMETER.split(self.path)
        holes = [_hole(hole) for hole in _PARAMETER.findall(self.path)]
        written = [re.escape(part) for part in parts]
        return re.compile("".join(text + hole for text, hole in zip(written, [*holes, ""], strict=True)))


def _hole(name: str) -> str:
    if name == "**":
        return ".*"
    return "([^/]+)" if name in _KEYS else "[^/]+"


@dataclass(frozen=True, slots=True)
class HandedOn:
    """Places of secrets, and the place of the address that they are shown to."""

    secrets: InUse
    address: str


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform: its hosts, and what is in use at all of its paths and at some."""

    id: str
    title: str
    hosts: tuple[HostPattern, ...]
    in_use: tuple[str, ...] = ()
    routes: tuple[PlatformRoute, ...] = ()


class Platforms:
    """All platforms; the first that names a host is the one."""

    def __init__(self, platforms: Sequence[Platform]) -> None:
        if not platforms:
            raise ValueError("without platforms no message would be masked")
        self._platforms = tuple(platforms)
        self._places = {platform.id: _Places(platform) for platform in platforms}

    def at(self, name: str, port: int) -> Platform | None:
        """Give the platform of a host; None for all others."""
        return next((one for one in self._platforms if covered(one.hosts, name, port)), None)

    def in_use(self, platform: Platform, path: str) -> InUse:
        """Give what is left as it is in a request to a path."""
        return self._places[platform.id].at(path)

    def handed_on(self, platform: Platform, path: str) -> tuple[HandedOn, ...]:
        """Say which secrets of a request to a path the platform shows to an address, and where that stands."""
        return self._places[platform.id].handed_on(path)

    def unkeyed(self, name: str, port: int, path: bytes) -> bytes:
        """Give a path at a host without the credentials that its platform gave out in it."""
        platform = self.at(name, port)
        return path if platform is None else self._places[platform.id].unkeyed(path)


class _Places:
    """What is in use at one platform, for each set of routes that a path matches."""

    def __init__(self, platform: Platform) -> None:
        self._everywhere = platform.in_use
        self._routes = [(route.pattern(), route.in_use) for route in platform.routes]
        self._handed = [
            (route.pattern(), HandedOn(InUse(route.in_use), route.passed_to))
            for route in platform.routes
            if route.passed_to
        ]
        self._made: dict[tuple[str, ...], InUse] = {}

    def at(self, path: str) -> InUse:
        places = self._everywhere
        for pattern, more in self._routes:
            if pattern.fullmatch(path):
                places = (*places, *more)
        # As many as there are sets of routes, whatever is asked for.
        return self._made.setdefault(places, InUse(places))

    def handed_on(self, path: str) -> tuple[HandedOn, ...]:
        return tuple(one for pattern, one in self._handed if pattern.fullmatch(path))

    def unkeyed(self, path: bytes) -> bytes:
        written = path.decode("latin-1")
        keys = {
            found.span(group)
            for pattern, _ in self._routes
            if (found := pattern.fullmatch(written)) is not None
            for group in range(1, pattern.groups + 1)
        }
        for start, end in sorted(keys, reverse=True):
            written = written[:start] + written[end:]
        return written.encode("latin-1")
