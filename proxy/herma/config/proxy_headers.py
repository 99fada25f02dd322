"""A proxy in front that knows who is asking, and says so in headers."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from herma.config.key_floor import weakness
from herma.config.networks import everybody, lies_within
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import HeaderName, Label, Network, UserName
from herma.policy.browser.role import Role
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["ProxyHeaders", "ProxyRole", "judge_peers", "judge_proxy_headers"]


@dataclass(frozen=True, slots=True)
class ProxyRole:
    """Who has a role; exactly one of user and group."""

    role: Role = option("`viewer`, `operator` or `admin`, as for people who log in.")
    user: UserName | None = option(
        "The user, as the header has it.", default=None, example="alice@example.com"
    )
    group: Label | None = option(
        "Everybody in this group, as the header has it.", default=None, example="agent-operators"
    )


@dataclass(frozen=True, slots=True)
class ProxyHeaders:
    """Headers in which a proxy says who is asking.

    They count from one of `peers` only, and beside the secret that the proxy and the gate share.
    """

    peers: tuple[Network, ...] = option("Addresses of the proxy.", min_items=1, example="192.0.2.10")
    secret: Secret = option("What the proxy sends in `secret_header`.", secret=True)
    user_header: HeaderName = option("The header with the user.", example="X-Forwarded-User")
    secret_header: HeaderName = option(
        "The header with the secret.", default=HeaderName("x-herma-proxy-secret")
    )
    groups_header: HeaderName | None = option(
        "The header with the groups, separated by commas.", default=None, example="X-Forwarded-Groups"
    )
    roles: tuple[ProxyRole, ...] = option(
        "Who has which role; the first entry that fits decides.", default=()
    )
    default_role: Role | None = option(
        "The role of those that no entry fits; without it they may do nothing.", default=None
    )


def judge_proxy_headers(
    reader: Reader, made: ProxyHeaders, path: Path, raw: Mapping[str, Any], floor_bits: float
) -> None:
    """Refuse what anybody could say, what means nobody, and headers that are one and the same."""
    spelled = next(name for name in ("secret", "secret_file") if name in raw)
    if found := weakness(made.secret.reveal().decode("ascii"), floor_bits):
        reader.problem(reader.at((*path, spelled)), f"auth.proxy_headers.{found.code}", found.message)
    names = [made.secret_header, made.user_header, made.groups_header]
    if len(set(names)) < len(names):
        message = "found one header for two things; name another"
        reader.problem(reader.at((*path, "user_header")), "auth.proxy_headers.header", message)
    if made.default_role is None and not reader.has((*path, "roles", 0)):
        message = "nobody may do anything: add entries to roles, or a default_role"
        reader.problem(reader.key_at(path), "auth.proxy_headers.nobody", message)
    for index, entry in enumerate(made.roles):
        at = reader.at((*path, "roles", index))
        if (entry.user is None) == (entry.group is None):
            reader.problem(at, "auth.proxy_headers.role", "expected either user or group")
        elif entry.group is not None and made.groups_header is None:
            message = "found a group, and no header that says the groups; add groups_header"
            reader.problem(at, "auth.proxy_headers.role", message)


def judge_peers(reader: Reader, made: ProxyHeaders, path: Path, trusted: Sequence[Network]) -> None:
    """Refuse peers that are everybody, and say what is lost where the proxy's forwarded headers are not believed."""
    at = reader.at((*path, "peers"))
    if everybody(made.peers):
        message = "found a network of all addresses, which is no proxy; name the proxy's own address"
        reader.problem(at, "auth.proxy_headers.peers", message)
    elif not all(lies_within(network, trusted) for network in made.peers):
        message = "the proxy is not under trusted_proxies, so that everybody behind it has its address; add it there"
        reader.warn(at, "auth.proxy_headers.untrusted", message)
