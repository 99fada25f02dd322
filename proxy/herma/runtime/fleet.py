"""The parent of several workers: it forks, waits and passes signals on, and does nothing else.

It has no event loop and no threads, so that forking again is safe at any time. The hub's death ends everything: without
shared state no limit would hold. A worker's death costs its connections; its slots are given back by the hub.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from herma.runtime.hub import serve_hub
from herma.runtime.signals import CHILD_STOP
from herma.runtime.start import Start
from herma.runtime.worker import serve_worker
from herma.wire import run

__all__ = ["Fleet"]

_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD})
# A child takes these from its parent only, as `CHILD_STOP`.
_NOT_FOR_CHILDREN = frozenset({signal.SIGTERM, signal.SIGINT})

# A worker that dies at once after its start is not started again and again at full speed.
MIN_LIFE_S = 1.0


class Fleet:
    """The processes of one gate."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._to_hub, self._hub_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._hub = 0
        self._workers: dict[int, tuple[int, float]] = {}
        self._stops = 0

    def run(self) -> int:
        """Run until everything has stopped; return the exit code."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        parent = os.getpid()

        def stop_all() -> None:
            os.kill(parent, signal.SIGTERM)

        self._hub = self._fork("hub", lambda: self._keep_state(stop_all))
        self._hub_end.close()
        for number in range(self._start.settings.workers):
            self._start_worker(number)
        self._start.announce()
        while self._workers or self._hub:
            self._act(signal.sigwait(_SIGNALS))
        return 0 if self._stops else 1

    def _act(self, number: int) -> None:
        if number == signal.SIGCHLD:
            self._reap()
        elif number == signal.SIGHUP:
            self._tell(number, [self._hub, *self._workers])
        else:
            self._stops += 1
            self._tell(CHILD_STOP, [self._hub, *self._workers])

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._hub:
                self._hub = 0
                self._lost_hub()
            elif pid in self._workers:
                self._lost_worker(pid, status)

    def _lost_hub(self) -> None:
        if not self._stops:
            self._start.log("hub.lost", "the process that keeps the shared state ended; stopping")
            self._tell(signal.SIGKILL, list(self._workers))

    def _lost_worker(self, pid: int, status: int) -> None:
        number, began = self._workers.pop(pid)
        if self._hub and not self._stops:
            self._start.log(
                "worker.lost",
                f"worker {number} ended ({os.waitstatus_to_exitcode(status)}); starting another",
            )
            if time.monotonic() - began < MIN_LIFE_S:
                time.sleep(MIN_LIFE_S)
            self._start_worker(number)
        elif not self._workers and self._hub:
            # The hub outlives its workers, so that their last counts arrive; it goes at the end of its line.
            self._to_hub.close()

    def _start_worker(self, number: int) -> None:
        hub_side, worker_side = socket.socketpair()
        pid = self._fork("worker", lambda: self._work(hub_side, worker_side))
        worker_side.close()
        socket.send_fds(self._to_hub, [f"worker-{number}".encode()], [hub_side.fileno()])
        hub_side.close()
        self._workers[pid] = (number, time.monotonic())

    def _keep_state(self, stop_all: Callable[[], None]) -> None:
        # The hub sees the parent's death by the end of its line: nobody else may hold the parent's side.
        self._to_hub.close()
        for bound in self._start.listeners:
            bound.sock.close()
        run(serve_hub(self._start, self._hub_end, stop_all))

    def _work(self, hub_side: socket.socket, worker_side: socket.socket) -> None:
        # The hub sees a worker's death by the end of its line: no other process may hold the worker's side.
        hub_side.close()
        self._to_hub.close()
        self._start.admin.sock.close()
        worker_side.setblocking(False)
        run(serve_worker(self._start, worker_side))

    @staticmethod
    def _fork(name: str, work: Callable[[], None]) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        return pid or _child(name, work)

    @staticmethod
    def _tell(number: int, pids: list[int]) -> None:
        for pid in pids:
            if pid:
                os.kill(pid, number)


def _child(name: str, work: Callable[[], None]) -> NoReturn:
    code = 1
    try:
        _name_process(f"herma-{name}")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS - _NOT_FOR_CHILDREN)
        work()
        code = 0
    except BaseException as error:
        # The exit below would swallow it, and nobody would learn why the process ended.
        sys.excepthook(type(error), error, error.__traceback__)
        raise
    finally:
        sys.stderr.flush()
        # Not sys.exit: the parent's frames below must not run a second time in this process.
        os._exit(code)


def _name_process(name: str) -> None:
    # For whoever looks at the process list; where there is no such file, the name stays.
    with suppress(OSError):
        Path("/proc/self/comm").write_text(name, encoding="ascii")
