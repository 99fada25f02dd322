"""People who log in with a browser: by passwords or at an identity provider, and how long a session lasts."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herma.config.openid import OpenId
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import Name, Seconds
from herma.errors import Source
from herma.policy.browser.password_hash import PasswordHash
from herma.policy.browser.role import Role
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["Login", "LoginUser", "Logins"]


@dataclass(frozen=True, slots=True)
class LoginUser:
    """One person."""

    name: Name = option("Name that is typed at the login; `user:<name>` in logs.", example="alice")
    password_hash: Secret = option(
        "The stored password, argon2id; `herma key password` makes it.", secret=True
    )
    role: Role = option(
        "`viewer` has the scopes status and read, `operator` also run, approve and cron, `admin` all."
    )


@dataclass(frozen=True, slots=True)
class Login:
    """The login page."""

    users: tuple[LoginUser, ...] = option("Who may log in with a password.", default=(), min_items=1)
    oidc: OpenId | None = option(
        "An identity provider where people log in, beside the passwords or instead of them.", default=None
    )
    idle_timeout_s: Seconds = option(
        "How long a session lasts without use; what a page asks by itself is none.",
        default=Seconds(1800.0),
        minimum=60,
        maximum=604_800,
    )
    lifetime_s: Seconds = option(
        "How long a session lasts at most.", default=Seconds(43_200.0), minimum=60, maximum=2_592_000
    )


class Logins:
    """Judges the people as they are read, and together."""

    def __init__(self) -> None:
        self._names: dict[str, Source] = {}

    def finish_user(self, reader: Reader, made: LoginUser, path: Path, raw: Mapping[str, Any]) -> LoginUser:
        """Refuse a stored password that is weak or exhausts the gate, and a name that is taken."""
        spelled = next(name for name in ("password_hash", "password_hash_file") if name in raw)
        try:
            PasswordHash.parse(made.password_hash.reveal().decode("ascii"))
        except ValueError as error:
            reader.problem(reader.at((*path, spelled)), "auth.login.hash", str(error))
        at = reader.at((*path, "name"))
        earlier = self._names.setdefault(made.name.lower(), at)
        if earlier is not at:
            reader.problem(at, "auth.login.name", f"the name is taken by the user at {earlier}; rename one")
        return made

    @staticmethod
    def finish_login(reader: Reader, made: Login, path: Path, raw: Mapping[str, Any]) -> Login:
        """Somebody can log in, and a session without use does not outlast one with use."""
        # One that is wrong is told as such.
        if "users" not in raw and "oidc" not in raw:
            message = "nobody can log in: add users, or oidc"
            reader.problem(reader.key_at(path), "auth.login.nobody", message)
        if made.idle_timeout_s > made.lifetime_s:
            message = "found a longer time without use than lifetime_s; make it shorter"
            reader.problem(reader.at((*path, "idle_timeout_s")), "auth.login.idle", message)
        return made
