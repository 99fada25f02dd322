"""`python -m herma.egress --config FILE`: the process of the egress gate, which `herma run` starts.

It ends with its standard input and not before: who stops the others of its group lets what is under way end first.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec

from herma.config.load import load
from herma.egress.line import MAX_LINE_BYTES, read_key
from herma.egress.voice import Voice
from herma.errors import ConfigError, ContentError

# sysexits.h: a configuration error.
_CONFIG = 78

# How long who started the gate may take to read why it ends.
LAST_WORDS_S = 5.0

_MISSING = "the egress gate needs mitmproxy; install it with: pip install 'herma[egress]'"
# They would write the keys of every connection to a file.
_KEY_LOGS = ("SSLKEYLOGFILE", "MITMPROXY_SSLKEYLOGFILE")


def main() -> int:
    """Run until standard input ends; the exit code says how it went."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parser = argparse.ArgumentParser(prog="herma.egress")
    parser.add_argument("--config", required=True)
    path = parser.parse_args().config
    for name in _KEY_LOGS:
        os.environ.pop(name, None)
    if find_spec("mitmproxy") is None:
        Voice(_Pipe(sys.stdout.fileno())).note("egress.missing", _MISSING)
        return _CONFIG
    from herma.egress.loop import JudgedLoop
    from herma.egress.proxy import quiet_log

    quiet_log()
    with asyncio.Runner(loop_factory=JudgedLoop) as runner:
        return runner.run(_run(path))


class _Pipe:
    """Writes to a pipe at once, for what is said before there is a loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes, /) -> None:
        """Write all of it."""
        while data:
            data = data[os.write(self._descriptor, data) :]

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0


async def _run(path: str) -> int:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writer, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    voice = Voice(writer)
    try:
        reason = await _served(path, reader, voice)
        if reason:
            voice.note("egress.start", reason)
        async with asyncio.timeout(LAST_WORDS_S):
            while writer.get_write_buffer_size():  # noqa: ASYNC110 - the transport tells nobody when it is done
                await asyncio.sleep(0.01)
    finally:
        writer.close()
    return _CONFIG if reason else 0


async def _served(path: str, reader: asyncio.StreamReader, voice: Voice) -> str:
    """Serve, and give the reason why that cannot be, if there is one."""
    from herma.egress.canary import CanaryError
    from herma.egress.serve import serve

    try:
        key = read_key(await reader.readline())
        settings = await asyncio.to_thread(load, path, os.environ)
        if settings.egress is None:
            return "the configuration has no section `egress`"
        await serve(settings, settings.egress, key, voice, _orders(reader))
    except (ConfigError, ContentError, CanaryError, OSError, ValueError) as error:
        return str(error)
    except ExceptionGroup as group:
        # Of what runs beside each other, the first that failed ended the others.
        expected, other = group.split((ConfigError, ContentError, CanaryError, OSError, ValueError))
        if other is not None or expected is None:
            raise
        return str(_first(expected))
    return ""


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


async def _orders(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Give the lines of standard input until they end."""
    while line := await reader.readline():
        yield line


if __name__ == "__main__":
    sys.exit(main())
