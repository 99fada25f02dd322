"""The key sets of all issuers of a process: each is read by a task of its own, and outlives a reload that keeps its issuer."""

import asyncio
import functools
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from herma.config.guarded_file import FileProblem, read_guarded
from herma.identity.jwks import MAX_SET_BYTES, KeySetError
from herma.identity.key_set import KeySet
from herma.identity.remote import FetchError, fetch

__all__ = ["FileKeys", "KeySets", "KeySource", "RemoteKeys", "reading"]


@dataclass(frozen=True, slots=True)
class RemoteKeys:
    """A key set at a URL; with `ca_file` only the authorities in that PEM file are trusted."""

    url: str
    ca_file: str | None = None

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class FileKeys:
    """A key set in a file that nobody else may write."""

    path: str

    def __str__(self) -> str:
        return self.path


type KeySource = RemoteKeys | FileKeys
type Fetch = Callable[[], Awaitable[bytes]]


class KeySets:
    """The key sets by their source. `adopt` and `close` are called inside the event loop.

    `report` hears why a set cannot be read, and an empty text when it can again.
    """

    def __init__(
        self,
        reader: Callable[[KeySource], Fetch] | None = None,
        report: Callable[[KeySource, str], None] = lambda _, __: None,
    ) -> None:
        self._reader = reader or reading
        self._report = report
        self._sets: dict[KeySource, KeySet] = {}
        self._tasks: dict[KeySource, asyncio.Task[None]] = {}

    def get(self, source: KeySource) -> KeySet | None:
        """Return the set of a source that was adopted."""
        return self._sets.get(source)

    def adopt(self, sources: Iterable[KeySource]) -> None:
        """Read these from now on, and no others; a set that is known stays as it is."""
        wanted = frozenset(sources)
        for source in self._sets.keys() - wanted:
            del self._sets[source]
            self._tasks.pop(source).cancel()
        for source in wanted - self._sets.keys():
            report = functools.partial(self._report, source)
            made = self._sets[source] = KeySet(self._reader(source), report=report)
            self._tasks[source] = asyncio.get_running_loop().create_task(made.run())

    async def close(self) -> None:
        """Read none any more."""
        tasks = list(self._tasks.values())
        self.adopt(())
        await asyncio.gather(*tasks, return_exceptions=True)


def reading(source: KeySource) -> Fetch:
    """Return what reads the set of a source; it raises `KeySetError`."""

    async def read() -> bytes:
        try:
            return await (_remote(source) if isinstance(source, RemoteKeys) else _file(source))
        except (FetchError, FileProblem) as error:
            raise KeySetError(str(error)) from None
        except OSError:
            raise KeySetError("the file of authorities cannot be read") from None

    return read


async def _remote(source: RemoteKeys) -> bytes:
    # Read anew each time: whoever renews the file need not restart the gate.
    trusted = (
        await asyncio.to_thread(ssl.create_default_context, cafile=source.ca_file) if source.ca_file else None
    )
    return await fetch(source.url, max_bytes=MAX_SET_BYTES, authorities=trusted)


async def _file(source: FileKeys) -> bytes:
    found = await asyncio.to_thread(read_guarded, source.path, max_bytes=MAX_SET_BYTES, secret=False)
    return found.content
