"""A terminal that tests read, and a small HTTP server for commands that ask one."""

import io
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from herma.cli import main
from herma.cli.terminal import Terminal

__all__ = ["Said", "answering", "herma"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Parse the answer."""
        return json.loads(self.out)


class _Person(io.StringIO):
    """Standard input with somebody at it."""

    def isatty(self) -> bool:
        return True


def herma(arguments: Sequence[object], stdin: str = "", *, person: bool = False) -> Said:
    """Run one command; with `person`, standard input is a terminal."""
    out, err = io.StringIO(), io.StringIO()
    stream = _Person(stdin) if person else io.StringIO(stdin)
    code = main([str(argument) for argument in arguments], Terminal(stream, out, err))
    return Said(code, out.getvalue(), err.getvalue())


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[int]:
    """Serve the same answer to every GET and POST; give the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
