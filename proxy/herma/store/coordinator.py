"""One memory store for all workers, served over socket pairs.

The coordinator runs in the process that starts the workers. A worker's connection is its life: when it ends, however it
ends, the slots of its open requests are given back. Calls are answered in the order they come, but for those that wait for
more than this process, which are answered when they can be; a worker may have many outstanding. A worker that does not read its
answers makes only itself wait.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, assert_never

from herma.errors import StoreError
from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import Ask, Full, Lease, RunLease
from herma.policy.ownership import Owner
from herma.policy.routing.route import Turn
from herma.policy.token.spent import Once
from herma.store.memory import MemoryStore
from herma.store.messages import MAX_MESSAGE_BYTES, Answer, Call, Decoder, MessageError, Notice, encode

__all__ = ["RUNS_PER_PAGE", "Coordinator", "Farewell"]

# Bytes read at once: many calls of a busy worker in one go.
_READ_BYTES = 4 * MAX_MESSAGE_BYTES

# Answers gathered before they are written and the worker's reading is waited for.
_WRITE_BYTES = 4 * MAX_MESSAGE_BYTES

# Bytes that may wait for a worker to read them when a notice is sent. One that lets this much pile up hangs: it would not
# hear of a reload or a drain, so it is cut off.
_MAX_UNREAD_BYTES = 1024 * 1024

# Runs in one answer. A run id has at most 256 characters of at most 12 bytes in JSON: sixteen fit into a message.
RUNS_PER_PAGE = 16


class Farewell(StrEnum):
    """How a worker's connection ended."""

    GONE = "gone"
    MALFORMED = "malformed"


def _ignore(_worker: str, _notice: Notice) -> None:
    pass


class Coordinator:
    """Serves a store to workers, and carries notices both ways.

    `on_notice(worker, notice)` is told what workers say; it may raise `MessageError` to have the worker cut off, and must
    raise nothing else.
    """

    def __init__(self, store: MemoryStore, on_notice: Callable[[str, Notice], None] = _ignore) -> None:
        self._store = store
        self._on_notice = on_notice
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._attended = 0

    @property
    def workers(self) -> int:
        """Count the workers that are connected."""
        return len(self._writers)

    async def attend(self, worker: str, sock: socket.socket) -> Farewell:
        """Serve one worker until its connection ends; the socket is closed and its slots are given back then.

        The other end of the pair must be open in that worker alone, or its death would not be seen.
        """
        reader, writer = await asyncio.open_unix_connection(sock=sock, limit=_READ_BYTES)
        # The number tells a worker from the one of the same name that it replaces.
        self._attended += 1
        tag = f"{worker}#{self._attended}"
        self._writers[tag] = writer
        waiting: set[asyncio.Task[None]] = set()
        try:
            await self._serve(worker, tag, reader, writer, waiting)
        except MessageError:
            return Farewell.MALFORMED
        except ConnectionError:
            return Farewell.GONE
        else:
            return Farewell.GONE
        finally:
            del self._writers[tag]
            for task in waiting:
                task.cancel()
            writer.transport.abort()
            self._store.worker_gone(tag)

    def notify_all(self, topic: str, payload: Any = None) -> None:
        """Tell every worker; one that has long stopped reading is cut off instead."""
        data = encode(Notice(topic, payload))
        for writer in self._writers.values():
            if writer.transport.get_write_buffer_size() > _MAX_UNREAD_BYTES:
                writer.transport.abort()
            else:
                writer.write(data)

    async def _serve(
        self,
        worker: str,
        tag: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        waiting: set[asyncio.Task[None]],
    ) -> None:
        decoder = Decoder()
        while data := await reader.read(_READ_BYTES):
            answers = bytearray()
            for message in decoder.feed(data):
                match message:
                    case Call(operation="spend"):
                        # Asks a disk or a network, which must not hold up the others. The worker bounds how many there are.
                        task = asyncio.get_running_loop().create_task(
                            self._spend(writer, _once(message), message)
                        )
                        waiting.add(task)
                        task.add_done_callback(waiting.discard)
                    case Call():
                        answers += encode(Answer(message.number, await _perform(self._store, tag, message)))
                    case Notice():
                        self._on_notice(worker, message)
                    case Answer():
                        raise MessageError("a worker answered a call that nobody made")
                    case _:
                        assert_never(message)
                if len(answers) > _WRITE_BYTES:
                    await _flush(writer, answers)
            await _flush(writer, answers)

    async def _spend(self, writer: asyncio.StreamWriter, once: Once, call: Call) -> None:
        try:
            found = (await self._store.spend(once)).value
        except StoreError:
            found = "unknown"
        writer.write(encode(Answer(call.number, found)))


