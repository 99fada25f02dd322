"""Packages a command line fetches: ecosystem, name, version.

Only what stands behind a package runner is a package; the same word in prose is a word.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Package", "packages", "sources", "version_matches"]

_RUNNERS = re.compile(
    r"(?i)(?<![\w./:@-])(?:[^\s'\"`]{0,200}/)?(npx|bunx|pnpx|nlx|dlx|npx-cli\.js|(?:c|t)?npm|pnpm|yarn|bun|ni|uvx|uv|pipx|pip[0-9.]{0,4}|cargo|gem|go|composer"
    r"|dotnet|dnx|deno|mise|code|cursor|codium|windsurf|rye|pixi)(?:\.exe|\.cmd)?(?= )"
)
# The end of a command in a line of text.
_END = re.compile(r"[;|&\n]")
# Words that make the programs above fetch; of those without a list, their name is enough.
_ORDERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "cnpm", "tnpm"), frozenset({"exec", "x", "install", "i", "add", "create", "init", "in", "ins", "isntall", "update", "up"})),
    **dict.fromkeys(("pnpm", "yarn", "bun"), frozenset({"exec", "x", "dlx", "install", "i", "add", "create", "init"})),
    "uv": frozenset({"run", "install", "add", "upgrade"}),
    "rye": frozenset({"install", "add"}),
    "pixi": frozenset({"exec", "add", "install", "x"}),
    "pipx": frozenset({"run", "install", "runpip", "inject", "upgrade"}),
    "pip": frozenset({"install", "download", "wheel"}),
    "cargo": frozenset({"install", "add", "binstall"}),
    "gem": frozenset({"install", "exec", "i"}),
    "go": frozenset({"run", "install", "get"}),
    "composer": frozenset({"require"}),
    "dotnet": frozenset({"install", "run", "update"}),
    "deno": frozenset({"run", "install", "add", "x", "serve", "i"}),
    "mise": frozenset({"x", "exec", "use", "install", "i"}),
    **dict.fromkeys(("code", "cursor", "codium", "windsurf"), frozenset({"--install-extension"})),
}  # fmt: skip
# Words of a runner itself before its order: `npm --yes exec`, `uv --quiet tool run`.
_GROUPS = frozenset({"tool", "tools", "pip", "global", "workspace"})
_NPM = re.compile(
    r"(?:(?:npm:)?[a-z0-9@/._-]{1,200}@npm:|npm:)?(@[a-z0-9._~-]{1,100}/[a-z0-9._~-]{1,200}|[a-z0-9._~-]{1,200})(?:@([^\s@]{1,64}))?"
)
_PYPI = re.compile(
    r"([a-z0-9][a-z0-9._-]{0,200})(?:\[[^\]]{0,100}\])?(?:(?:===?|@|~=|>=) {0,2}([a-z0-9.+!*-]{1,64}))?"
)
_OTHER = re.compile(r"([a-z0-9][\w./-]{0,200})(?:[@:]v?([\w.+-]{1,64}))?", re.ASCII)
# What a runner's name begins with, and the ecosystem of its packages.
_ECOSYSTEMS = {
    **dict.fromkeys(("npx", "bunx", "pnpx", "nlx", "dlx", "npx-cli.js", "npm", "cnpm", "tnpm", "pnpm", "yarn", "bun", "ni", "deno", "mise"), "npm"),
    "cargo": "crates", "gem": "gem", "go": "go", "composer": "composer", "dotnet": "nuget", "dnx": "nuget",
    **dict.fromkeys(("code", "cursor", "codium", "windsurf"), "vscode"),
}  # fmt: skip
_INSTALLING = frozenset({"install", "add", "i", "in", "ins", "isntall", "require", "get", "use", "update", "download", "wheel", "inject"})  # fmt: skip
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
        "--script-shell",
        "--channel",
    }
)
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
    """Give the packages that the command lines in a text fetch."""
    for runner, words, every in _fetching(text.lower()):
        ecosystem = _ECOSYSTEMS.get(runner, "pypi")
        for word in _operands(words, every=every):
            plain = word.strip("'\"`,")
            if runner in _MIXED and not plain.startswith("npm:"):
                continue
            if (package := _package(ecosystem, plain)) is not None:
                yield package


# Runners of addresses and tools, which mark what they take from npm.
_MIXED = frozenset({"deno", "mise"})


def sources(text: str) -> Iterator[str]:
    """Give what the command lines in a text fetch from elsewhere than a registry: addresses, forges, paths; and registries."""
    for _runner, rest, every in _fetching(text):
        words = list(rest)
        for word in _operands(words, every=every):
            plain = word.strip("'\"`,")
            if "://" in plain or plain.startswith(_ELSEWHERE) or (plain.count("/") == 1 and plain[0] != "@"):
                yield plain.partition("@git+")[2] or plain
        for index, word in enumerate(words):
            option, equals, value = word.partition("=")
            if option in _REGISTRY_OPTIONS or option.endswith(":registry"):
                yield "registry+" + (value if equals else words[index + 1] if index + 1 < len(words) else "")


def _fetching(text: str) -> Iterator[tuple[str, Iterator[str], bool]]:
    """Give each runner that is ordered to fetch something, the words behind its order, and whether all of them are packages.

    Words are read as they are asked for: a long text of runners costs what it is long.
    """
    at = stop = 0
    while (match := _RUNNERS.search(text, at)) is not None:
        at = match.end()
        runner = _plain(match[1])
        if stop < at:
            end = _END.search(text, at)
            stop = end.start() if end is not None else len(text)
        words = (word[0] for word in _WORD.finditer(text, at, stop))
        order = _order(runner, words)
        if order is None:
            continue
        every = order in _INSTALLING or runner in _INSTALLERS
        if every:
            # All words belong to this one.
            at = stop
        yield runner, words, every


_WORD = re.compile(r"\S+")
_INSTALLERS = frozenset({"code", "cursor", "codium", "windsurf", "ni"})


def _plain(name: str) -> str:
    lowered = name.lower()
    return "pip" if lowered.startswith("pip") and lowered != "pipx" else lowered


def _order(runner: str, words: Iterator[str]) -> str | None:
    """Take the words up to the one that orders a runner to fetch, and give it; None where it is not told to."""
    orders = _ORDERS.get(runner)
    if orders is None:
        return ""
    skips = False
    for word in map(str.lower, words):
        if word in orders:
            return word
        if not word.startswith("-") and not skips and word not in _GROUPS:
            return None
        skips = word in _OTHER_VALUE_OPTIONS
    return None


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


def _operands(words: Iterable[str], *, every: bool) -> Iterator[str]:
    """Pick the words that name packages: operands of options that take one, then the first operand or all of them."""
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
            if not every:
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
