"""Ids that a stream gives out, such as that of a response that the upstream keeps: they are in its first events."""

from herma.ingress.ownership import Owners
from herma.policy.jsondoc import JsonError, parse
from herma.policy.sse.parser import Event, Splitter, StreamRefused

__all__ = ["EventIds"]

# The id of a response or run stands in the first event or two; a stream that gave none by then gives none.
MAX_EVENTS = 8
# Larger events are transcripts, not announcements.
MAX_EVENT_BYTES = 256 * 1024


class EventIds:
    """Reads along until the ids are bound; judging the events is not its business."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._splitter: Splitter | None = Splitter(MAX_EVENT_BYTES) if owners.awaits_ids else None
        self._left = MAX_EVENTS

    async def read(self, piece: bytes) -> None:
        """Bind what the events in this piece say was created, before they leave."""
        if self._splitter is None:
            return
        try:
            frames = self._splitter.feed(piece)
        except StreamRefused:
            self._splitter = None
            return
        for frame in frames:
            if isinstance(frame, Event) and self._splitter is not None:
                await self._look(frame)

    async def _look(self, event: Event) -> None:
        self._left -= 1
        try:
            bound = await self._owners.bind_answer(
                parse(event.data or b"", max_depth=64, max_keys=20_000).value
            )
        except JsonError:
            bound = {}
        if bound or self._left == 0:
            self._splitter = None
