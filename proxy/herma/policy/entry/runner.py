"""Package runners in a command line: what each is ordered to do, and the words that name what it fetches.

Only what stands behind a package runner is a package; the same word in prose is a word.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

__all__ = ["RUNNER_WORDS", "Fetch", "PackagesError", "fetching", "operands"]

# Package runners named in one text. A megabyte of transcripts names some thousand; each costs some ten microseconds.
MAX_RUNNERS = 8 * 1024
_RUNNERS = re.compile(
    r"(?i)(?<![\w./:@-])(?:[^\s'\"`]{0,200}/)?(npx|bunx|pnpx|nlx|dlx|np[mx]-cli\.js|(?:c|t)?npm|pnpm|yarn|bun|ni|uvx|uv|pipx|pip[0-9.]*+|cargo|gem|go|composer"
    r"|dotnet|dnx|deno|mise|code|cursor|codium|windsurf|rye|pixi|poetry|pdm|pipenv|easy_install|volta|jsr)(?:\.exe|\.cmd|\.ps1)?(?=\s)"
)
# One of these is in every lower-case text that names a runner.
RUNNER_WORDS = (
    *(
        "npx",
        "npm",
        "bun",
        "yarn",
        "pnp",
        "nlx",
        "dlx",
        "uvx",
        "uv ",
        "pip",
        "cargo",
        "gem ",
        "go ",
        "composer",
        "dotnet",
        "dnx",
        "deno",
        "mise",
    ),
    *(
        "code ",
        "cursor",
        "codium",
        "windsurf",
        "rye ",
        "pixi",
        "poetry",
        "pdm ",
        "easy_install",
        "volta",
        "jsr",
        "ni ",
    ),
)
# The end of a command in a line of text.
_END = re.compile(r"[;|&\n]")
# Words that make the programs above fetch; of those without a list, their name is enough.
_ORDERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "cnpm", "tnpm", "npm-cli.js"), frozenset({"exec", "x", "install", "i", "add", "create", "init", "in", "ins", "isntall", "update", "up", "pack"})),
    **dict.fromkeys(("pnpm", "yarn", "bun"), frozenset({"exec", "x", "dlx", "install", "i", "add", "create", "init"})),
    "uv": frozenset({"run", "install", "add", "upgrade"}),
    "rye": frozenset({"install", "add"}),
    "poetry": frozenset({"add"}),
    "pdm": frozenset({"add"}),
    "pipenv": frozenset({"install"}),
    "volta": frozenset({"install", "fetch"}),
    "jsr": frozenset({"add", "install", "i"}),
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
        "--cache-dir",
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
# Options that take no value: what stands behind one is an operand, and behind any other perhaps a value.
_FLAGS = frozenset(
    [
        "-y",
        "--yes",
        "-q",
        "--quiet",
        "--silent",
        "--no-install",
        "--ignore-existing",
        "--prefer-offline",
        "--prefer-online",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--verbose",
        "-v",
        "-g",
        "--global",
        "--bun",
        "--isolated",
        "--no-cache",
        "--no-cache-dir",
        "--refresh",
        "-u",
        "--upgrade",
        "--no-progress",
        "--no-config",
        "--native-tls",
        "--allow-all",
        "--save-dev",
        "--save-exact",
        "--frozen",
        "--locked",
        "--force",
        "-f",
        "--latest",
        "--exact",
        "--dev",
        "--legacy-peer-deps",
        "--ignore-scripts",
        "--pre",
        "--user",
        "--editable",
        "-e",
        "--no-deps",
        "--break-system-packages",
        "--system",
        "--active",
        "--managed-python",
        "--no-project",
        "--no-sync",
        "--all-extras",
        "--no-save",
        "-a",
        "--",
    ]
)


class PackagesError(ValueError):
    """A text names more package runners than are read."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A runner with its order, the words behind that, whether all of them are packages, and where its command is."""

    runner: str
    order: str
    words: Iterator[str]
    every: bool
    start: int
    stop: int


def fetching(text: str) -> Iterator[Fetch]:
    """Give each runner that is ordered to fetch something.

    Words are read as they are asked for: a long text of runners costs what it is long.
    """
    at = stop = count = 0
    while (match := _RUNNERS.search(text, at)) is not None:
        count += 1
        if count > MAX_RUNNERS:
            raise PackagesError
        at = match.end()
        runner = _plain(match[1])
        if stop < at:
            end = _END.search(text, at)
            stop = end.start() if end is not None else len(text)
        words = (word[0] for word in _WORD.finditer(text, at, stop))
        held: list[str] = []
        order = _order(runner, words, held)
        if order is None:
            continue
        start = at
        every = order in _INSTALLING or runner in _INSTALLERS
        if every:
            # All words belong to this one.
            at = stop
        yield Fetch(runner, order, chain(held, words), every, start, stop)


_WORD = re.compile(r"\S+")
_INSTALLERS = frozenset({"code", "cursor", "codium", "windsurf", "ni", "easy_install"})


def _plain(name: str) -> str:
    lowered = name.lower()
    return "pip" if lowered.startswith("pip") and lowered != "pipx" else lowered


def _order(runner: str, words: Iterator[str], held: list[str]) -> str | None:
    """Take the words up to the one that orders a runner to fetch, and give it; None where it is not told to.

    `held` takes those that name a package before the order: `pnpm --package x dlx y`.
    """
    orders = _ORDERS.get(runner)
    if orders is None:
        return ""
    skips = False
    before = ""
    for given in words:
        word = given.lower()
        if before == "--package" or word.startswith("--package="):
            held += [before, given] if before else [given]
        before = word if word == "--package" else ""
        if word in orders:
            return word
        if not word.startswith("-") and not skips and word not in _GROUPS:
            return None
        # A word behind an option may be its value.
        skips = word.startswith("-") and "=" not in word and word not in _FLAGS
    return None


def operands(words: Iterable[str], *, every: bool) -> Iterator[str]:
    """Pick the words that name packages: operands of options that take one, then the first operand or all of them.

    What stands behind an option that is not known may be its value or the operand: it is picked, and so is the next one.
    """
    before = ""
    for word in words:
        option, equals, value = word.partition("=")
        takes = "" if before in _FLAGS else before
        before = ""
        if takes in _OTHER_VALUE_OPTIONS and not word.startswith("-"):
            continue
        if takes in _VALUE_OPTIONS:
            yield word
        elif word.startswith("-") and len(word) > 1:
            if equals and option.lower() in _VALUE_OPTIONS:
                yield value
            before = "" if equals else word.lower()
        else:
            yield word
            if not every and not takes:
                return
