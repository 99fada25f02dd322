"""Where the gate keeps what must outlive it: the tokens that may be used once, and were."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilesystemPath
from typing import Any

from herma.config.files import Files
from herma.config.listen import PRIVATE_MODE, Resolver, judge
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import Address, FilePath, Name, Unix
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["Redis", "State", "States"]


@dataclass(frozen=True, slots=True)
class Redis:
    """A Redis or Valkey server that several gates share (`herma[redis]`)."""

    address: Address = option("`host:port` or `unix:/path`.", example="127.0.0.1:6379")
    username: str = option("The user, where there is more than the default one.", default="")
    password: Secret | None = option("The user's password.", default=None, secret=True)
    tls: bool = option("Connect with TLS.", default=False)
    ca_file: FilePath | None = option(
        "PEM file with the authorities to trust instead of the system's.", default=None
    )
    database: int = option("The number of the database.", default=0, minimum=0, maximum=1_000_000)
    prefix: Name = option("What all names begin with.", default=Name("herma"))


@dataclass(frozen=True, slots=True)
class State:
    """Where used tokens are remembered; without either in memory, and then a token from before a start is refused."""

    file: FilePath | None = option("A file, for the gates of one machine.", default=None)
    redis: Redis | None = option("A server, for the gates of several machines.", default=None)


class States:
    """Judges where state is kept."""

    def __init__(self, files: Files, resolver: Resolver) -> None:
        self._files = files
        self._resolver = resolver

    def finish_redis(self, reader: Reader, made: Redis, path: Path, _raw: Mapping[str, Any]) -> Redis:
        """Find the authorities, and say what crosses the network in clear."""
        at = reader.at((*path, "address"))
        if made.ca_file is not None and not made.tls:
            message = "found authorities and no tls; set tls: true or take them out"
            reader.problem(reader.at((*path, "ca_file")), "state.redis.tls", message)
        if made.tls and isinstance(made.address, Unix):
            message = "found tls for a Unix socket; take it out"
            reader.problem(reader.at((*path, "tls")), "state.redis.tls", message)
        elsewhere = (
            not isinstance(made.address, Unix) and judge(made.address, PRIVATE_MODE, self._resolver).public
        )
        if elsewhere and not made.tls:
            message = "the state and its password cross the network in clear; set tls: true"
            reader.warn(at, "state.redis.cleartext", message)
        if elsewhere and made.password is None:
            message = "whoever reaches the server may make used tokens usable again; give it a password_file"
            reader.warn(at, "state.redis.open", message)
        if made.ca_file is None:
            return made
        file = self._files.resolve(made.ca_file)
        self._files.authorities(reader, (*path, "ca_file"), file)
        return replace(made, ca_file=file)

    def finish_state(self, reader: Reader, made: State, path: Path, _raw: Mapping[str, Any]) -> State:
        """Let the file's path start where the configuration is."""
        if made.file is not None and made.redis is not None:
            message = "found a file and a server; keep one"
            reader.problem(reader.at((*path, "file")), "state.several", message)
        if made.file is None:
            return made
        file = self._files.resolve(made.file)
        parent = FilePath(str(FilesystemPath(file).parent))
        self._files.directory(reader, (*path, "file"), parent)
        return replace(made, file=file)
