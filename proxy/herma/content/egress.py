"""Platforms, models and services as data: one YAML file a platform, one list of hosts that serve models, one of services with keys.

Read strictly: a place that cannot be read, or that would take whole messages out of the masking, is an error with its place.
Whoever runs a platform on hosts of their own names them in the configuration; without hosts a platform is left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Final

from herma.content.node import Node
from herma.content.rules import read_rule_file, rule_files
from herma.errors import ConfigError, ContentError, Source
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.platform import Platform, PlatformRoute
from herma.policy.egress.service import Service
from herma.yamlfile import load

__all__ = [
    "LISTS",
    "MODELS",
    "SERVICES",
    "PlatformExample",
    "PlatformFile",
    "load_models",
    "load_platforms",
    "load_services",
    "read_platforms",
]

# The files of the directory that are no platforms.
MODELS: Final = "model-providers"
SERVICES: Final = "services"
LISTS: Final = frozenset({f"{MODELS}.yaml", f"{SERVICES}.yaml"})

_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_TOP: Final = (
    "id",
    "title",
    "description",
    "references",
    "hosts",
    "self_hosted",
    "in_use",
    "routes",
    "examples",
)
_ROUTE: Final = ("path", "in_use", "passed_to")
_EXAMPLE: Final = ("method", "path", "type", "body", "message", "secret", "masked")
_MODELS: Final = ("title", "description", "references", "providers")
_PROVIDER: Final = ("name", "hosts")
_SERVICES: Final = ("title", "description", "references", "services")
_SERVICE: Final = ("name", "hosts", "in_use", "fields")
_FIELD: Final = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True, slots=True)
class PlatformExample:
    """What is sent, and whether something in it is masked: a request, or with `socket` a message of a WebSocket.

    `secret` is what is gone afterwards; all else is as it was.
    """

    method: str
    path: str
    type: str
    body: str
    socket: bool
    secret: str
    masked: bool


@dataclass(frozen=True, slots=True)
class PlatformFile:
    """One file: the platform, whether its hosts are the operator's, and its proof."""

    platform: Platform
    self_hosted: bool
    examples: tuple[PlatformExample, ...]
    source: Source


def load_platforms(
    directory: Traversable,
    hosts: Mapping[str, Sequence[str | HostPattern]] | None = None,
    own: Sequence[Traversable] = (),
) -> tuple[Platform, ...]:
    """Read all platforms that have hosts, ordered by id.

    Args:
        directory: Where they are.
        hosts: Further hosts of platforms, by id.
        own: Directories whose platforms are added.

    Raises:
        ContentError: a file cannot be used, an id or a host is taken twice, or hosts are of no platform.
    """
    files = read_platforms(directory, own)
    named = {identifier: _patterns_of(identifier, more) for identifier, more in (hosts or {}).items()}
    known = {file.platform.id for file in files}
    for identifier in named:
        if identifier not in known:
            message = f"no such platform: {identifier!r}; there are: {', '.join(sorted(known))}"
            raise ContentError(message, _CONFIGURED)
    taken: dict[HostPattern, str] = {}
    for file in files:
        for host in (*file.platform.hosts, *named.get(file.platform.id, ())):
            owner = taken.setdefault(host, file.platform.id)
            if owner != file.platform.id:
                raise ContentError(f"the host {host.name} is one of {owner!r} already", file.source)
    all_of = (_with(file.platform, named.get(file.platform.id, ())) for file in files)
    return tuple(platform for platform in all_of if platform.hosts)


_CONFIGURED: Final = Source("egress.platforms")


def _patterns_of(identifier: str, hosts: Sequence[str | HostPattern]) -> tuple[HostPattern, ...]:
    try:
        return tuple(host if isinstance(host, HostPattern) else HostPattern.parse(host) for host in hosts)
    except ValueError as error:
        raise ContentError(f"{identifier}: {error}", _CONFIGURED) from error


def _with(platform: Platform, hosts: tuple[HostPattern, ...]) -> Platform:
    every = tuple(dict.fromkeys((*platform.hosts, *hosts)))
    return Platform(platform.id, platform.title, every, platform.in_use, platform.routes)


def read_platforms(directory: Traversable, own: Sequence[Traversable] = ()) -> tuple[PlatformFile, ...]:
    """Read the files of platforms with all that is in them, ordered by id.

    Raises:
        ContentError: a file cannot be used, or an id is taken twice.
    """
    found: dict[str, PlatformFile] = {}
    for place in (directory, *own):
        for entry in rule_files(place):
            if entry.name in LISTS:
                continue
            file = _platform(_top(entry, _TOP, _TOP[:4]), entry)
            if file.platform.id in found:
                taken = found[file.platform.id].source.file
                raise ContentError(f"the id is taken by {taken}; choose another", Source(str(entry)))
            found[file.platform.id] = file
    if not found:
        raise ContentError(
            "no platforms here; without them no message would be masked", Source(str(directory))
        )
    return tuple(found[identifier] for identifier in sorted(found))


