"""How many bytes of bodies are held at the same time."""

__all__ = ["Held", "Ticket"]


class Held:
    """Counts what all requests hold; no request may hold more than `each`, and all together no more than `total` bytes."""

    def __init__(self, each: int, total: int) -> None:
        self.each = each
        self._total = total
        self._taken = 0

    @property
    def taken(self) -> int:
        """The bytes that are held now."""
        return self._taken

    def ticket(self) -> "Ticket":
        """Let one more request hold something; give the ticket back when it is over."""
        return Ticket(self)

    def grow(self, before: int, after: int) -> bool:
        """Let a request hold more, if there is room."""
        if after > self.each or self._taken + after - before > self._total:
            return False
        self._taken += after - before
        return True


class Ticket:
    """What one request holds."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._size = 0

    def fits(self, size: int) -> bool:
        """Tell whether as many bytes are no more than one request may hold."""
        return size <= self._held.each

    def holds(self, size: int) -> bool:
        """Take room for as many bytes in all; False when there is none."""
        if size > self._size and not self._held.grow(self._size, size):
            return False
        self._size = max(size, self._size)
        return True

    def release(self) -> None:
        """Give the room back; a second time changes nothing."""
        self._held.grow(self._size, 0)
        self._size = 0
