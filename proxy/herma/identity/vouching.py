"""Who is asking, by the word of a proxy in front.

The word counts from a configured peer, over a connection of its own, and beside the secret that both know. From anybody else these
headers say nothing, as if they had not been sent; they never reach the upstream from anybody.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from herma.policy.browser.role import Role
from herma.policy.decision import Deny
from herma.policy.grant import Principal
from herma.policy.message.canonical import Head
from herma.policy.message.client_address import Network, within
from herma.policy.secret import Secret
from herma.policy.token.grant import safe_name

__all__ = ["Unvouched", "VouchedRole", "Vouching"]

_PREFIX = "proxy:"

# One name: a comma or a semicolon would be two headers that somebody joined.
_USER = re.compile(rb"[!-+\--:<-~]{1,255}")
_MAX_GROUPS = 1000

_AMBIGUOUS = Deny(
    400, "herma.auth.proxy_headers", "The proxy does not say in one way who is asking.", close=True
)


class Unvouched(Enum):
    """A peer that may vouch for others did not know the secret."""

    WRONG_SECRET = auto()


@dataclass(frozen=True, slots=True)
class VouchedRole:
    """The role of a user or of the members of a group; exactly one of these is given."""

    role: Role
    user: str | None = None
    group: str | None = None

    def fits(self, user: str, groups: Sequence[str]) -> bool:
        """Tell whether it is about this user."""
        return user == self.user or self.group in groups


@dataclass(frozen=True, slots=True)
class Vouching:
    """Whose word counts, where it stands, and what those may do whom it names.

    The first of `roles` that fits decides; whom none fits has the `default`, or nothing.
    """

    peers: tuple[Network, ...]
    secret: Secret
    secret_header: bytes
    user_header: bytes
    groups_header: bytes | None = None
    roles: tuple[VouchedRole, ...] = ()
    default: Role | None = None

    def caller(self, peer: str, head: Head) -> Principal | Deny | Unvouched | None:
        """Return the caller that the proxy names.

        Args:
            peer: the address at the other end of the connection, not one that a header says.
            head: the request.

        Returns:
            The caller; None when nobody is named, or by somebody whose word does not count; a denial when the proxy says it twice
            or in a form that is none.
        """
        if not within(peer, self.peers):
            return None
        secrets, users = head.all(self.secret_header), head.all(self.user_header)
        groups = head.all(self.groups_header) if self.groups_header is not None else ()
        if not secrets:
            return Unvouched.WRONG_SECRET if users else None
        if max(map(len, (secrets, users, groups))) > 1:
            return _AMBIGUOUS
        if not self.secret.matches(secrets[0]):
            return Unvouched.WRONG_SECRET
        # A proxy that lets strangers through names nobody, or an empty name.
        if not users or not users[0]:
            return None
        listed = _listed(groups)
        if not _USER.fullmatch(users[0]) or listed is None:
            return _AMBIGUOUS
        return self._principal(users[0].decode("ascii"), listed)

    def _principal(self, user: str, groups: Sequence[str]) -> Principal:
        role = next((entry.role for entry in self.roles if entry.fits(user, groups)), self.default)
        return Principal(f"{_PREFIX}{safe_name(user)}", role.scopes if role else frozenset())


def _listed(groups: Sequence[bytes]) -> list[str] | None:
    """List the groups of a header; None when it holds what is no text, or too many."""
    if not groups:
        return []
    try:
        listed = [group.strip() for group in groups[0].decode("utf-8").split(",", _MAX_GROUPS)]
    except UnicodeDecodeError:
        return None
    return [group for group in listed if group] if len(listed) <= _MAX_GROUPS else None
