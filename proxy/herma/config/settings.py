"""The whole configuration as one frozen value.

These classes are the one source of what `herma.yaml` may hold: the reader, the JSON Schema and the reference page are
driven by them. A field's name is its key; units stand in names. Every default is safe.
"""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from herma.config.auth import Auth
from herma.config.egress import Egress
from herma.config.exemption import Exemption
from herma.config.option import derived, option
from herma.config.state import State
from herma.config.surface import Surface
from herma.config.upstream import DEFAULT_UPSTREAM, Upstream
from herma.config.values import (
    Address,
    Bytes,
    FileMode,
    FilePath,
    Name,
    Network,
    Origin,
    PublicName,
    Reason,
    Seconds,
    Tcp,
)
from herma.errors import Problem
from herma.policy.decision import Mode
from herma.policy.secret import Secret

__all__ = [
    "Admin",
    "Audit",
    "CheckSettings",
    "Content",
    "Cors",
    "Limits",
    "Listener",
    "Rate",
    "Rates",
    "Redaction",
    "Settings",
    "Suppressed",
    "Tls",
]

_NO_CHECKS: Mapping[str, "CheckSettings"] = MappingProxyType({})
_NO_UPSTREAMS: Mapping[str, Upstream] = MappingProxyType({})
_NO_SURFACES: Mapping[str, "Surface"] = MappingProxyType({})


class ClientAuth(StrEnum):
    """Whether callers must have a certificate."""

    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Tls:
    """The certificate of a listener, and whether callers need one of their own."""

    cert_file: FilePath = option("PEM file with the certificate, followed by its chain.")
    key_file: FilePath = option("PEM file with the certificate's private key.")
    client_ca_file: FilePath | None = option(
        "PEM file with the authorities of callers' certificates; `auth.certificates` says what these open.",
        default=None,
    )
    client_auth: ClientAuth = option(
        "With `client_ca_file`: `required` connects only callers with a certificate, `optional` others too.",
        default=ClientAuth.REQUIRED,
    )


@dataclass(frozen=True, slots=True)
class Listener:
    """One address that callers connect to.

    `binds` holds the IP addresses the start-up law judged: bind these, never resolve the name again. `public` is its
    verdict. Both are worked out, not configured.
    """

    address: Address = option("`host:port`, `[IPv6]:port` or `unix:/path`.", example="127.0.0.1:8643")
    mode: FileMode = option(
        'Mode of a Unix socket, in quotes. Wider than "0600" counts as public.', default=FileMode(0o600)
    )
    tls: Tls | None = option("Serve HTTPS with this certificate.", default=None)
    public_names: tuple[PublicName, ...] = option(
        "Names that callers may use in `Host`, beside the listener's own address.",
        default=(),
        example="agent.example.com",
    )
    upstream: Name | None = option(
        "The upstream that this listener leads to, `default` or one of `upstreams`; without it `Host` decides.",
        default=None,
    )
    binds: tuple[str, ...] = derived(default=())
    public: bool = derived(default=True)


