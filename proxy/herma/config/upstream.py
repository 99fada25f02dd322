"""The agent server behind the gate: where it is, what it is, and how it is reached."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from dataclasses import dataclass

from herma.config.option import option
from herma.config.values import FilePath, Name, Seconds, UpstreamUrl
from herma.policy.secret import Secret

__all__ = ["Upstream", "UpstreamTls"]


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
