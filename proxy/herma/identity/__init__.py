"""Who is asking: keys and what they open, people and their passwords, tokens, certificates, the word of a proxy."""

from herma.identity.account import Account, Accounts, by_session
from herma.identity.certificates import names_of
from herma.identity.credentials import Credentials, credentials_of
from herma.identity.fires import FireRejected, Fires, fires_of
from herma.identity.key import KeyHash, hash_key, new_key
from herma.identity.key_set import KeySet
from herma.identity.key_sets import FileKeys, KeySets, KeySource, RemoteKeys
from herma.identity.keyring import KeyRecord, Keyring, Reason, Rejected, Verified
from herma.identity.member import Member
from herma.identity.password import PasswordChecker, TooManyPasswords, hash_password
from herma.identity.sign_in import NoSignIn, SignIn, Trouble
from herma.identity.token import Issuer, TokenRejected, Tokens, TokenVerifier, Vouched
from herma.identity.vouching import Unvouched

__all__ = [
    "Account",
    "Accounts",
    "Credentials",
    "FileKeys",
    "FireRejected",
    "Fires",
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
    "Unvouched",
    "Verified",
    "Vouched",
    "by_session",
    "credentials_of",
    "fires_of",
    "hash_key",
    "hash_password",
    "names_of",
    "new_key",
]
