"""Packages a command line fetches: ecosystem, name, version.

Only what stands behind a package runner is a package; the same word in prose is a word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from herma.policy.entry.runner import fetching, operands

__all__ = ["Package", "packages", "sources", "version_matches"]

_NPM = re.compile(
    r"(?:(?:npm:)?[a-z0-9@/._-]{1,200}@npm:/?|npm:/?)?(@[a-z0-9._~-]{1,213}/[a-z0-9._~-]{1,213}|[a-z0-9._~-]{1,214})(?:@([^\s@]{1,64}))?"
)
_PYPI = re.compile(
    r"([a-z0-9][a-z0-9._-]{0,200})(?:\[[^\]]{0,100}\])?(?:(?:===?|@|~=|>=) {0,2}([a-z0-9.+!*-]{1,64}))?"
)
_OTHER = re.compile(r"([a-z0-9][\w./-]{0,200})(?:[@:]v?([\w.+-]{1,64}))?", re.ASCII)
# Programs that npm makes out of one word: `npm create x` runs `create-x`.
_CREATING = frozenset({"create", "init"})
# What a runner's name begins with, and the ecosystem of its packages.
_ECOSYSTEMS = {
    **dict.fromkeys(("npx", "bunx", "pnpx", "nlx", "dlx", "npx-cli.js", "npm-cli.js", "volta", "jsr", "npm", "cnpm", "tnpm", "pnpm", "yarn", "bun", "ni", "deno", "mise"), "npm"),
    "cargo": "crates", "gem": "gem", "go": "go", "composer": "composer", "dotnet": "nuget", "dnx": "nuget",
    **dict.fromkeys(("code", "cursor", "codium", "windsurf"), "vscode"),
}  # fmt: skip
_FORMS = {"npm": _NPM, "pypi": _PYPI}
_VERSION_PART = re.compile(r"\d{1,9}")
_RANGE = re.compile(r"(>=|<=|>|<|=|)\s{0,2}([0-9][\w.+-]{0,40})")


@dataclass(frozen=True, slots=True)
class Package:
    """One package; the name in its ecosystem's normal form, the version empty when none is asked for."""

    ecosystem: str
    name: str
    version: str = ""


def packages(text: str) -> Iterator[Package]:
    """Give the packages that the command lines in a text fetch.

    Raises:
        PackagesError: there are more runners than are read.
    """
    for fetch in fetching(text.lower()):
        ecosystem = _ECOSYSTEMS.get(fetch.runner, "pypi")
        for word in operands(fetch.words, every=fetch.every):
            for plain in _several(ecosystem, word.strip("'\"`,")):
                if fetch.runner in _MIXED and not plain.startswith("npm:"):
                    continue
                if (package := _package(ecosystem, plain)) is not None:
                    yield package
                    if fetch.order in _CREATING:
                        scope, slash, name = package.name.rpartition("/")
                        yield Package(ecosystem, f"{scope}{slash}create-{name}", package.version)


def _several(ecosystem: str, word: str) -> list[str]:
    """Take a word apart that names several packages: `--with a,b`; the commas of versions and extras are others."""
    return _COMMA.split(word) if ecosystem == "pypi" and "," in word else [word]


_COMMA = re.compile(r",(?=[a-z0-9@])(?![^\[]*\])")


# Runners of addresses and tools, which mark what they take from npm.
_MIXED = frozenset({"deno", "mise"})


def sources(text: str) -> Iterator[str]:
    """Give what the command lines in a text fetch from elsewhere than a registry: addresses, forges, paths; and registries.

    Raises:
        PackagesError: there are more runners than are read.
    """
    read = 0
    for fetch in fetching(text):
        # What a package is called here says nothing of where it comes from: `x@https://…`, `x @ git+https://…`.
        seen: list[str] = []
        for word in operands(_noting(fetch.words, seen), every=fetch.every):
            plain = _ALIAS.sub("", word.strip("'\"`,"), count=1)
            if "://" in plain or plain.startswith(_ELSEWHERE) or (plain.count("/") == 1 and plain[0] != "@"):
                yield plain
        yield from _lists(seen, fetch.runner)
        # Options for a registry count wherever they stand; of runners in one command, the first one's words are all.
        yield from _indexes(text[max(read, fetch.start) : fetch.stop].split())
        read = fetch.stop