def load_models(directory: Traversable, own: Sequence[Traversable] = ()) -> tuple[HostPattern, ...]:
    """Read the hosts that serve models, each once; a directory of one's own may have none.

    Raises:
        ContentError: a file cannot be used, or the first directory has none.
    """
    hosts: dict[HostPattern, None] = {}
    entries = [directory.joinpath(f"{MODELS}.yaml"), *_present(MODELS, own)]
    for entry in entries:
        top = _top(entry, _MODELS, ("providers",))
        for node in top.nodes("providers", _PROVIDER, _PROVIDER):
            hosts |= dict.fromkeys(_hosts(node, empty=False))
    return tuple(hosts)


def load_services(directory: Traversable, own: Sequence[Traversable] = ()) -> tuple[Service, ...]:
    """Read the services that ask for keys; without a file of them, all are strangers.

    Raises:
        ContentError: a file cannot be used.
    """
    return tuple(
        _service(node)
        for entry in _present(SERVICES, (directory, *own))
        for node in _top(entry, _SERVICES, ("services",)).nodes("services", _SERVICE, _SERVICE[:2])
    )


def _present(name: str, places: Sequence[Traversable]) -> list[Traversable]:
    return [entry for place in places if (entry := place.joinpath(f"{name}.yaml")).is_file()]


def _service(node: Node) -> Service:
    fields = node.texts("fields")
    for index, field in enumerate(fields):
        if not _FIELD.fullmatch(field):
            raise node.error(
                "expected the name of a field in lower case, such as `x-api-key`", "fields", index
            )
    return Service(
        node.text("name"), _hosts(node, empty=False), _places(node), tuple(map(str.encode, fields))
    )


def _top(entry: Traversable, known: Sequence[str], required: Sequence[str]) -> Node:
    try:
        loaded = load(read_rule_file(entry), str(entry))
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error
    return Node(loaded, (), loaded.value, known, required)


def _platform(top: Node, entry: Traversable) -> PlatformFile:
    identifier = top.text("id")
    if not _ID.fullmatch(identifier) or entry.name != f"{identifier}.yaml":
        raise top.error("the id must be the file's name: lower-case letters, digits and hyphens", "id")
    self_hosted = top.flag("self_hosted")
    if not top.texts("references"):
        raise top.error("expected where the platform describes its interface", "references")
    platform = Platform(
        id=identifier,
        title=top.text("title"),
        hosts=_hosts(top, empty=self_hosted),
        in_use=_places(top),
        routes=tuple(_route(node) for node in top.nodes("routes", _ROUTE, _ROUTE[:2])),
    )
    examples = tuple(_example(node) for node in top.nodes("examples", _EXAMPLE, ("path", "masked")))
    if len({example.masked for example in examples}) < 2:
        raise top.error("expected an example that is masked and one that is left as it is", "examples")
    return PlatformFile(platform, self_hosted, examples, Source(str(entry)))


def _hosts(node: Node, *, empty: bool) -> tuple[HostPattern, ...]:
    texts = node.texts("hosts")
    if bool(texts) == empty:
        message = "expected no hosts: whoever runs it names them" if empty else "expected a host"
        raise node.error(message, "hosts")
    hosts = []
    for index, text in enumerate(texts):
        try:
            hosts.append(HostPattern.parse(text))
        except ValueError as error:
            raise node.error(str(error), "hosts", index) from error
    return tuple(hosts)


def _places(node: Node) -> tuple[str, ...]:
    places = node.texts("in_use")
    for index, place in enumerate(places):
        try:
            PlatformRoute("/", (place,))
        except ValueError as error:
            raise node.error(str(error), "in_use", index) from error
        if not all(part.replace("*", "").strip("/") for part in place.split("#")):
            raise node.error(
                "expected a place with a name in it: this one is whole messages", "in_use", index
            )
    return places


def _route(node: Node) -> PlatformRoute:
    places = _places(node)
    return node.checked("path", lambda: PlatformRoute(node.text("path"), places, node.text("passed_to")))


def _example(node: Node) -> PlatformExample:
    socket, masked, secret = node.has("message"), node.flag("masked"), node.text("secret")
    if socket == node.has("method"):
        raise node.error("expected either the method of a request or the message of a WebSocket")
    if masked != bool(secret) or secret not in node.text("path") + node.text("body") + node.text("message"):
        raise node.error("what is masked names its secret, as it stands there; nothing else does", "masked")
    return PlatformExample(
        method=node.text("method"),
        path=node.text("path"),
        type=node.text("type"),
        body=node.text("message" if socket else "body"),
        socket=socket,
        secret=secret,
        masked=masked,
    )
