"""A file of flows for debugging, which mitmproxy's programs read: redacted, bounded, and never in the way of what is sent."""

import io
import os
import stat
from asyncio import AbstractEventLoop
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from mitmproxy.http import HTTPFlow
from mitmproxy.io import FlowWriter

from herma.egress.redacted import MAX_BODY_BYTES, redacted
from herma.policy.egress.masking import Masker

__all__ = ["Recording"]

# Flows that wait to be written; further ones are left out.
MAX_WAITING: Final = 64


class Recording:
    """Writes in a thread of its own; a flow that cannot be redacted or written is left out, and that is told once."""

    def __init__(
        self, path: str, max_bytes: int, tell: Callable[[str, str], None], loop: AbstractEventLoop
    ) -> None:
        """Open or make the file, the owner's alone.

        Raises:
            OSError: it cannot be opened, is no file, or others may read it.
        """
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        self._file = os.open(path, flags, 0o600)
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077 or found.st_uid != os.geteuid():
            os.close(self._file)
            raise OSError(f"{path}: expected a file of mode 0600 that is the gate's own")
        self._size = found.st_size
        self._max = max_bytes
        self._tell = tell
        self._loop = loop
        self._waiting = 0
        self._told: set[str] = set()
        self._full = False
        self._worker = ThreadPoolExecutor(1, "recording")

    def add(self, flow: HTTPFlow, masker: Masker) -> None:
        """Record a flow as it is now, some time later."""
        if self._full:
            return
        if self._waiting >= MAX_WAITING:
            self._once("flows are left out: they come faster than they are written")
            return
        taken = HTTPFlow(flow.client_conn, flow.server_conn)
        taken.request = flow.request.copy()
        if len(taken.request.raw_content or b"") > MAX_BODY_BYTES:
            # The room of a body is given back when its request is over; what waits here must not keep it.
            taken.request.raw_content = None
        taken.response = flow.response.copy() if flow.response is not None else None
        self._waiting += 1
        self._worker.submit(self._write, taken, masker).add_done_callback(self._over)

    def close(self) -> None:
        """Write what waits, and end."""
        self._worker.shutdown()
        os.close(self._file)

    def _write(self, flow: HTTPFlow, masker: Masker) -> bool:
        """Write a flow, if there is room for it."""
        data = io.BytesIO()
        FlowWriter(data).add(redacted(flow, masker))
        size = data.tell()
        if self._size + size > self._max:
            return False
        try:
            self._append(data.getbuffer())
        except OSError:
            # A flow that is cut would make the ones behind it unreadable.
            os.ftruncate(self._file, self._size)
            raise
        self._size += size
        return True

    def _append(self, data: memoryview) -> None:
        while data:
            data = data[os.write(self._file, data) :]

    def _over(self, done: Future[bool]) -> None:
        self._loop.call_soon_threadsafe(self._note, done)

    def _note(self, done: Future[bool]) -> None:
        self._waiting -= 1
        if (error := done.exception()) is not None:
            # Its text may repeat what was to be left out.
            self._once(f"a flow was left out ({type(error).__name__})")
        elif not done.result():
            self._full = True
            self._once("the file is as large as it may be: no more is recorded")

    def _once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell("egress.record", f"recording: {text}")
