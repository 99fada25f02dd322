"""State that all workers share: slots, owners, failed attempts, rates, approval offers, sessions."""

from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import Ask, Full, Lease, RunLease, Which
from herma.policy.ownership import Owner
from herma.store.coordinator import Coordinator, Farewell
from herma.store.memory import MemoryStore
from herma.store.messages import MessageError, Notice
from herma.store.partition import Partition, parted
from herma.store.remote import RemoteStore
from herma.store.store import Store

__all__ = [
    "Ask",
    "Coordinator",
    "Farewell",
    "Full",
    "Lease",
    "LiveSession",
    "MemoryStore",
    "MessageError",
    "Notice",
    "Owner",
    "Partition",
    "RemoteStore",
    "RunLease",
    "SessionLimits",
    "Store",
    "Which",
    "parted",
]
