"""Placeholders that stand for a secret: its class and a keyed fingerprint, `[github_pat:7f3a91c2]`.

The same value gives the same fingerprint on every transport and in every encoding, so that two prompts can be compared
without the value. Keyed, because an unkeyed hash of a weak password can be looked up.
"""

import hmac
import re
from collections.abc import Collection, Iterable
from typing import Final

from herma.policy.secret import Secret

__all__ = ["PLACEHOLDER", "Fingerprinter", "foreign", "without_placeholders"]

# 32 bits: enough to tell the values of one conversation apart, too few to search for a password offline with the key.
FINGERPRINT_HEX: Final = 8
PLACEHOLDER: Final = re.compile(r"\[[a-z0-9_]{1,48}:[0-9a-f]{8}\]")


class Fingerprinter:
    """Makes placeholders with one key."""

    def __init__(self, key: Secret) -> None:
        self._key = key

    def placeholder(self, rule_id: str, value: str) -> str:
        """Stand in for `value`; the text holds no quote, blank, slash or shell operator."""
        digest = hmac.digest(self._key.reveal(), value.encode("utf-8", "surrogatepass"), "sha256").hex()
        return f"[{_class(rule_id)}:{digest[:FINGERPRINT_HEX]}]"

    def placeholders(self, rule_id: str, values: Collection[str]) -> dict[str, str]:
        """Stand in for many values at the cost of one: they can be told apart, and compared with nothing else."""
        first = int(self.placeholder(rule_id, "\0".join(values))[-FINGERPRINT_HEX - 1 : -1], 16)
        begin, rest = f"[{_class(rule_id)}:", 16**FINGERPRINT_HEX
        return {value: f"{begin}{(first + n) % rest:0{FINGERPRINT_HEX}x}]" for n, value in enumerate(values)}


def foreign(rule_ids: Iterable[str]) -> re.Pattern[str]:
    """Make the pattern of what is written like a placeholder but has the class of no rule: nothing that was ever masked."""
    known = "|".join(sorted(map(_class, rule_ids)))
    return re.compile(rf"(\[(?=[a-z0-9_]{{1,48}}:[0-9a-f]{{8}}\])(?!(?:{known}):))")


def _class(rule_id: str) -> str:
    return rule_id.replace("-", "_")


def without_placeholders(value: str) -> str:
    """Take the placeholders out of a value: what is left has not been masked yet."""
    return PLACEHOLDER.sub("", value) if "[" in value else value
