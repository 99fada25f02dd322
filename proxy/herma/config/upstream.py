"""The agent servers behind the gate: where each is, what it is, and by which names it is reached."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from herma.config.cron_fire import CronFire
from herma.config.files import Files
from herma.config.listen import PRIVATE_MODE, Resolver, judge
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import FilePath, Name, PublicName, Seconds, Unix, UpstreamUrl
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["DEFAULT_UPSTREAM", "Upstream", "UpstreamTls", "Upstreams", "place_of"]

# What the upstream of the key `upstream` is called beside those of `upstreams`.
DEFAULT_UPSTREAM: Final = Name("default")


@dataclass(frozen=True, slots=True)
class UpstreamTls:
    """How an https upstream is verified."""

    ca_file: FilePath | None = option(
        "PEM file with the authorities to trust instead of the system's.", default=None
    )


@dataclass(frozen=True, slots=True)
class Upstream:
    """The agent server behind the gate."""

    url: UpstreamUrl = option(
        "`http://host:port`, `https://host:port` or `unix:/path`.", example="http://127.0.0.1:8642"
    )
    profile: Name = option(
        "Which routes the upstream has: a file of `rules/profiles/`.", default=Name("hermes-api")
    )
    key: Secret | None = option(
        "The upstream's own key, which replaces the caller's.", default=None, secret=True
    )
    key_from_page: bool = option(
        "Read the key from the upstream's page, and again when it is refused; for a dashboard that makes one at each start.",
        default=False,
    )
    public_names: tuple[PublicName, ...] = option(
        "Names in `Host` that lead here, on every listener that names no upstream.",
        default=(),
        example="dashboard.example.com",
    )
    connect_timeout_s: Seconds = option(
        "Longest wait for a connection.", default=Seconds(5.0), minimum=0.1, maximum=300
    )
    head_timeout_s: Seconds = option(
        "Longest wait for the head of an answer.", default=Seconds(600.0), minimum=1, maximum=86400
    )
    idle_timeout_s: Seconds = option(
        "Longest silence inside an answer.", default=Seconds(900.0), minimum=1, maximum=86400
    )
    max_connections: int = option(
        "Connections to the upstream, per worker.", default=256, minimum=1, maximum=65535
    )
    keepalive_s: Seconds = option(
        "How long an unused connection is kept.", default=Seconds(10.0), minimum=0, maximum=3600
    )
    tls: UpstreamTls | None = option("Verification of an https upstream.", default=None)
    cron_fire: CronFire | None = option(
        "Who may start scheduled jobs from outside (`POST /api/cron/fire`); nobody by default.", default=None
    )


def place_of(name: str) -> Path:
    """Return where an upstream stands in the configuration, by its name."""
    return ("upstream",) if name == DEFAULT_UPSTREAM else ("upstreams", name)


class Upstreams:
    """Judges each agent server as it is read."""

    def __init__(self, resolver: Resolver, files: Files) -> None:
        self._resolver = resolver
        self._files = files

    def finish_upstream(
        self, reader: Reader, made: Upstream, path: Path, _raw: Mapping[str, Any]
    ) -> Upstream:
        """Say loudly when the upstream can be reached by others than the gate."""
        at = reader.at((*path, "url"))
        if (
            not isinstance(made.url.address, Unix)
            and judge(made.url.address, PRIVATE_MODE, self._resolver).public
        ):
            message = "the agent server is not on loopback: whoever reaches it passes the gate by; put it on 127.0.0.1"
            reader.warn(at, "upstream.exposed", message)
            if not made.url.tls:
                reader.warn(at, "upstream.cleartext", "its key crosses the network in clear; use https")
        if made.tls is not None and not made.url.tls:
            reader.problem(
                reader.at((*path, "tls")), "upstream.tls", "found tls, but the url is not https; change one"
            )
        if made.key is not None and made.key_from_page:
            message = "found a key and key_from_page; take one out"
            reader.problem(reader.at((*path, "key_from_page")), "upstream.key.twice", message)
        if made.key is None and not made.key_from_page:
            reader.warn(
                at,
                "upstream.key.missing",
                "no key for the upstream; add key_file if the agent server asks for one",
            )
        return made

    def finish_tls(
        self, reader: Reader, made: UpstreamTls, path: Path, _raw: Mapping[str, Any]
    ) -> UpstreamTls:
        """Find the authorities' file."""
        if made.ca_file is None:
            return made
        file = self._files.resolve(made.ca_file)
        self._files.authorities(reader, (*path, "ca_file"), file)
        return UpstreamTls(file)
