"""Where the programs of an entry come from: packages with the names of others, forges, archives, raw addresses, registries.

A registry's name and a repository on a known forge are how servers are installed. An archive from a stranger, a package index
of a stranger or an address without a name are not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from herma.policy.address import Host, hosts, is_foreign
from herma.policy.command.argv import basename
from herma.policy.command.call import Call
from herma.policy.entry.cloned import CLONING
from herma.policy.entry.lookalike import Lookalikes, is_near
from herma.policy.entry.package import packages, sources
from herma.policy.entry.runner import fetching, operands
from herma.policy.entry.script import mixes_scripts
from herma.policy.rule import Rule

__all__ = ["Sources", "under"]

_ARCHIVES = (".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".whl", ".zip", ".pyz", ".tar")
# Programs whose operands are packages.
_FETCHERS = frozenset(
    {"npx", "bunx", "npm", "cnpm", "tnpm", "pnpm", "pnpx", "nlx", "ni", "yarn", "bun", "uvx", "uv", "pipx", "pip", "rye", "python", "node",
     "npx-cli.js", "npm-cli.js", "poetry", "pdm", "pipenv", "easy_install", "volta", "jsr", "pixi"}
)  # fmt: skip
# Runtimes that mark what they take from a registry; where their other modules come from is told by `_of_runtime`.
_MARKING = frozenset({"deno", "mise"})
_ENGINES = frozenset({"docker", "podman", "nerdctl"})
# What stands behind the name of an image.
_TAG = re.compile(r"[:@]")
_SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/", "file:///tmp/", "file:///dev/shm/", "file:/tmp/")  # noqa: S108 - names of places


_MODULES = frozenset({"run", "install", "get"})
_MODULE = re.compile(r"((?:[\w-]{1,63}\.){1,8}[a-zA-Z][\w-]{1,62})/[^:\s]+\Z")


class Sources:
    """Knows the well-known packages, forges and registries of a set of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        known: dict[str, set[str]] = {}
        self._hosts: dict[str, set[str]] = {}
        self._runtimes: set[str] = set()
        # Programs that stand for the server at an address among their words.
        self.bridges: set[str] = set()
        for rule in rules:
            for option, lists in (("known", known), ("hosts", self._hosts)):
                for name, words in rule.options.get(option, {}).items():
                    lists.setdefault(str(name), set()).update(map(str, words))
            programs = rule.options.get("programs", {})
            self._runtimes.update(map(str, programs.get("runtime", ())))
            self.bridges.update(map(str, programs.get("bridge", ())))
        self._images = known.pop("image", set())
        self._lookalikes = Lookalikes(known)

    def names(self, kind: str) -> frozenset[str]:
        """Give the hosts of a kind."""
        return frozenset(self._hosts.get(kind, ()))

    def effects(self, calls: Iterable[Call]) -> Iterator[str]:
        """Give the effects of fetching what some calls fetch."""
        for call in calls:
            name = basename(call.argv[0])
            if name in _ENGINES:
                yield from self._of_image(call.argv)
            if name in self._runtimes:
                yield from self._of_runtime(call.argv, name)
            if name in CLONING:
                yield from self._of_repository(call.argv)
            if "'" in call.line:
                yield from self._of_extension(call.line)
            if name not in _FETCHERS and name not in _MARKING:
                continue
            line = " ".join(call.argv)
            for package in packages(line):
                if imitated := self._lookalikes.imitates(package):
                    yield f"imitates:{imitated}"
            if name in _FETCHERS:
                yield from (effect for source in dict.fromkeys(sources(line)) for effect in self.of(source))

    def disguised(self, text: str) -> Iterator[str]:
        """Tell of names of packages as they are written: no registry has letters of two scripts in one, a reader sees another."""
        if not text.isascii() and any(
            mixes_scripts(word)
            for fetch in fetching(text)
            for word in operands(fetch.words, every=fetch.every)
        ):
            yield "imitates:name"

    def of(self, source: str) -> Iterator[str]:
        """Give the effects of fetching something from an address; a registry's begins with `registry+`."""
        kind = "registry" if source.startswith("registry+") else "source"
        address = source.removeprefix("registry+").lower()
        if address.startswith("git@"):
            address = "ssh://" + address.removeprefix("git@").replace(":", "/", 1)
        if address.startswith("-"):
            # An option of the program that fetches, in the place of an address.
            yield f"{kind}:raw"
        if address.startswith(_SCRATCH) or "/.hermes/uploads/" in address:
            yield f"{kind}:scratch"
        if address.startswith("gist:"):
            yield "source:paste"
        host = next((host for host in hosts(address) if host.scheme or host.address is not None), None)
        if host is None or not is_foreign(host):
            return
        forge = under(host, self.names("forge"))
        archive = address.split("#")[0].endswith(_ARCHIVES)
        if host.address is not None or ("http://" in address and not forge):
            yield f"{kind}:raw"
        elif under(host, self.names("paste")):
            yield f"{kind}:paste"
        elif kind == "registry":
            if not forge and not under(host, self.names("registry")):
                yield "registry:foreign"
        elif forge:
            if archive or "http://" in address:
                yield "source:forge_archive"
        else:
            yield "source:archive" if archive or "git" not in address else "source:git"

    def _of_repository(self, argv: Sequence[str]) -> Iterator[str]:
        """Give the effects of the addresses that a repository is copied from or sent to."""
        for word in argv[1:]:
            if word.startswith("git@") or "://" in word:
                yield from self.of(word if word.startswith("git@") else f"git+{word}")

    def _of_runtime(self, argv: Sequence[str], name: str) -> Iterator[str]:
        """Give the effects of the addresses that a runtime or another package manager takes a program from."""
        if name == "go" and not _MODULES.isdisjoint(argv[1:]):
            yield from ("source:git" for word in argv[2:] if self._is_strange_module(word))
        for source in dict.fromkeys(_fetched(argv, installs=name in _INSTALLERS)):
            host = next((host for host in hosts(source) if host.scheme), None)
            if host is None or host.scheme not in _SEALED:
                yield from self.of(source)
            elif under(host, self.names("registry")):
                continue
            elif under(host, self.names("rawfile")):
                # Where modules are published from a forge, as `deno run` takes them.
                yield "source:git"
            else:
                code = name not in _CLUSTERS and source.lower().partition("#")[0].endswith(_PROGRAMS)
                yield from (
                    "source:git" if effect == "source:archive" and not code else effect
                    for effect in self.of(source)
                )

    def _of_extension(self, line: str) -> Iterator[str]:
        """Give the effects of native code that a database is told to take from somewhere; its maker's own is signed."""
        for match in _EXTENSION.finditer(line):
            if not any(under(host, self.names("extension")) for host in hosts(match[1])):
                yield from self.of(f"registry+{match[1]}")

    def _is_strange_module(self, word: str) -> bool:
        """Tell whether a module of Go, which is named by where it lies, lies on a host that is not well known."""
        match = _MODULE.match(word)
        host = next(hosts(match[1]), None) if match is not None else None
        known = self.names("forge") | self.names("module")
        return host is not None and is_foreign(host) and not under(host, known)

    def _of_image(self, argv: Sequence[str]) -> Iterator[str]:
        if "run" not in argv[1:4]:
            return
        for word in argv[2:]:
            registry, slash, rest = word.partition("/")
            name = f"{registry}/{_TAG.split(rest)[0]}".lower()
            if slash and word[:1].isalnum() and any(is_near(name, known) for known in self._images):
                yield "imitates:name"
            if slash and word[:1].isdigit() and "=" not in word:
                yield from (
                    "source:raw" for host in hosts(registry) if host.address is not None and is_foreign(host)
                )


