"""A tunnel with nobody in it: what comes from one side goes to the other."""

from collections.abc import Callable

__all__ = ["Through"]


class Through:
    """Passes every byte; `out` is what is to be written, by whether it is for the caller."""

    def __init__(self) -> None:
        self.out = {True: b"", False: b""}
        self.over = False

    def begin(self, wake: Callable[[], None]) -> None:
        """Keep what wakes the tunnel."""
        self.wake = wake

    def take(self, data: bytes, now: float, *, caller: bool) -> None:
        """Pass it on."""
        self.out[not caller] += data

    def ended(self, now: float, *, caller: bool) -> None:
        """Say nothing."""

    def collect(self, *, caller: bool) -> bytes:
        """Hand over what came from the other side."""
        data, self.out[caller] = self.out[caller], b""
        return data

    def deadline(self) -> float | None:
        """Wait for nothing."""
        return None

    def tick(self, now: float) -> None:
        """Do nothing."""
