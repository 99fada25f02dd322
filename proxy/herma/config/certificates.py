"""Certificates of callers: which names in them open what."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import Name, San
from herma.errors import Source
from herma.policy.grant import Scope
from herma.yamlfile import Path

__all__ = ["ClientCertificate", "ClientCertificates"]


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """Who is known by a certificate of an authority under `client_ca_file`."""

    name: Name = option("Name in logs; the caller is called `cert:<name>`.", example="scheduler")
    san: tuple[San, ...] = option(
        "Names that the certificate has (subjectAltName), each with its kind: `dns:`, `uri:` or `email:`; compared whole.",
        min_items=1,
        example="dns:scheduler.example.com",
    )
    scopes: frozenset[Scope] = option("What the caller may do; `admin` covers all.", min_items=1)
    group: str = option("Callers and keys of one group share the runs they start.", default="")
    max_concurrent_runs: int | None = option(
        "The caller's own cap on runs.", default=None, minimum=1, maximum=100_000
    )


class ClientCertificates:
    """Judges the entries as they are read, and together."""

    def __init__(self) -> None:
        self._names: dict[str, Source] = {}
        self._sans: dict[str, Source] = {}

    def finish(
        self, reader: Reader, made: ClientCertificate, path: Path, _raw: Mapping[str, Any]
    ) -> ClientCertificate:
        """Refuse a name that is taken: nobody is two callers."""
        at = reader.at((*path, "name"))
        earlier = self._names.setdefault(made.name.lower(), at)
        if earlier is not at:
            message = f"the name is taken by the entry at {earlier}; rename one"
            reader.problem(at, "auth.certificates.name", message)
        for index, san in enumerate(made.san):
            at = reader.at((*path, "san", index))
            earlier = self._sans.setdefault(san, at)
            if earlier is not at:
                message = f"the same name of a certificate is at {earlier}; take one out"
                reader.problem(at, "auth.certificates.twice", message)
        return made