@dataclass(frozen=True, slots=True)
class Cors:
    """Which web pages may call from a browser."""

    origins: tuple[Origin, ...] = option(
        "Origins that may call; none by default.", default=(), example="https://app.example.com"
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket."""

    per_s: float = option("Requests a second in the long run.", minimum=0.001, maximum=1_000_000)
    burst: float = option("Requests at once.", minimum=1, maximum=1_000_000)


@dataclass(frozen=True, slots=True)
class Rates:
    """Requests a second."""

    per_key: Rate | None = option("For each key.", default=None)
    per_address: Rate | None = option("For each address, with a key or without.", default=None)
    unauthenticated: Rate = option(
        "For each address, without a key.", factory=lambda: Rate(per_s=5.0, burst=20.0)
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a caller may ask for."""

    max_body_bytes: Bytes = option(
        "Largest request body.", default=Bytes(10_485_760), minimum=1024, maximum=1 << 30
    )
    max_inflated_bytes: Bytes = option(
        "Largest request body after decompression.", default=Bytes(10_485_760), minimum=1024, maximum=1 << 30
    )
    max_json_depth: int = option("Levels of a JSON body.", default=64, minimum=4, maximum=200)
    max_json_keys: int = option(
        "Members of all objects of a JSON body.", default=20_000, minimum=16, maximum=10_000_000
    )
    max_response_bytes: Bytes = option(
        "Largest answer that is decided whole.", default=Bytes(67_108_864), minimum=65_536, maximum=1 << 32
    )
    max_concurrent_runs: int = option(
        "Turns at the same time over all keys; 0 means no cap.", default=10, minimum=0, maximum=100_000
    )
    max_connections: int = option("Open connections, per worker.", default=1024, minimum=1, maximum=65535)
    max_connections_per_address: int = option(
        "Open connections from one address.", default=128, minimum=1, maximum=65535
    )
    max_headers: int = option("Header fields of a request.", default=100, minimum=8, maximum=1000)
    max_header_bytes: Bytes = option(
        "Bytes of all header fields.", default=Bytes(32_768), minimum=1024, maximum=1_048_576
    )
    max_target_bytes: Bytes = option(
        "Bytes of the request target.", default=Bytes(8192), minimum=256, maximum=65_536
    )
    head_timeout_s: Seconds = option(
        "Longest wait for a request's head.", default=Seconds(10.0), minimum=0.1, maximum=600
    )
    body_timeout_s: Seconds = option(
        "Longest wait for a request's body.", default=Seconds(60.0), minimum=0.1, maximum=3600
    )
    idle_timeout_s: Seconds = option(
        "How long a connection may wait for its next request.", default=Seconds(75.0), minimum=1, maximum=3600
    )
    send_timeout_s: Seconds = option(
        "How long a caller may not read.", default=Seconds(30.0), minimum=0.1, maximum=3600
    )
    max_buffered_bytes: Bytes = option(
        "Bytes of all bodies held at the same time, per worker.",
        default=Bytes(268_435_456),
        minimum=1_048_576,
        maximum=1 << 36,
    )
    rates: Rates = option("Requests a second.", factory=Rates)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How one check acts."""

    mode: Mode = option(
        "`enforce` refuses, `monitor` reports and passes, `off` does not look.", default=Mode.ENFORCE
    )


class OptionalClass(StrEnum):
    """What is masked only on demand; the rule of the same id says what it is."""

    PAYMENT_CARD = "payment_card"
    IBAN = "iban"

    @property
    def rule_id(self) -> str:
        """Name the rule that finds it."""
        return self.value.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Redaction:
    """How secrets are taken out of answers."""

    mode: Mode = option(
        "`enforce` masks, `monitor` only reports.", default=Mode.ENFORCE, choices=("enforce", "monitor")
    )
    fingerprint_key: Secret | None = option(
        "Key of the fingerprints in placeholders; without one it is random per start.",
        default=None,
        secret=True,
    )
    optional: tuple[OptionalClass, ...] = option(
        "Classes that are masked only when they are named: they are no credentials, and look-alikes are common.",
        default=(),
    )


@dataclass(frozen=True, slots=True)
class Admin:
    """The listener for operators; never public."""

    address: Address = option(
        "A loopback address or `unix:/path` (mode 0600).", default=Tcp("127.0.0.1", 8644)
    )
    binds: tuple[str, ...] = derived(default=("127.0.0.1",))


@dataclass(frozen=True, slots=True)
class Audit:
    """Where decisions are written."""

    file: FilePath = option("`-` for standard output, or a file.", default=FilePath("-"))


@dataclass(frozen=True, slots=True)
class Suppressed:
    """One indicator that is not used."""

    id: Name = option("The id of the indicator, as `herma ioc list` prints it.", example="axios-npm-06")
    reason: Reason = option("Why; for whoever reads this next year.")


@dataclass(frozen=True, slots=True)
class Content:
    """Rules and indicators from outside the package."""

    rules_dir: FilePath | None = option("Directory that replaces the packaged rules.", default=None)
    rules_dirs: tuple[FilePath, ...] = option(
        "Directories of own rules, added to the others: `mcp/*.yaml`, `cron/*.yaml`, `redaction/*.yaml`.",
        default=(),
    )
    ioc_dir: FilePath | None = option("Directory that replaces the packaged indicators.", default=None)
    ioc_dirs: tuple[FilePath, ...] = option(
        "Directories, STIX bundles and MISP events whose indicators are added to the others.", default=()
    )
    ioc_public_keys: tuple[FilePath, ...] = option(
        "Ed25519 public keys; with any, each directory of indicators needs a manifest signed by one of them.",
        default=(),
    )
    ioc_minimum_serial: int = option(
        "Lowest serial of a signed manifest that is taken after a start.",
        default=0,
        minimum=0,
        maximum=2**53 - 1,
    )
    ioc_suppress: tuple[Suppressed, ...] = option("Indicators that are not used.", default=())


def _default_listeners() -> tuple[Listener, ...]:
    return (Listener(address=Tcp("127.0.0.1", 8643), binds=("127.0.0.1",), public=False),)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything `herma.yaml` says, checked whole.

    `digest` is the SHA-256 of the file's text, `path` the file, `warnings` what is allowed but should not stay.
    """

    upstream: Upstream = option("The agent server behind the gate.")
    upstreams: Mapping[str, Upstream] = option(
        "More agent servers, such as a dashboard, by name; each is reached by its `public_names` or by a listener that names it.",
        default=_NO_UPSTREAMS,
    )
    listen: tuple[Listener, ...] = option(
        "Where callers connect.",
        factory=_default_listeners,
        min_items=1,
        default_text="one, at `127.0.0.1:8643`",
    )
    auth: Auth = option("Who may call.", factory=Auth)
    trusted_proxies: tuple[Network, ...] = option(
        "Peers whose forwarded headers are believed.", default=(), example="10.1.2.0/24"
    )
    cors: Cors = option("Which web pages may call from a browser.", factory=Cors)
    limits: Limits = option("How much a caller may ask for.", factory=Limits)
    checks: Mapping[str, CheckSettings] = option("How each check acts, by its id.", default=_NO_CHECKS)
    surfaces: Mapping[str, Surface] = option(
        "Who may use an operation, by its name in the profile, where that is not what the profile says.",
        default=_NO_SURFACES,
    )
    redaction: Redaction = option("How secrets are taken out of answers.", factory=Redaction)
    exemptions: tuple[Exemption, ...] = option(
        "Rules that are not applied to one server, job or route, until a day.", default=()
    )
    strict: bool = option("Refuse routes that the profile does not know.", default=False)
    admin: Admin = option("The listener for operators.", factory=Admin)
    audit: Audit = option("Where decisions are written.", factory=Audit)
    state: State = option("Where used tokens are remembered.", factory=State)
    content: Content = option("Rules and indicators from outside the package.", factory=Content)
    egress: Egress | None = option(
        "The gate for what the agent sends out: a forward proxy in a process of its own (`herma[egress]`).",
        default=None,
    )
    workers: int = option("Processes that share the listeners.", default=1, minimum=1, maximum=128)
    drain_timeout_s: Seconds = option(
        "How long streams may go on after SIGTERM.", default=Seconds(30.0), minimum=0, maximum=86400
    )
    path: str = derived(default="")
    digest: str = derived(default="")
    warnings: tuple[Problem, ...] = derived(default=())

    def all_upstreams(self) -> dict[str, Upstream]:
        """Return every agent server by its name, the one of `upstream` first."""
        return {DEFAULT_UPSTREAM: self.upstream, **self.upstreams}

    def modes(self) -> dict[str, Mode]:
        """Return the mode of each check that the file names."""
        return {check: settings.mode for check, settings in self.checks.items()}
