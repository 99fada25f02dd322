"""Puts together what remembers used tokens, as the configuration has it."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from herma.config.settings import Settings
from herma.errors import ConfigError, Problem, Source, StoreError
from herma.runtime.log import Log
from herma.store import MemorySpent, SpentStore
from herma.store.spent_file import SpentFile
from herma.store.spent_redis import SpentRedis

__all__ = ["try_state", "used_tokens"]


def try_state(settings: Settings) -> None:
    """Look whether state can be kept, before anything is opened.

    Raises:
        ConfigError: a file must not be trusted, or what asks the server is not installed.
    """
    if settings.state.file is not None:
        try:
            asyncio.run(SpentFile(settings.state.file).close())
        except StoreError as error:
            raise ConfigError([Problem(Source(settings.path), "state.file", str(error))]) from None
    if settings.state.redis is not None and importlib.util.find_spec("redis") is None:
        message = "the package redis is missing; install herma[redis]"
        raise ConfigError([Problem(Source(settings.path), "state.redis", message)])


@asynccontextmanager
async def used_tokens(settings: Settings, log: Log) -> AsyncIterator[SpentStore]:
    """Keep the memory open, and look after its server, while the block lasts.

    Raises:
        StoreError: the file must not be trusted any more.
    """
    redis = settings.state.redis
    if redis is None:
        spent: SpentStore = (
            SpentFile(settings.state.file) if settings.state.file is not None else MemorySpent()
        )
        try:
            yield spent
        finally:
            await spent.close()
        return

    def report(failure: str) -> None:
        log(
            "state.redis",
            f"no job is started: {failure}" if failure else "the server of used tokens answers again",
        )

    server = SpentRedis(redis, report=report)
    looking = asyncio.get_running_loop().create_task(server.run())
    try:
        yield server
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await server.close()