def _indexes(words: Sequence[str]) -> Iterator[str]:
    for index, word in enumerate(words):
        option, equals, value = word.strip("'\"").removeprefix("--pip-args=").strip("'\"").partition("=")
        if option == "@" and index + 1 < len(words):
            yield words[index + 1].strip("'\"`,")
        if option in _REGISTRY_OPTIONS or option.endswith(":registry"):
            yield "registry+" + (value if equals else words[index + 1] if index + 1 < len(words) else "")


def _noting(words: Iterator[str], seen: list[str]) -> Iterator[str]:
    for word in words:
        seen.append(word)
        yield word


def _lists(words: Sequence[str], runner: str) -> Iterator[str]:
    """Give the files and addresses that list packages; behind the first operand, options are those of the program."""
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _LIST_OPTIONS or (option == "-c" and runner == "pip"):
            yield value if equals else words[index + 1] if index + 1 < len(words) else ""


_ALIAS = re.compile(
    r"^(?:npm:)?@?[\w./-]*+(?:\[[^\]]*\])?@(?=(?:git\+|https?:|ssh:|git:|file:|link:|portal:|github:|gist:|gitlab:|bitbucket:|[/.~]))"
)
# Files and addresses that list packages.
_LIST_OPTIONS = frozenset(
    {
        "-r",
        "--requirement",
        "--requirements",
        "--constraint",
        "--with-requirements",
        "--with-editable",
        "-e",
        "--editable",
        "--overrides",
        "--constraints",
        "--import-map",
    }
)


_ELSEWHERE = ("/", "./", "../", "~", "github:", "gist:", "gitlab:", "bitbucket:", "git@", "file:")
_REGISTRY_OPTIONS = frozenset(
    {
        "--registry",
        "--index-url",
        "--default-index",
        "--index",
        "-i",
        "--extra-index-url",
        "--find-links",
        "-f",
    }
)


def _package(ecosystem: str, word: str) -> Package | None:
    match = _FORMS.get(ecosystem, _OTHER).fullmatch(word)
    if match is None:
        return None
    name = re.sub(r"[-_.]+", "-", match[1]) if ecosystem == "pypi" else match[1]
    return Package(ecosystem, name, match[2] or "")


def version_matches(version: str, wanted: tuple[str, ...]) -> bool:
    """Tell whether a version is among those listed: exact ones, `*`, or ranges such as `>=0.0.5,<0.1.16`.

    Without a list every version is meant. No version asked for means the newest, which a list of bad versions does not
    cover; neither does a tag.
    """
    if not wanted or "*" in wanted:
        return True
    version = version.lstrip("v^~=<> ")
    prefix = version.rstrip("x*")
    if prefix != version and prefix.endswith("."):
        return any(item.lstrip("=<> ").startswith(prefix) for item in wanted)
    return bool(version) and any(_in_range(version, item) for item in wanted)


def _in_range(version: str, item: str) -> bool:
    conditions = [_RANGE.fullmatch(part.strip()) for part in item.split(",")]
    if None in conditions or not version[:1].isdigit():
        return version == item
    return all(_holds(version, match[1], match[2]) for match in conditions if match is not None)


def _holds(version: str, operator: str, bound: str) -> bool:
    have, limit = _key(version), _key(bound)
    match operator:
        case ">=":
            return have >= limit
        case "<=":
            return have <= limit
        case ">":
            return have > limit
        case "<":
            return have < limit
        case _:
            return version == bound


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _VERSION_PART.findall(version))
