"""A scripted identity provider on loopback: it tells whatever lies a test asks for, over real HTTP."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from herma.identity.remote import FetchError
from herma.policy.secret import Secret
from support.issuer import ScriptedIssuer

__all__ = ["serving"]


class _Handler(BaseHTTPRequestHandler):
    issuer: ScriptedIssuer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, form: bytes | None) -> None:
        given = self.headers["Authorization"]
        said = Secret(given.encode()) if given else None
        url = self.issuer.url + self.path
        try:
            body = asyncio.run(self.issuer(url, max_bytes=1 << 20, form=form, authorization=said))
            status = 200
        except FetchError as error:
            body, status = b"{}", error.status or 500
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[ScriptedIssuer]:
    """Run one for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    issuer = ScriptedIssuer(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"issuer": issuer})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
