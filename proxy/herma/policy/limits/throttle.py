"""Failed authentication slows the next attempt, per address, per key name, per account and over all.

A subject is `address:…`, `key:…`, `account:…`, `home:…` or `all`. Rules of the file:

1. An address or key name has some free attempts; after them each failure doubles the wait, up to a maximum.
2. A success forgives nothing: one valid key would otherwise buy unlimited guesses at the others. Only quiet time forgives.
3. `all` is a budget of failures per second. It stops guessing from very many addresses, and is waived for an address that
   has authenticated lately, so that such an attack does not lock out those who were there before.
4. While the table is full of live records, subjects without one share one record (see `BoundedTable`).
5. Anybody can fail at the account of somebody else, from as many addresses as they have. So the wait of an account is at most
   a minute, and it is waived where the account has logged in lately: `home:…` stands for account and address together.
"""

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from herma.policy.limits.bounded_table import BoundedTable
from herma.policy.limits.bucket import Level

__all__ = ["ALL", "MAX_SUBJECTS", "Throttle", "ThrottleLimits", "address_group", "login_subjects", "subjects"]

ALL = "all"

# About 200 bytes each: at most some 20 MB.
MAX_SUBJECTS = 100_000

# The common budget: far above what people who mistype cause, far below what guessing a key needs.
GLOBAL_FAILURES_PER_S = 1.0
GLOBAL_BURST = 50.0

# An address that authenticated is not held to the common budget for a day: the longest pause of a regular client.
KNOWN_FOR_S = 24 * 3600.0

# Where an account has logged in is known for a month: people come back after a holiday.
HOME_FOR_S = 30 * 24 * 3600.0

# The longest wait of an account. Guessing from everywhere gets one try a minute, which finds no password that is not weak.
ACCOUNT_MAX_DELAY_S = 60.0

_KNOWN_FOR_S = {"address": KNOWN_FOR_S, "home": HOME_FOR_S}

# The part of an IPv6 address that one subscriber can change at will (RFC 6177, RFC 8981).
_IPV6_SITE_BITS = 64


@dataclass(frozen=True, slots=True)
class ThrottleLimits:
    """How many attempts are free, how the wait grows, and how much quiet forgives one failure."""

    free_attempts: int = 5
    base_delay_s: float = 1.0
    max_delay_s: float = 900.0
    forget_s: float = 900.0

    def __post_init__(self) -> None:
        if self.free_attempts < 0 or not 0 < self.base_delay_s <= self.max_delay_s or self.forget_s <= 0:
            raise ValueError("delays are positive, and the first is not longer than the longest")

    def delay_s(self, failures: int) -> float:
        """Return how long the attempt after so many failures has to wait."""
        doublings = failures - self.free_attempts - 1
        if doublings < 0:
            return 0.0
        return min(self.max_delay_s, self.base_delay_s * 2.0 ** min(doublings, 64))


@dataclass(frozen=True, slots=True)
class _Record:
    failures: int
    until: float  # when the wait ends; quiet time counts from here


class Throttle:
    """Failures by subject. `blocked` asks, `failed` and `succeeded` tell what happened to an attempt."""

    def __init__(self, limits: ThrottleLimits | None = None, *, max_subjects: int = MAX_SUBJECTS) -> None:
        self.limits = limits or ThrottleLimits()
        self._max_subjects = max_subjects
        self._records: BoundedTable[_Record] = BoundedTable(max_subjects, self._forgotten)
        self._all: Level | None = None
        self._known: OrderedDict[str, float] = OrderedDict()  # address -> until when it is known

    def __len__(self) -> int:
        return len(self._records)

    def blocked(self, of: Sequence[str], now: float) -> float:
        """Return the seconds until an attempt may be judged, 0 if it may be now."""
        return max((self._wait_s(subject, of, now) for subject in of), default=0.0)

    def failed(self, of: Sequence[str], now: float) -> float:
        """Count a failure against each subject; return the seconds until the next attempt may be judged."""
        for subject in of:
            if subject == ALL:
                self._all = self._budget(now).taken()
                continue
            if subject.startswith("home:"):
                continue  # it only ever waives
            failures = self._failures(self._records.get(subject, now), now) + 1
            # More failures than the longest wait needs say nothing more, and would take ever longer to forget.
            if self.limits.delay_s(failures - 1) >= self.limits.max_delay_s:
                failures -= 1
            most = ACCOUNT_MAX_DELAY_S if subject.startswith("account:") else self.limits.max_delay_s
            delay_s = min(most, self.limits.delay_s(failures))
            self._records.put(subject, _Record(failures, now + delay_s), now)
        return self.blocked(of, now)

    def succeeded(self, of: Sequence[str], now: float) -> None:
        """Note that these addresses, or accounts at an address, can authenticate; no failure is forgiven."""
        for subject in of:
            kind = subject.partition(":")[0]
            if kind in _KNOWN_FOR_S:
                self._known[subject] = now + _KNOWN_FOR_S[kind]
                self._known.move_to_end(subject)
        while len(self._known) > self._max_subjects:
            self._known.popitem(last=False)

    def _wait_s(self, subject: str, of: Sequence[str], now: float) -> float:
        if subject == ALL:
            return 0.0 if self._is_known("address:", of, now) else self._budget(now).wait_s
        if subject.startswith("account:") and self._is_known("home:", of, now):
            return 0.0
        record = self._records.get(subject, now)
        return max(0.0, record.until - now) if record else 0.0

    def _is_known(self, kind: str, of: Sequence[str], now: float) -> bool:
        return any(subject.startswith(kind) and self._known.get(subject, now) > now for subject in of)

    def _budget(self, now: float) -> Level:
        return (self._all or Level.full(GLOBAL_FAILURES_PER_S, GLOBAL_BURST, now)).refilled(now)

    def _failures(self, record: _Record | None, now: float) -> int:
        if record is None:
            return 0
        quiet_s = max(0.0, now - record.until)
        return max(0, record.failures - int(quiet_s / self.limits.forget_s))

    def _forgotten(self, record: _Record, now: float) -> bool:
        return self._failures(record, now) == 0


def subjects(address: str, key_name: str = "") -> tuple[str, ...]:
    """Name what a failed attempt is charged to: the address, the key if the attempt named one, and all.

    A wrong key names no key. A right key that is expired or comes from a wrong network does; ask about the key's subject
    only for such an attempt, or whoever uses a stolen key from elsewhere would lock its holder out.
    """
    of_key = (f"key:{key_name}",) if key_name else ()
    return (f"address:{address_group(address)}", *of_key, ALL)


def login_subjects(address: str, user: str) -> tuple[str, ...]:
    """Name what a failed login is charged to: the address, the account, and all; and what waives the account's wait.

    An account that does not exist is charged too, or its answers would differ from those of one that does. Names are folded to
    a digest: what people type there by mistake is not kept.
    """
    account = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    group = address_group(address)
    return (f"address:{group}", f"account:{account}", f"home:{account}@{group}", ALL)


# Asked for every request with a key. Addresses come from a parser and are short.
@functools.lru_cache(maxsize=1024)
def address_group(address: str) -> str:
    """Return the part of an address that stands for one caller.

    IPv6 addresses are taken by /64, IPv4 in IPv6 as the IPv4 it is. What is no address (a unix socket has none) is one
    common caller.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "other"
    match parsed:
        case IPv4Address():
            return str(parsed)
        case IPv6Address(ipv4_mapped=IPv4Address() as inner):
            return str(inner)
        case _:
            return str(IPv6Network((int(parsed), _IPV6_SITE_BITS), strict=False))
