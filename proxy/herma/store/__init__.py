"""State that all workers share: slots, owners, failed attempts, rates, approval offers."""

from herma.policy.admission import Ask, Full, Lease, RunLease, Which
from herma.policy.ownership import Owner
from herma.store.memory import MemoryStore
from herma.store.store import Store

__all__ = ["Ask", "Full", "Lease", "MemoryStore", "Owner", "RunLease", "Store", "Which"]