def _once(call: Call) -> Once:
    match call.arguments:
        case [str(token_id), float(issued), float(expires)]:
            return Once(token_id, issued, expires)
        case _:
            raise MessageError("a worker asked for something unknown")


async def _flush(writer: asyncio.StreamWriter, answers: bytearray) -> None:
    writer.write(bytes(answers))
    answers.clear()
    await writer.drain()


async def _perform(store: MemoryStore, tag: str, call: Call) -> Any:
    """Carry out a call; the counterpart of each line is a method of `RemoteStore`.

    Raises:
        MessageError: There is no such operation, or not with such arguments.
    """
    try:
        match call.operation, call.arguments:
            case "admit", [str(principal), str(turn), int(cap), (int() | None) as own_cap]:
                return _admitted(store.admit_for(tag, Ask(principal, Turn(turn), cap, own_cap)))
            case "release", [str(lease_id)]:
                return await store.release(lease_id)
            case "attach", [str(lease_id), str(run_id)]:
                return await store.attach(lease_id, run_id)
            case "run_ended", [str(run_id)]:
                return await store.run_ended(run_id)
            case "open_runs", [str(after)]:
                return _page(store.open_runs_after(after, RUNS_PER_PAGE))
            case "seed", [int(running)]:
                return await store.seed(running)
            case "claim", [str(kind), str(thing_id), str(name), str(group)]:
                return _owned(await store.claim(kind, thing_id, Owner(name, group)))
            case "owner", [str(kind), str(thing_id)]:
                return _owned(await store.owner(kind, thing_id))
            case "blocked", [list(subjects)]:
                return float(await store.blocked(_texts(subjects)))
            case "failed", [list(subjects)]:
                return float(await store.failed(_texts(subjects)))
            case "succeeded", [list(subjects)]:
                return await store.succeeded(_texts(subjects))
            case "take", [str(bucket), float(rate_per_s), float(burst)]:
                return float(await store.take(bucket, rate_per_s, burst))
            case "offer", [str(run_id), list(choices)]:
                return await store.offer(run_id, _texts(choices))
            case "offered", [str(run_id)]:
                return await store.offered(run_id)
            case "withdraw", [str(run_id), bool(every)]:
                return await store.withdraw(run_id, every=every)
            case "open_session", [str(ident), str(user), str(binding), float(idle_s), float(lifetime_s)]:
                return await store.open_session(ident, user, binding, SessionLimits(idle_s, lifetime_s))
            case "session", [str(ident), float(idle_s), float(lifetime_s), bool(touch)]:
                return _live(await store.session(ident, SessionLimits(idle_s, lifetime_s), touch=touch))
            case "end_session", [str(ident)]:
                return await store.end_session(ident)
            case _:
                raise MessageError("a worker asked for something unknown")
    except ValueError as error:
        raise MessageError("a worker asked with a value that is not allowed") from error


def _admitted(outcome: Lease | Full) -> list[Any]:
    match outcome:
        case Lease(lease_id):
            return ["lease", lease_id]
        case Full(retry_after_s, which):
            return ["full", retry_after_s, which.value]
        case _:
            assert_never(outcome)


def _page(runs: Iterable[RunLease]) -> list[list[Any]]:
    return [[run.lease_id, run.run_id, run.principal, float(run.age_s)] for run in runs]


def _owned(owner: Owner | None) -> list[str] | None:
    return [owner.name, owner.group] if owner else None


def _live(session: LiveSession | None) -> list[Any] | None:
    return [session.user, session.binding, float(session.left_s)] if session else None


def _texts(values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise MessageError("a worker asked with a value that is not text")
    return tuple(values)
