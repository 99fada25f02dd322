"""Reads lines of bytes from a stream that may stay open, in the batches that arrive."""

from collections.abc import Iterator
from typing import BinaryIO, Final

__all__ = ["MAX_LINE_BYTES", "TooLong", "line_batches"]

# The largest body that the gate takes unless it is told otherwise is 10 MiB; what it would not take needs no verdict.
MAX_LINE_BYTES: Final = 10 * 1024 * 1024
# As much as a pipe holds, and enough lines for one write.
CHUNK_BYTES: Final = 64 * 1024


class TooLong:
    """Stands for a line that is longer than any may be; its bytes are gone."""


def line_batches(stream: BinaryIO, max_bytes: int = MAX_LINE_BYTES) -> Iterator[list[bytes | TooLong]]:
    """Give the lines of a stream without their ends, as many together as arrived together.

    Whoever writes one line and waits has it judged at once; a file comes in batches. The last line may lack its end. One
    that is too long is read to its end and given as `TooLong`, so that the lines behind it are not lost.
    """
    begun = bytearray()
    skipping = False
    while chunk := _some(stream):
        *ended, rest = chunk.split(b"\n")
        batch: list[bytes | TooLong] = []
        for piece in ended:
            begun += piece
            batch.append(TooLong() if skipping or len(begun) > max_bytes else bytes(begun))
            begun.clear()
            skipping = False
        begun += rest
        if len(begun) > max_bytes:
            skipping = True
        if skipping:
            begun.clear()
        if batch:
            yield batch
    if begun or skipping:
        yield [TooLong() if skipping else bytes(begun)]


def _some(stream: BinaryIO) -> bytes:
    """Read what is there; wait only when nothing is."""
    read = getattr(stream, "read1", stream.read)
    return bytes(read(CHUNK_BYTES))
