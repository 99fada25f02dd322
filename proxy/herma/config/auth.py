"""Who may call: keys, people, programs with tokens or certificates, and how failed attempts are slowed down."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from dataclasses import dataclass
from datetime import datetime

from herma.config.certificates import ClientCertificate
from herma.config.login import Login
from herma.config.option import option
from herma.config.proxy_headers import ProxyHeaders
from herma.config.tokens import TokenIssuer
from herma.config.values import KeyHash, Name, Network, Seconds
from herma.policy.grant import Scope
from herma.policy.secret import Secret

__all__ = ["Auth", "AuthKey", "Failures"]


@dataclass(frozen=True, slots=True)
class AuthKey:
    """One API key and what it may do."""

    name: Name = option("Name in logs and on `/status`; never the key itself.", example="laptop")
    key: Secret | KeyHash = option(
        "The key: from a file, from the environment, or as a hash.", secret=True, hashed=True
    )
    scopes: frozenset[Scope] = option("What the key may do; `admin` covers all.", min_items=1)
    group: str = option("Keys of one group share the runs they start.", default="")
    expires: datetime | None = option(
        "From when on the key is refused (RFC 3339).", default=None, example="2027-01-01T00:00:00Z"
    )
    networks: tuple[Network, ...] = option(
        "Where the key may be used from; empty means anywhere.", default=()
    )
    max_concurrent_runs: int | None = option(
        "The key's own cap on runs.", default=None, minimum=1, maximum=100_000
    )


@dataclass(frozen=True, slots=True)
class Failures:
    """How failed attempts are slowed down."""

    free_attempts: int = option("Failures before the first delay.", default=5, minimum=0, maximum=1_000_000)
    base_delay_s: Seconds = option(
        "First delay; it doubles with each failure.", default=Seconds(1.0), minimum=0.1, maximum=3600
    )
    max_delay_s: Seconds = option("Longest delay.", default=Seconds(900.0), minimum=1, maximum=86400)


@dataclass(frozen=True, slots=True)
class Auth:
    """Who may call."""

    keys: tuple[AuthKey, ...] = option("API keys.", default=())
    min_entropy_bits: int = option(
        "Weakest key that is accepted; can only be raised.", default=64, minimum=64, maximum=192
    )
    failures: Failures = option("Delays after failed attempts.", factory=Failures)
    login: Login | None = option("Login page for browsers; none by default.", default=None)
    tokens: tuple[TokenIssuer, ...] = option(
        "Issuers whose signed tokens (JWT) are taken as bearer credentials.", default=()
    )
    certificates: tuple[ClientCertificate, ...] = option(
        "Callers that are known by their certificate; a listener with `tls.client_ca_file` asks for it.",
        default=(),
    )
    proxy_headers: ProxyHeaders | None = option(
        "A proxy in front that says in headers who is asking; none by default.", default=None
    )

    @property
    def open(self) -> bool:
        """Whether nobody has to say who they are."""
        return not (self.keys or self.login or self.tokens or self.certificates or self.proxy_headers)
