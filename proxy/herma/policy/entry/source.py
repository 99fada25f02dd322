"""Where the programs of an entry come from: packages with the names of others, forges, archives, raw addresses, registries.

A registry's name and a repository on a known forge are how servers are installed. An archive from a stranger, a package index
of a stranger or an address without a name are not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from herma.policy.address import Host, hosts, is_foreign
from herma.policy.command.argv import basename
from herma.policy.command.call import Call
from herma.policy.entry.lookalike import Lookalikes
from herma.policy.entry.package import packages, sources
from herma.policy.rule import Rule

__all__ = ["Sources", "under"]

# Sources of one line that are looked at.
MAX_SOURCES = 16
_ARCHIVES = (".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".whl", ".zip", ".pyz", ".tar")
# Programs whose operands are packages.
_FETCHERS = frozenset({"npx", "bunx", "npm", "pnpm", "pnpx", "yarn", "bun", "uvx", "uv", "pipx", "pip"})
_ENGINES = frozenset({"docker", "podman", "nerdctl"})
_SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/", "file:///tmp/", "file:///dev/shm/", "file:/tmp/")  # noqa: S108 - names of places


class Sources:
    """Knows the well-known packages, forges and registries of a set of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        known: dict[str, set[str]] = {}
        self._hosts: dict[str, set[str]] = {}
        for rule in rules:
            for option, lists in (("known", known), ("hosts", self._hosts)):
                for name, words in rule.options.get(option, {}).items():
                    lists.setdefault(str(name), set()).update(map(str, words))
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
            if name not in _FETCHERS:
                continue
            line = " ".join(call.argv)
            for package in packages(line):
                if imitated := self._lookalikes.imitates(package):
                    yield f"imitates:{imitated}"
            yield from (effect for source in islice(sources(line), MAX_SOURCES) for effect in self.of(source))

    def of(self, source: str) -> Iterator[str]:
        """Give the effects of fetching something from an address; a registry's begins with `registry+`."""
        kind = "registry" if source.startswith("registry+") else "source"
        address = source.removeprefix("registry+").lower()
        if address.startswith(_SCRATCH):
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

    def _of_image(self, argv: Sequence[str]) -> Iterator[str]:
        if "run" not in argv[1:4]:
            return
        for word in argv[2:]:
            registry, slash, _rest = word.partition("/")
            if slash and word[:1].isdigit() and "=" not in word:
                yield from (
                    "source:raw" for host in hosts(registry) if host.address is not None and is_foreign(host)
                )


def under(host: Host, names: Iterable[str] | Mapping[str, object]) -> bool:
    """Tell whether a host is one of some names or lies in one of these domains."""
    labels = host.name.split(".")
    known = frozenset(names)
    return any(".".join(labels[start:]) in known for start in range(len(labels)))
