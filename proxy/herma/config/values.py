"""The small values that settings are made of: addresses, public names, networks, hashes of keys."""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass
from typing import NewType

__all__ = [
    "MIN_SALT_BYTES",
    "Address",
    "Audience",
    "Bytes",
    "ClaimName",
    "ClientName",
    "ContentDigest",
    "Domain",
    "EmailAddress",
    "FileMode",
    "FilePath",
    "HeaderName",
    "IssuerUrl",
    "JobName",
    "KeyHash",
    "KeySetUrl",
    "Label",
    "Name",
    "Network",
    "Origin",
    "PublicName",
    "Reason",
    "RouteName",
    "RuleId",
    "San",
    "ScopeWord",
    "Seconds",
    "Subject",
    "Tcp",
    "Unix",
    "UpstreamUrl",
    "UserName",
]

# A salt makes equal keys hash differently; 128 bits never repeat.
MIN_SALT_BYTES = 16
# More is no salt.
MAX_SALT_BYTES = 64

type Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Bytes = NewType("Bytes", int)
Seconds = NewType("Seconds", float)
FileMode = NewType("FileMode", int)
FilePath = NewType("FilePath", str)
Name = NewType("Name", str)
Origin = NewType("Origin", str)
# A name that somebody else chose: of a server, of a job.
Label = NewType("Label", str)
RuleId = NewType("RuleId", str)
RouteName = NewType("RouteName", str)
Reason = NewType("Reason", str)
ContentDigest = NewType("ContentDigest", str)
IssuerUrl = NewType("IssuerUrl", str)
ClientName = NewType("ClientName", str)
ScopeWord = NewType("ScopeWord", str)
Subject = NewType("Subject", str)
Domain = NewType("Domain", str)
EmailAddress = NewType("EmailAddress", str)
Audience = NewType("Audience", str)
ClaimName = NewType("ClaimName", str)
KeySetUrl = NewType("KeySetUrl", str)
# A job of an agent, or one of its profiles.
JobName = NewType("JobName", str)
San = NewType("San", str)
HeaderName = NewType("HeaderName", str)
UserName = NewType("UserName", str)


@dataclass(frozen=True, slots=True)
class Tcp:
    """A TCP address; `host` is an IP address or a host name, without brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Unix:
    """A Unix socket; `path` is absolute."""

    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"


type Address = Tcp | Unix


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name callers may put in `Host`; `port` None means any port."""

    host: str
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UpstreamUrl:
    """Where the agent server listens."""

    address: Address
    tls: bool = False

    def __str__(self) -> str:
        if isinstance(self.address, Unix):
            return str(self.address)
        return f"{'https' if self.tls else 'http'}://{self.address}"

    @property
    def authority(self) -> str:
        """What goes in `Host`: the default port is left out (RFC 9110 section 4.2.3)."""
        if isinstance(self.address, Unix):
            return "localhost"
        text = str(self.address)
        return text.removesuffix(":443" if self.tls else ":80")


_HASH = re.compile(r"sha256:([0-9a-f]+):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, repr=False)
class KeyHash:
    """A stored key of the right form, `sha256:<salt>:<digest>` in hex; what it opens is judged by `identity`."""

    salt: bytes
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> "KeyHash":
        """Read the text form.

        Raises:
            ValueError: It is not of that form; the message does not repeat it.
        """
        found = _HASH.fullmatch(text)
        if not found or len(found[1]) % 2 or not MIN_SALT_BYTES * 2 <= len(found[1]) <= MAX_SALT_BYTES * 2:
            expected = f"sha256:<salt, at least {2 * MIN_SALT_BYTES} hex digits>:<64 hex digits>"
            raise ValueError(f"expected {expected}; make one with `herma key hash`")
        return cls(bytes.fromhex(found[1]), bytes.fromhex(found[2]))

    def is_of(self, key: bytes) -> bool:
        """Tell whether it is the hash of this key: the configuration refuses the same key under two names."""
        return hmac.compare_digest(hashlib.sha256(self.salt + key).digest(), self.digest)

    def __str__(self) -> str:
        return f"sha256:{self.salt.hex()}:{self.digest.hex()}"

    def __repr__(self) -> str:
        return "KeyHash('***')"
