"""Who is asking: keys and what they open."""

from herma.identity.key import KeyHash, hash_key, new_key
from herma.identity.keyring import KeyRecord, Keyring, Reason, Rejected, Verified

__all__ = ["KeyHash", "KeyRecord", "Keyring", "Reason", "Rejected", "Verified", "hash_key", "new_key"]
