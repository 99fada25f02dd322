"""Tokens that were used, in Redis or Valkey: for the gates of several machines.

Rules of the file:

1. Of several gates that use a token at the same time one is the first: `SET … NX` decides.
2. A server that lost what it knew, because it was restarted without its data, must not make used tokens usable again. So a mark says
   since when it remembers; with the rest the mark is lost, is set anew, and what was issued before counts as used.
3. A server that forgets on its own to make room is refused.
4. A server that cannot be asked, or not in time, means that nothing is started.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from herma.config.state import Redis
from herma.config.values import Unix
from herma.errors import StoreError
from herma.policy.token.spent import MARGIN_S, Once, Spending, outdated

if TYPE_CHECKING:
    from redis.asyncio import Redis as Client

__all__ = ["SpentRedis"]

# A worker waits for a second in all (see `channel`).
_WAIT_S = 0.8
_CONNECT_S = 0.5
# How often it is looked whether the server still has its mark: for so long a restart of it costs starts of jobs.
LOOK_EVERY_S = 15.0
_KEPT = "noeviction"


class SpentRedis:
    """Remembers in a server; `report` hears why it cannot be used, and an empty text when it can again."""

    def __init__(
        self,
        configured: Redis,
        clock: Callable[[], float] = time.time,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._report = report
        # Braces: both names lie in one slot of a cluster.
        self._prefix = f"{{{configured.prefix}}}:spent"
        self._client = _client(configured)
        self._fit = False
        self._failure = ""

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token, if it is the first."""
        if not self._fit:
            await self._look()
        since, first = await self._asked(
            lambda pipeline: pipeline.set(
                f"{self._prefix}:{once.token_id}", b"1", nx=True, pxat=round(once.until * 1000)
            )
        )
        if not first:
            return Spending.AGAIN
        # The machines that share the server have clocks of their own.
        return Spending.OUTDATED if outdated(once, since + MARGIN_S) else Spending.FIRST

    async def run(self) -> None:
        """Look after the server, until cancelled."""
        while True:
            try:
                await self._look()
            except StoreError as error:
                self._tell(str(error))
            else:
                self._tell("")
            await asyncio.sleep(LOOK_EVERY_S)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _look(self) -> None:
        """Set the mark where there is none, and judge whether the server keeps what it is told."""
        self._fit = False
        _, memory = await self._asked(lambda pipeline: pipeline.info("memory"))
        if int(memory.get("maxmemory", 1)) and memory.get("maxmemory_policy") != _KEPT:
            raise StoreError(f"the server forgets to make room; set maxmemory-policy to {_KEPT}")
        self._fit = True

    async def _asked(self, add: Callable[[Any], object]) -> tuple[float, Any]:
        """Return since when the server remembers, and its answer to what is added."""
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(_WAIT_S), self._client.pipeline(transaction=True) as pipeline:
                pipeline.set(f"{self._prefix}-since", repr(self._clock()), nx=True)
                pipeline.get(f"{self._prefix}-since")
                add(pipeline)
                _, since, answer = await pipeline.execute()
                return float(since), answer
        except (RedisError, OSError, TimeoutError, ValueError, TypeError) as error:
            self._fit = False
            # By kind only: a server may repeat what it was sent.
            raise StoreError(f"the server of used tokens cannot be asked ({type(error).__name__})") from None

    def _tell(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            self._report(failure)


def _client(configured: Redis) -> "Client":
    # Late: it is there only with `herma[redis]`.
    from redis.asyncio import Connection, ConnectionPool, SSLConnection, UnixDomainSocketConnection
    from redis.asyncio import Redis as Client
    from redis.asyncio.connection import AbstractConnection
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    common: dict[str, Any] = {
        "db": configured.database,
        "username": configured.username or None,
        "password": configured.password.reveal().decode("ascii") if configured.password is not None else None,
        "socket_timeout": _WAIT_S,
        "socket_connect_timeout": _CONNECT_S,
        # A use that was perhaps noted must not be tried again: it would look like another's.
        "retry": Retry(NoBackoff(), 0),
        "max_connections": 16,
    }
    if isinstance(configured.address, Unix):
        kind: type[AbstractConnection] = UnixDomainSocketConnection
        common["path"] = configured.address.path
    else:
        kind = Connection
        common |= {"host": configured.address.host, "port": configured.address.port}
    if configured.tls:
        kind = SSLConnection
        common |= {
            "ssl_cert_reqs": "required",
            "ssl_check_hostname": True,
            "ssl_ca_certs": configured.ca_file,
            "ssl_min_version": ssl.TLSVersion.TLSv1_2,
        }
    return Client.from_pool(ConnectionPool(connection_class=kind, **common))
