"""People who logged in at an identity provider.

The gate keeps no list of them and no token: what it knows is in the session that they got at the login. A session says by whom
and under which rules it was opened; under others it is nobody's.
"""

from dataclasses import dataclass
from typing import Self

from herma.policy.browser.role import Role
from herma.policy.grant import Principal

__all__ = ["PERSON", "Member"]

# A key's name has no colon, so that no key can be called like a person.
PERSON = "user:"

# The name of an account has no colon, so that no account can be called like one of these.
_PREFIX = "oidc:"


@dataclass(frozen=True, slots=True)
class Member:
    """One person: the subject at the issuer, what they are called on pages, the part that they play, and the rules that gave it."""

    subject: str
    name: str
    role: Role
    rules: str

    @property
    def user(self) -> str:
        """Whose a session is."""
        return f"{_PREFIX}{self.subject}"

    @property
    def binding(self) -> str:
        """What a session was opened by."""
        return f"{self.rules} {self.role} {self.name}"

    @property
    def principal(self) -> Principal:
        """The caller who is logged in as this person."""
        return Principal(f"{PERSON}{self.user}", self.role.scopes)

    @classmethod
    def of_session(cls, user: str, binding: str, rules: str) -> Self | None:
        """Return whose session it is; None when it was not opened under these rules."""
        said, _, rest = binding.partition(" ")
        role, _, name = rest.partition(" ")
        if not user.startswith(_PREFIX) or said != rules or role not in set(Role):
            return None
        return cls(user.removeprefix(_PREFIX), name, Role(role), rules)
