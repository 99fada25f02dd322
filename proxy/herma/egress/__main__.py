"""`python -m herma.egress --config FILE`: the process of the egress gate, which `herma run` starts.

It ends with its standard input and not before: who stops the others of its group lets what is under way end first.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress

from herma.config.load import load
from herma.egress.line import MAX_LINE_BYTES, read_key
from herma.egress.loop import JudgedLoop
from herma.egress.trust import require_proxy
from herma.egress.voice import Voice
from herma.errors import HermaError

# sysexits.h: a configuration error.
_CONFIG = 78

# How long who started the gate may take to read why it ends.
LAST_WORDS_S = 5.0

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
    with asyncio.Runner(loop_factory=JudgedLoop) as runner:
        return runner.run(_run(path))


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
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                while writer.get_write_buffer_size():  # noqa: ASYNC110 - the transport tells nobody when it is done
                    await asyncio.sleep(0.01)
    finally:
        writer.close()
    return _CONFIG if reason else 0


async def _served(path: str, reader: asyncio.StreamReader, voice: Voice) -> str:
    """Serve, and give the reason why that cannot be, if there is one."""
    try:
        key = read_key(await reader.readline())
        settings = await asyncio.to_thread(load, path, os.environ)
        if settings.egress is None:
            return "the configuration has no section `egress`"
        require_proxy(settings)
        from herma.egress.proxy import quiet_log
        from herma.egress.serve import serve

        quiet_log()
        await serve(settings, settings.egress, key, voice, _orders(reader))
    except (HermaError, OSError, ValueError) as error:
        return str(error)
    except ExceptionGroup as group:
        # Of what runs beside each other, the first that failed ended the others.
        expected, other = group.split((HermaError, OSError, ValueError))
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
