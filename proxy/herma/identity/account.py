"""The people who may log in: by name and password, and those whom an identity provider vouches for."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from herma.identity.member import PERSON, Member
from herma.policy.browser.password_hash import PasswordHash
from herma.policy.browser.role import Role
from herma.policy.grant import Principal

if TYPE_CHECKING:
    from herma.identity.sign_in import SignIn

__all__ = ["Account", "Accounts", "by_session"]


@dataclass(frozen=True, slots=True)
class Account:
    """One person: the name, the part that is played, and the stored password."""

    name: str
    role: Role
    password: PasswordHash
    binding: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out what a session is bound to: it ends when any of these changes."""
        said = f"{self.name} {self.role} {self.password.reveal()}"
        object.__setattr__(self, "binding", hashlib.sha256(said.encode()).hexdigest())

    @property
    def user(self) -> str:
        """Whose a session is."""
        return self.name

    @property
    def principal(self) -> Principal:
        """The caller who is logged in as this person."""
        return Principal(f"{PERSON}{self.name}", self.role.scopes)


class Accounts:
    """All of them; empty where nobody logs in with a password. `sign_in` is the identity provider, if there is one."""

    def __init__(self, accounts: Sequence[Account] = (), sign_in: "SignIn | None" = None) -> None:
        if len({account.name for account in accounts}) != len(accounts):
            raise ValueError("two users have the same name")
        self.sign_in = sign_in
        self._by_name = {account.name: account for account in accounts}
        costly = max((account.password for account in accounts), key=lambda one: one.cost, default=None)
        self._decoy = replace(costly, digest=secrets.token_bytes(len(costly.digest))) if costly else None

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Account | None:
        """Return the account of that name."""
        return self._by_name.get(name)

    def of_session(self, user: str, binding: str) -> Account | Member | None:
        """Return whose session it is.

        None when the person is gone, or has another role or password, or came in under other rules: then it was another
        person's, so to say.
        """
        account = self.get(user)
        if account is None:
            return self.sign_in.member(user, binding) if self.sign_in else None
        return account if account.binding == binding else None

    def password_of(self, name: str) -> PasswordHash | None:
        """Return what to verify a password against: for a name that nobody has, a hash that no password has.

        It costs what the costliest of the real ones costs, so that the time does not tell whose name is taken. None only where
        there are no accounts at all.
        """
        account = self._by_name.get(name)
        return account.password if account else self._decoy


def by_session(principal: Principal) -> bool:
    """Tell whether the caller is a person who logged in, and no key."""
    return principal.name.startswith(PERSON)