# Native code that a database takes from where it is told.
_EXTENSION = re.compile(
    r"\b(?:install\s{1,8}['\"]?\w{1,40}['\"]?\s{1,8}from|load)\s{1,8}'((?:https?:/)?/[^'\s]{2,200})'",
    re.IGNORECASE,
)


def _fetched(argv: Sequence[str], *, installs: bool) -> Iterator[str]:
    """Pick the words that name what is fetched: values of options for a source, and the first operand or all that are installed."""
    expects = False
    every = installs
    for word in argv[1:]:
        if word == "--" and not every:
            return
        option, equals, value = word.partition("=")
        lowered = option.lower()
        if expects or (equals and lowered in _SOURCE_OPTIONS):
            # A repository may be told as a mapping of JSON.
            place = _WITHIN.sub(r"\1", word if expects else value, count=1)
            if _is_place(place, installs=installs):
                yield place
            expects = False
        elif word.startswith("-"):
            expects = lowered in _SOURCE_OPTIONS
        elif word in _FETCHING:
            every = every or word not in _STARTING
            installs = installs or word in _INSTALLING
        elif not equals or "://" in option:
            if _is_place(word, installs=installs):
                yield word
            if not every:
                return


def _is_place(word: str, *, installs: bool) -> bool:
    return _ADDRESS.match(word) is not None or (installs and word.startswith(_SCRATCH))


