"""Bounded inflating of gzip and deflate: request bodies, and answers of an upstream that compresses though not asked to.

A few kilobytes can inflate to gigabytes; what comes out is counted while it comes out. Trailing garbage and a body that ends
early are refused, and so is a second gzip member (RFC 1952 section 2.2 has them, some readers stop after the first): another
reader might see another body.
"""

import zlib
from typing import Final, Literal

__all__ = ["MAX_RATIO", "InflateError", "Inflater", "inflate"]

# Deflate reaches 1,032 to 1. Text reaches 20, JSON of one repeated field 200; what exceeds the ratio beyond the grace is a bomb.
MAX_RATIO: Final = 200
RATIO_GRACE_BYTES: Final = 1024 * 1024
_STEP_BYTES: Final = 64 * 1024

type Coding = Literal["gzip", "deflate"]


class InflateError(ValueError):
    """The body is no clean gzip or deflate, or is larger than allowed; `code` tells which."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Inflater:
    """Inflates one body, piece by piece."""

    def __init__(self, coding: Coding, max_bytes: int | None = None) -> None:
        self._coding = coding
        self._max_bytes = max_bytes
        self._read = 0
        self._written = 0
        self._ended = False
        self._head = b""
        self._machine: zlib._Decompress | None = None

    def feed(self, data: bytes) -> bytes:
        """Inflate the next piece.

        Raises:
            InflateError: it is malformed, or the bound or the ratio is exceeded.
        """
        self._read += len(data)
        out: list[bytes] = []
        more = bool(data)
        while more:
            if self._machine is None:
                data = self._begin(data)
                if self._machine is None:
                    break
            data, more = self._step(self._machine, data, out)
        return b"".join(out)

    def finish(self) -> None:
        """Say that the body has ended.

        Raises:
            InflateError: it ended early.
        """
        if self._machine is not None or self._head or not self._ended:
            raise InflateError("herma.body.encoding_truncated")

    def _begin(self, data: bytes) -> bytes:
        if self._ended:
            raise InflateError("herma.body.encoding_trailing")
        if self._coding == "gzip":
            self._machine = zlib.decompressobj(16 + zlib.MAX_WBITS)
            return data
        # "deflate" is zlib (RFC 9110, section 8.4.1.2), and in practice often the bare format: the first two bytes tell.
        self._head += data
        if len(self._head) < 2:
            return b""
        head, self._head = self._head, b""
        zlib_header = head[0] & 0x0F == 8 and int.from_bytes(head[:2]) % 31 == 0
        self._machine = zlib.decompressobj(zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)
        return head

    def _step(self, machine: "zlib._Decompress", data: bytes, out: list[bytes]) -> tuple[bytes, bool]:
        try:
            piece = machine.decompress(data, _STEP_BYTES)
        except zlib.error as error:
            raise InflateError("herma.body.encoding_malformed") from error
        self._written += len(piece)
        if self._max_bytes is not None and self._written > self._max_bytes:
            raise InflateError("herma.body.too_large")
        if self._written > RATIO_GRACE_BYTES and self._written > MAX_RATIO * self._read:
            raise InflateError("herma.body.encoding_ratio")
        out.append(piece)
        if not machine.eof:
            # The output is bounded a step: input can be left over, and output can be left inside though the input is read.
            return machine.unconsumed_tail, bool(machine.unconsumed_tail) or len(piece) == _STEP_BYTES
        self._machine = None
        self._ended = True
        return machine.unused_data, bool(machine.unused_data)


def inflate(data: bytes, coding: Coding, max_bytes: int) -> bytes:
    """Inflate a whole body of at most `max_bytes`.

    Raises:
        InflateError: it is malformed, ends early, has bytes behind its end, or is larger than allowed.
    """
    inflater = Inflater(coding, max_bytes)
    out = inflater.feed(data)
    inflater.finish()
    return out
