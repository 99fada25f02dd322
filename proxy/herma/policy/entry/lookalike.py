"""Package names that imitate well-known ones: a letter wrong, letters swapped, hyphens and scopes moved.

Exact names pass, whatever they are near to. Short names are near to many innocent ones: of these only swapped letters count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from herma.policy.entry.package import Package

__all__ = ["Lookalikes", "is_near"]

# Of fewer letters, one wrong makes another word: `git` and `gist`. What follows `mcp-server-` may be a little shorter.
MIN_LETTERS = 7
MIN_OWN_LETTERS = 6
MIN_SCOPE_LETTERS = 9
# Two neighbours swapped hardly ever make another word.
MIN_SWAPPED_LETTERS = 4
MIN_OWN_SWAPPED_LETTERS = 3
# Of a scope whose packages have the same name otherwise.
MIN_SCOPE_SHORT = 4
MIN_EXTENDED_LETTERS = 12
# Longer names are a letter from none that is known.
MAX_LETTERS = 80
# Parts that names of servers share; what is left is the name of the thing.
_COMMON = re.compile(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$")
_SIGNS = str.maketrans("", "", "-_./@")


class Lookalikes:
    """Known names by ecosystem, arranged so that near ones are found without comparing with each."""

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._known = {ecosystem: frozenset(map(_plain, names)) for ecosystem, names in known.items()}
        self._near: dict[tuple[str, str], set[str]] = {}
        self._bare: dict[tuple[str, str], set[str]] = {}
        for ecosystem, names in self._known.items():
            scopes = {name.partition("/")[0] for name in names if name.startswith("@")}
            for name in names:
                self._bare.setdefault((ecosystem, name.translate(_SIGNS)), set()).add(name)
            for name in names | scopes:
                for form in _shorter(name):
                    self._near.setdefault((ecosystem, form), set()).add(name)
        # Scopes under what follows them.
        self._scoped: dict[tuple[str, str], set[str]] = {}
        for ecosystem, names in self._known.items():
            for name in names:
                scope, slash, own = name.partition("/")
                if slash and len(scope) > MIN_SCOPE_SHORT and len(_COMMON.sub("", own)) >= MIN_OWN_LETTERS:
                    self._scoped.setdefault((ecosystem, own), set()).add(scope)
        self._scopes = {
            (ecosystem, name.partition("/")[0])
            for ecosystem, names in self._known.items()
            for name in names
            if name.startswith("@")
        }

    def imitates(self, package: Package) -> str:
        """Say how a name is near to a known one: `scope`, `name`, or nothing."""
        name, ecosystem = _plain(package.name), package.ecosystem
        scope, slash, own = name.partition("/")
        if name in self._known.get(ecosystem, ()):
            return ""
        if slash and (ecosystem, scope) in self._scopes:
            # Whoever holds a known scope may publish what they like in it.
            return ""
        if slash and (self._extends(ecosystem, scope) or self._is_near(ecosystem, scope, "@")):
            return "scope"
        if slash and any(is_near(known, scope) for known in self._scoped.get((ecosystem, own), ())):
            return "scope"
        bare = self._bare.get((ecosystem, name.translate(_SIGNS)), set())
        if any(
            (known.startswith("@") or name.startswith("@"))
            and not known.endswith(_SHARED)
            and not name.endswith(_SHARED)
            for known in bare
        ):
            return "scope"
        return "name" if not slash and self._is_near(ecosystem, name, "") else ""

    def _extends(self, ecosystem: str, scope: str) -> bool:
        """Tell whether a scope is a known one with something behind it: `@modelcontextprotocol-servers`."""
        parts = scope.split("-")
        starts = ("-".join(parts[:count]) for count in range(1, len(parts)))
        return any(
            len(start) > MIN_EXTENDED_LETTERS and (ecosystem, start) in self._scopes for start in starts
        )

    def _is_near(self, ecosystem: str, name: str, start: str) -> bool:
        return len(name) <= MAX_LETTERS and any(
            known.startswith(start) and known.startswith("@") == bool(start) and _telling(known, name)
            for form in _shorter(name)
            for known in self._near.get((ecosystem, form), ())
            if is_near(known, name)
        )


# `@vendor/mcp` is the vendor's; `vendor-mcp` is what anybody calls a server for it.
_SHARED = "/mcp"


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _telling(known: str, name: str) -> bool:
    """Tell whether one letter's difference is more likely a trap than another word."""
    if known.startswith("@"):
        return len(known) > MIN_SCOPE_LETTERS
    first, second = _COMMON.sub("", known), _COMMON.sub("", name)
    shared = first != known and second != name
    if first != known and (name.endswith(f"-{first}") or name.startswith(f"{first}-")):
        # The difference lies in what all names share.
        return True
    if _is_swapped(first, second):
        return len(first) >= (MIN_OWN_SWAPPED_LETTERS if shared else MIN_SWAPPED_LETTERS)
    return min(len(first), len(second)) >= (MIN_OWN_LETTERS if shared else MIN_LETTERS)


def _is_swapped(first: str, second: str) -> bool:
    return len(first) == len(second) and sorted(first) == sorted(second)


def _shorter(name: str) -> Iterator[str]:
    yield name
    yield from (name[:index] + name[index + 1 :] for index in range(len(name)))


def is_near(first: str, second: str) -> bool:
    """Tell whether one letter was added, left out or changed, or two neighbours swapped (Damerau and Levenshtein)."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    at = next(
        (index for index, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None
    )
    if at is None:
        return True
    rest, other = first[at:], second[at:]
    return (
        rest[1:] == other
        or rest == other[1:]
        or rest[1:] == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )
