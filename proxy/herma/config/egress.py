"""The egress gate: what the agent sends out, by a proxy that it is told to use."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from herma.config.files import Files
from herma.config.option import derived, option
from herma.config.reader import Reader
from herma.config.values import Address, Bytes, FilePath, Tcp, Unix, UpstreamUrl
from herma.policy.decision import Mode
from herma.policy.egress.destination import EgressMode, Near
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["Beyond", "Egress", "Egresses", "PlatformHosts", "Sealed"]

_NO_PLATFORMS: Mapping[str, "PlatformHosts"] = MappingProxyType({})


class Beyond(StrEnum):
    """What becomes of a body that is larger than what is looked at."""

    REFUSE = "refuse"
    PASS = "pass"  # noqa: S105 - no password


class Sealed(StrEnum):
    """What becomes of what nobody can look into."""

    PASS = "pass"  # noqa: S105 - no password
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class PlatformHosts:
    """Where a platform is that everybody runs for themselves."""

    hosts: tuple[HostPattern, ...] = option("Its hosts.", example="matrix.example.org", min_items=1)


@dataclass(frozen=True, slots=True)
class Egress:
    """The forward proxy through which the agent reaches the world."""

    address: Address = option("Where the agent connects; a loopback address.", default=Tcp("127.0.0.1", 8645))
    mode: EgressMode = option(
        "`observe` reports destinations, `block-known-bad` refuses indicators, metadata services and private networks, `allow-list` all but what is listed.",
        default=EgressMode.BLOCK_KNOWN_BAD,
    )
    hosts: tuple[HostPattern, ...] = option(
        "In mode `allow-list`: hosts that the agent may reach, beside platforms, models and `services`.",
        default=(),
        example="*.example.com",
    )
    near: tuple[Near, ...] = option(
        "Private networks and addresses that the agent may reach, such as a model on this machine.",
        default=(),
        example="127.0.0.1:11434",
    )
    platforms: Mapping[str, PlatformHosts] = option(
        "Hosts of platforms by the platform's id, for those that everybody runs for themselves.",
        default=_NO_PLATFORMS,
    )
    models: tuple[HostPattern, ...] = option(
        "More hosts of models. What goes to a model is not looked at.", default=()
    )
    services: tuple[HostPattern, ...] = option(
        "More hosts whose interfaces ask for a key: a field for credentials may hold what stands in a watched file there, and nothing else may.",
        default=(),
        example="api.example.com",
    )
    pinned: tuple[HostPattern, ...] = option(
        "Hosts whose programs take no certificate but theirs. What goes there is not looked at.", default=()
    )
    watch: tuple[FilePath, ...] = option(
        "Files whose lines must not leave, such as the agent's `.env`.",
        default=(),
        example="/root/.hermes/.env",
    )
    exfiltration: Mode = option(
        "Whether secrets and watched lines on their way to strangers are refused, reported or not looked for.",
        default=Mode.ENFORCE,
    )
    max_body_bytes: Bytes = option(
        "Largest body that is looked at.", default=Bytes(33_554_432), minimum=65_536, maximum=1 << 30
    )
    beyond: Beyond = option(
        "Whether larger bodies are refused or pass unread; to platforms and strangers alike.",
        default=Beyond.REFUSE,
    )
    sealed: Sealed = option(
        "Whether archives with a password, encrypted files and packings that nobody here unpacks are refused, to platforms and strangers alike; passed, they are told in the audit.",
        default=Sealed.PASS,
    )
    max_buffered_bytes: Bytes = option(
        "Bytes of all bodies held at the same time.",
        default=Bytes(134_217_728),
        minimum=1_048_576,
        maximum=1 << 36,
    )
    max_connections: int = option("Open connections of the agent.", default=2048, minimum=1, maximum=65535)
    state_dir: FilePath = option(
        "Directory of the authority whose certificates the agent is to trust; made with mode 0700.",
        default=FilePath("egress"),
    )
    ca_file: FilePath | None = option(
        "PEM file with the authorities to trust beside the system's, for platforms of your own.", default=None
    )
    upstream_proxy: UpstreamUrl | None = option(
        "The proxy behind this one, where the network has one: `http://proxy.example.com:3128`.", default=None
    )
    upstream_proxy_login: Secret | None = option(
        "`user:password` for that proxy, if it asks who comes.", default=None, secret=True
    )
    record_file: FilePath | None = option(
        "File in which requests are kept for debugging, as mitmproxy keeps flows: without values of fields and queries, bodies masked. Off by default.",
        default=None,
    )
    record_max_bytes: Bytes = option(
        "Size at which nothing more is recorded.",
        default=Bytes(67_108_864),
        minimum=65_536,
        maximum=1 << 36,
    )
    binds: tuple[str, ...] = derived(default=("127.0.0.1",))


class Egresses:
    """Judges the section once it is read; `private` gives what to bind of an address that only this machine may reach."""

    def __init__(
        self, private: Callable[[Reader, Address, Path, str], tuple[str, ...]], files: Files
    ) -> None:
        self._private = private
        self._files = files

    def finish(self, reader: Reader, made: Egress, path: Path, _raw: Mapping[str, Any]) -> Egress:
        """Keep the proxy on loopback, and find its files."""
        if isinstance(made.address, Unix):
            message = "found a Unix socket; programs find a proxy by host and port only"
            reader.problem(reader.at((*path, "address")), "egress.unix", message)
        if made.upstream_proxy is not None and isinstance(made.upstream_proxy.address, Unix):
            message = "found a Unix socket; name a proxy by http://host:port"
            reader.problem(reader.at((*path, "upstream_proxy")), "egress.upstream_proxy", message)
        login = made.upstream_proxy_login
        if login is not None and (made.upstream_proxy is None or b":" not in login.reveal()):
            message = "expected `user:password`, and `upstream_proxy` that it is for"
            reader.problem(reader.at((*path, "upstream_proxy_login")), "egress.upstream_proxy_login", message)
        if made.mode is not EgressMode.ALLOW_LIST and made.hosts:
            message = "hosts are only read in mode allow-list; in this one they change nothing"
            reader.warn(reader.at((*path, "hosts")), "egress.hosts.unread", message)
        watch = tuple(map(self._files.resolve, made.watch))
        for index, file in enumerate(watch):
            self._files.present(reader, (*path, "watch", index), file)
        if made.ca_file is not None:
            self._files.authorities(reader, (*path, "ca_file"), self._files.resolve(made.ca_file))
        return replace(
            made,
            watch=watch,
            state_dir=self._files.resolve(made.state_dir),
            record_file=made.record_file and self._files.resolve(made.record_file),
            ca_file=made.ca_file and self._files.resolve(made.ca_file),
            binds=self._private(reader, made.address, (*path, "address"), "egress.public"),
        )
