"""A request on its way out, as the judges are handed it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from herma.policy.egress.destination import Destination

__all__ = ["Outbound"]


@dataclass(frozen=True, slots=True)
class Outbound:
    """A request that the agent sends: `target` in origin form, `body` without its content coding."""

    place: Destination
    method: str
    target: bytes = field(repr=False)
    headers: Sequence[tuple[bytes, bytes]] = field(repr=False, default=())
    body: bytes = field(repr=False, default=b"")

    @property
    def content_type(self) -> bytes:
        """The value of Content-Type; of several, all, which is none that anybody knows."""
        return b", ".join(value for name, value in self.headers if name.lower() == b"content-type")
