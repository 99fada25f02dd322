"""Packages a command line fetches: ecosystem, name, version.

Only what stands behind a package runner is a package; the same word in prose is a word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Package", "packages", "sources", "version_matches"]

_RUNNERS = re.compile(
    r"(?i)(?<![\w./-])(?:\S{0,200}/)?(npx|bunx|(?:npm|pnpm|yarn|bun)(?:\.cmd)? {1,4}(?:exec|x|dlx|i|install|add|create|init)|uvx|uv {1,4}(?:run|tool {1,4}run"
    r"|tool {1,4}install|pip {1,4}install|add)|pipx {1,4}(?:run|install)|pip[0-9.]{0,4} {1,4}install|cargo {1,4}(?:install|add|binstall)|gem {1,4}(?:install|exec)"
    r"|go {1,4}(?:run|install|get)|composer {1,4}(?:global {1,4})?require|dotnet {1,4}tool {1,4}(?:install|run)|dnx|(?:code|cursor|codium) {1,4}--install-extension)(?:\.exe|\.cmd)?((?: {1,4}[^\s;|&]{1,300}){1,24})"
)
_NPM = re.compile(
    r"(?:[a-z0-9@/._-]{1,200}@npm:)?(@[a-z0-9._~-]{1,100}/[a-z0-9._~-]{1,200}|[a-z0-9._~-]{1,200})(?:@([^\s@]{1,64}))?"
)
_PYPI = re.compile(
    r"([a-z0-9][a-z0-9._-]{0,200})(?:\[[^\]]{0,100}\])?(?:(?:===?|@|~=|>=) {0,2}([a-z0-9.+!*-]{1,64}))?"
)
_OTHER = re.compile(r"([a-z0-9][\w./-]{0,200})(?:[@:]v?([\w.+-]{1,64}))?", re.ASCII)
# What a runner's name begins with, and the ecosystem of its packages.
_ECOSYSTEMS = {
    "npx": "npm", "bunx": "npm", "npm": "npm", "pnpm": "npm", "yarn": "npm", "bun": "npm", "cargo": "crates", "gem": "gem", "go": "go",
    "composer": "composer", "dotnet": "nuget", "dnx": "nuget", "code": "vscode", "cursor": "vscode", "codium": "vscode",
}  # fmt: skip
_INSTALLS = ("install", "add", " i", "require", "get", "install-extension")
_VALUE_OPTIONS = frozenset({"-p", "--package", "--from", "--with", "--spec", "-w"})
_OTHER_VALUE_OPTIONS = frozenset(
    {
        "--python",
        "--directory",
        "--project",
        "--index-url",
        "--default-index",
        "--index",
        "-i",
        "--registry",
        "--prefix",
        "-c",
        "--call",
        "--cache",
        "--userconfig",
        "--extra-index-url",
        "--env-file",
        "--with-editable",
        "--with-requirements",
        "--root",
        "--git",
        "--branch",
        "--tag",
        "--rev",
        "--path",
        "--features",
        "--target-dir",
        "--version",
        "--source",
        "--add-source",
        "--tool-path",
    }
)
_FORMS = {"npm": _NPM, "pypi": _PYPI}
# Operands that are looked at: `npm install a b c` fetches them all, arguments of the program come later.
_MAX_OPERANDS = 8
_VERSION_PART = re.compile(r"\d{1,9}")
_RANGE = re.compile(r"(>=|<=|>|<|=|)\s{0,2}([0-9][\w.+-]{0,40})")


@dataclass(frozen=True, slots=True)
class Package:
    """One package; the name in its ecosystem's normal form, the version empty when none is asked for."""

    ecosystem: str
    name: str
    version: str = ""


def packages(text: str) -> Iterator[Package]:
    """Give the packages that the command lines in a text fetch."""
    for match in _RUNNERS.finditer(text.lower()):
        ecosystem = _ECOSYSTEMS.get(match[1].split()[0].removesuffix(".cmd"), "pypi")
        installs = match[1].endswith(_INSTALLS)
        yield from (
            package
            for word in _operands(match[2].split(), every=installs)
            if (package := _package(ecosystem, word.strip("'\"`,"))) is not None
        )


def sources(text: str) -> Iterator[str]:
    """Give what the command lines in a text fetch from elsewhere than a registry: addresses, forges, paths; and registries."""
    for match in _RUNNERS.finditer(text):
        installs = match[1].lower().endswith(_INSTALLS)
        words = match[2].split()
        for word in _operands(words, every=installs):
            plain = word.strip("'\"`,")
            if "://" in plain or plain.startswith(_ELSEWHERE) or (plain.count("/") == 1 and plain[0] != "@"):
                yield plain.partition("@git+")[2] or plain
        for index, word in enumerate(words):
            option, equals, value = word.partition("=")
            if option in _REGISTRY_OPTIONS:
                yield "registry+" + (value if equals else words[index + 1] if index + 1 < len(words) else "")


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


def _operands(words: list[str], *, every: bool) -> Iterator[str]:
    """Pick the words that name packages: operands of options that take one, then the first operand or all of them."""
    count = 0
    expects: frozenset[str] | None = None
    for word in words:
        if expects is not None:
            if expects is _VALUE_OPTIONS:
                yield word
            expects = None
        elif word.startswith("-") and len(word) > 1:
            option, equals, value = word.partition("=")
            if equals and option in _VALUE_OPTIONS:
                yield value
            elif not equals:
                expects = (
                    _VALUE_OPTIONS
                    if word in _VALUE_OPTIONS
                    else _OTHER_VALUE_OPTIONS
                    if word in _OTHER_VALUE_OPTIONS
                    else None
                )
        else:
            yield word
            count += 1
            if not every or count >= _MAX_OPERANDS:
                return


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
    version = version.lstrip("v^~=")
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
