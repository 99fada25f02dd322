"""State that all workers share: slots, owners, failed attempts, rates, approval offers, sessions, used tokens."""

from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import Ask, Full, Lease, RunLease, Which
from herma.policy.ownership import Owner
from herma.policy.token.spent import Once, Spending
from herma.store.coordinator import Coordinator, Farewell
from herma.store.memory import MemoryStore
from herma.store.messages import MessageError, Notice
from herma.store.partition import Partition, parted
from herma.store.remote import RemoteStore
from herma.store.spent import MemorySpent, SpentStore
from herma.store.store import Store

__all__ = [
    "Ask",
    "Coordinator",
    "Farewell",
    "Full",
    "Lease",
    "LiveSession",
    "MemorySpent",
    "MemoryStore",
    "MessageError",
    "Notice",
    "Once",
    "Owner",
    "Partition",
    "RemoteStore",
    "RunLease",
    "SessionLimits",
    "Spending",
    "SpentStore",
    "Store",
    "Which",
    "parted",
]
