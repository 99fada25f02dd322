"""Who is asking: keys and what they open, people and their passwords."""

from herma.identity.account import Account, Accounts, by_session
from herma.identity.key import KeyHash, hash_key, new_key
from herma.identity.keyring import KeyRecord, Keyring, Reason, Rejected, Verified
from herma.identity.password import PasswordChecker, TooManyPasswords, hash_password

__all__ = [
    "Account",
    "Accounts",
    "KeyHash",
    "KeyRecord",
    "Keyring",
    "PasswordChecker",
    "Reason",
    "Rejected",
    "TooManyPasswords",
    "Verified",
    "by_session",
    "hash_key",
    "hash_password",
    "new_key",
]
