"""Who has this certificate? Its chain was verified by TLS; here only names are compared, whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from herma.policy.grant import Principal, Scope

__all__ = ["CertificateRecord", "Certificates", "names_of"]

_PREFIX = "cert:"

# What Python calls a kind of name, and what the configuration calls it. The subject's common name is none of them: RFC 6125
# section 6.4.4, and anybody may write anything into it.
_KINDS = {"DNS": "dns", "URI": "uri", "email": "email"}


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """A caller as configured: the names of the certificate, such as `dns:host.example.com`, and what they open."""

    name: str
    names: frozenset[str]
    scopes: frozenset[Scope]
    group: str = ""
    max_concurrent_runs: int | None = None

    @property
    def principal(self) -> Principal:
        """The caller who has such a certificate."""
        return Principal(f"{_PREFIX}{self.name}", self.scopes, self.group, self.max_concurrent_runs)


class Certificates:
    """The callers that are known by a certificate; without any, none opens the gate."""

    def __init__(self, records: Sequence[CertificateRecord] = ()) -> None:
        named = [name for record in records for name in record.names]
        if len(set(named)) != len(named):
            raise ValueError("two callers have the same name in their certificates")
        self._by_name = {name: record for record in records for name in record.names}

    def caller(self, names: frozenset[str]) -> Principal | None:
        """Return whose names these are; None for nobody's, and for those of two."""
        found = {record.name: record for name in names if (record := self._by_name.get(name)) is not None}
        return next(iter(found.values())).principal if len(found) == 1 else None


def names_of(alternatives: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Write the names of a certificate (subjectAltName) as the configuration does."""
    return frozenset(_written(_KINDS[kind], name) for kind, name in alternatives if kind in _KINDS)


def _written(kind: str, name: str) -> str:
    if kind == "dns":
        return f"dns:{name.lower()}"
    if kind == "email":
        # The part before the `@` has letter case (RFC 5321 section 2.4).
        local, at, domain = name.rpartition("@")
        return f"email:{local}{at}{domain.lower()}"
    return f"uri:{name}"
