"""Who is asking: keys and what they open, people and their passwords."""

from herma.identity.account import Account, Accounts, by_session
from herma.identity.key import KeyHash, hash_key, new_key
from herma.identity.key_set import KeySet
from herma.identity.key_sets import FileKeys, KeySets, KeySource, RemoteKeys
from herma.identity.keyring import KeyRecord, Keyring, Reason, Rejected, Verified
from herma.identity.member import Member
from herma.identity.password import PasswordChecker, TooManyPasswords, hash_password
from herma.identity.sign_in import NoSignIn, SignIn, Trouble
from herma.identity.token import Issuer, TokenRejected, Tokens, TokenVerifier, Vouched

__all__ = [
    "Account",
    "Accounts",
    "FileKeys",
    "Issuer",
    "KeyHash",
    "KeyRecord",
    "KeySet",
    "KeySets",
    "KeySource",
    "Keyring",
    "Member",
    "NoSignIn",
    "PasswordChecker",
    "Reason",
    "Rejected",
    "RemoteKeys",
    "SignIn",
    "TokenRejected",
    "TokenVerifier",
    "Tokens",
    "TooManyPasswords",
    "Trouble",
    "Verified",
    "Vouched",
    "by_session",
    "hash_key",
    "hash_password",
    "new_key",
]
