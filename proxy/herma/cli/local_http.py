"""Small HTTP requests to this machine: is there an agent server, and what does the admin listener say?

Blocking and bounded; only the command line waits for them.
"""

import http.client
import json
import socket
import ssl
from typing import Any

from herma.config.values import Address, Unix, UpstreamUrl

__all__ = ["NoAnswer", "answers", "get_json"]

TIMEOUT_S = 3.0
# The status page has a few KiB; a server that is not ours may send anything.
MAX_ANSWER_BYTES = 1024 * 1024


class NoAnswer(Exception):  # noqa: N818 - a fact about the other side, which the command tells
    """Nothing useful came back; the message says why."""


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self._path)


def answers(url: UpstreamUrl) -> bool:
    """Tell whether an HTTP server answers there, whatever it says."""
    try:
        _ask(url.address, "/health", "GET", tls=url.tls)
    except NoAnswer:
        return False
    return True


def get_json(address: Address, target: str, method: str = "GET") -> Any:
    """Fetch a JSON document, or ask for one with another method.

    Raises:
        NoAnswer: There is none.
    """
    status, body = _ask(address, target, method, tls=False)
    if status != http.HTTPStatus.OK:
        raise NoAnswer(f"the answer has status {status}, expected 200")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise NoAnswer("the answer is not JSON: another server listens there") from None


def _ask(address: Address, target: str, method: str, *, tls: bool) -> tuple[int, bytes]:
    connection = _connection(address, tls=tls)
    try:
        connection.request(method, target, headers={"Connection": "close"})
        response = connection.getresponse()
        body = response.read(MAX_ANSWER_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no HTTP answer"
        raise NoAnswer(f"{address} does not answer ({reason})") from None
    finally:
        connection.close()
    if len(body) > MAX_ANSWER_BYTES:
        raise NoAnswer("the answer is too long: another server listens there")
    return response.status, body


def _connection(address: Address, *, tls: bool) -> http.client.HTTPConnection:
    if isinstance(address, Unix):
        return _UnixConnection(address.path)
    if tls:
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(address.host, address.port, timeout=TIMEOUT_S, context=context)
    return http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_S)