# What comes over these has not been changed on the way; charts are kept where images are.
_SEALED = frozenset({"https", "oci"})
# What a program comes over; a host of containers (`tcp://`, `ssh://`) is none.
_ADDRESS = re.compile(r"(?:[a-z]{2,8}\+)?(?:https?|ftp|oci)://", re.IGNORECASE)
_WITHIN = re.compile(r"\s*+\{.*?\"((?:https?|ftp|git)://[^\"]{0,400})\".*", re.DOTALL)
_INSTALLING = frozenset({"install", "add", "localinstall", "i", "load"})
_PROGRAMS = (
    *_ARCHIVES, ".ts", ".js", ".mjs", ".rb", ".jar", ".wasm", ".r", ".jl", ".py", ".sh", ".ps1", ".groovy", ".jsh", ".kts", ".java", ".jnlp",
    ".php", ".lua", ".pl", ".gem", ".deb", ".rpm", ".flatpakref", ".nupkg", ".exe", ".dll",
)  # fmt: skip
_STARTING = frozenset({"run", "exec", "tool", "x", "script", "repl"})
_FETCHING = _STARTING | frozenset(
    {"install", "add", "require", "pull", "build", "compose", "global", "config", "get", "apply", "create", "localinstall", "upgrade", "update",
     "i", "load", "import", "repo", "plugin", "env", "profile"}
)  # fmt: skip
_INSTALLERS = frozenset(
    {
        "rpm",
        "dpkg",
        "installer",
        "cpanm",
        "cpan",
        "ansible-pull",
        "nix-shell",
        "nix-env",
        "helm",
        "brew",
        "choco",
        "dnx",
    }
)
# What they fetch runs in a cluster or container, and not on this host.
_CLUSTERS = frozenset({"helm", "kubectl", "docker", "podman"})
_SOURCE_OPTIONS = frozenset(
    {"--git", "--source", "--server", "--add-source", "-source", "--registry", "--repo", "--repository", "--repository-url", "--from",
     "-if", "-f", "-c", "-cp", "-classpath", "--class-path", "-s", "-u", "-i", "-ivh", "-uvh", "--index", "--index-url", "--import", "--loader",
     "--experimental-loader", "--import-map", "--require", "-r", "--channel", "--tap", "-jar", "--file", "--extra-index-url", "--preload", "--eval-file"}
)  # fmt: skip


def under(host: Host, names: Iterable[str] | Mapping[str, object]) -> bool:
    """Tell whether a host is one of some names or lies in one of these domains."""
    labels = host.name.split(".")
    known = frozenset(names)
    return any(".".join(labels[start:]) in known for start in range(len(labels)))
