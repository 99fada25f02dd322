"""Puts the gate together and runs it until it is told to stop."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

from herma.config.egress import Egress
from herma.config.settings import Settings
from herma.egress.asking import Asking
from herma.egress.canary import try_refusals
from herma.egress.judges import read_judges
from herma.egress.line import RELOAD, Counts, Ready
from herma.egress.loop import JudgedLoop
from herma.egress.proxy import Proxy
from herma.egress.recording import Recording
from herma.egress.trust import open_authority
from herma.egress.voice import Voice
from herma.egress.watching import WatchedFiles
from herma.errors import ConfigError, ContentError
from herma.policy.secret import Secret

__all__ = ["serve"]

SWEEP_S: Final = 1.0
LOOK_S: Final = 2.0

# What reading content and files can go wrong with.
_UNREADABLE: Final = (ConfigError, ContentError, OSError, ValueError)


async def serve(
    settings: Settings, egress: Egress, key: Secret, voice: Voice, orders: AsyncIterator[bytes]
) -> None:
    """Serve until there are no more orders.

    Raises:
        ConfigError: the authority cannot be used.
        ContentError: a file of content cannot be used.
        CanaryError: the gate does not refuse what it must.
        OSError: a file cannot be read, or the address cannot be listened on.
        ValueError: a watched file is none.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, JudgedLoop):
        raise TypeError("only a loop that connects to judged addresses serves the gate")
    content = _Content(settings, egress, key)
    await asyncio.to_thread(content.read)
    authority = await asyncio.to_thread(open_authority, settings, egress)
    if authority.note:
        voice.note("egress.ca", authority.note)
    asking = Asking(content.judges, voice)
    content.asking = asking
    with _recording(egress, voice, loop) as recording:
        proxy = Proxy(egress, authority, asking, loop, recording)
        await _run(proxy, content, asking, voice, orders)


@contextmanager
def _recording(egress: Egress, voice: Voice, loop: JudgedLoop) -> Iterator[Recording | None]:
    if egress.record_file is None:
        yield None
        return
    recording = Recording(egress.record_file, egress.record_max_bytes, voice.note, loop)
    voice.note("egress.record", f"recording: requests are kept in {egress.record_file}")
    try:
        yield recording
    finally:
        recording.close()


async def _run(
    proxy: Proxy, content: "_Content", asking: Asking, voice: Voice, orders: AsyncIterator[bytes]
) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(proxy.run())
        try:
            addresses = await proxy.opened()
            for host, port in addresses:
                await try_refusals(host, port, asking.canary)
            host, port = addresses[0]
            voice.say(Ready(f"[{host}]:{port}" if ":" in host else f"{host}:{port}"))
            tasks = [
                group.create_task(_sweep(proxy, voice)),
                group.create_task(_watch(content, voice)),
            ]
            async for order in orders:
                if order == RELOAD:
                    await _reload(content, voice)
                else:
                    voice.note("egress.order", "an order is not known")
            for task in tasks:
                task.cancel()
        finally:
            proxy.stop()
        await running


class _Content:
    """What is judged by, and how it is read."""

    def __init__(self, settings: Settings, egress: Egress, key: Secret) -> None:
        self._settings = settings
        self._egress = egress
        self._key = key
        self.watched = WatchedFiles(key, egress.watch)
        self.asking: Asking | None = None

    def read(self) -> None:
        """Read everything; what is judged by stays what it was if that fails."""
        self.judges = read_judges(self._settings, self._egress, self._key, self.watched.read())

    async def swap(self) -> None:
        """Read everything and judge by it."""
        await asyncio.to_thread(self.read)
        if self.asking is not None:
            self.asking.swap(self.judges)


async def _reload(content: _Content, voice: Voice) -> None:
    try:
        await content.swap()
    except _UNREADABLE as error:
        voice.note("egress.reload", f"reload refused: {error}")
    else:
        voice.note("egress.reloaded", "the content was read again")


async def _watch(content: _Content, voice: Voice) -> None:
    """Read again what changed."""
    told = ""
    while True:
        await asyncio.sleep(LOOK_S)
        if not await asyncio.to_thread(content.watched.changed):
            continue
        try:
            await content.swap()
        except _UNREADABLE as error:
            # Once for each reason: the file is looked at again and again.
            if str(error) != told:
                voice.note(
                    "egress.watch", f"a watched file cannot be read, what stood in it is known: {error}"
                )
            told = str(error)
        else:
            told = ""


async def _sweep(proxy: Proxy, voice: Voice) -> None:
    """End what is too slow, and tell how much is under way when that changes."""
    said = Counts(0, 0)
    while True:
        await asyncio.sleep(SWEEP_S)
        for client in proxy.deadlines.passed():
            proxy.close(client)
        now = Counts(len(proxy.connections), proxy.held.taken)
        if now != said:
            voice.say(now)
            said = now
