"""A scheduler of the suites: the tokens that it signs to start jobs, and what a gate that takes them is told."""

import hashlib
import itertools
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from support.tokens import ISSUER, Signer, key_set

__all__ = ["AUDIENCE", "BODY", "FIRE", "JOB", "RUN", "Scheduler", "fire_claims", "scheduler", "written_keys"]

AUDIENCE = "agent-7"
JOB = "0123456789ab"
FIRE = "/api/cron/fire"
RUN = f"/api/jobs/{JOB}/run"
BODY = b'{"job_id":"0123456789ab"}'
SLOW_S = 60.0
_NUMBERS = itertools.count()


def fire_claims(**over: Any) -> dict[str, Any]:
    """Return the claims of a token that is taken now, and has not been; one that is None is left out."""
    now = int(time.time())
    base = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "iat": now,
        "exp": now + 120,
        "purpose": "cron_fire",
        "job_id": JOB,
        "jti": hashlib.sha256(f"{now} {next(_NUMBERS)}".encode()).hexdigest()[:32],
    }
    return {name: value for name, value in (base | over).items() if value is not None}


def scheduler(**over: Any) -> dict[str, Any]:
    """Return the entry of `cron_fire.issuers`; `jwks_url` or `jwks_file` has to be given."""
    return {"name": "scheduler", "issuer": ISSUER, "audience": AUDIENCE} | over


def written_keys(directory: Path, *keys: Signer | Mapping[str, Any]) -> str:
    """Write a key set to a file that its owner alone writes; return its path."""
    file = directory / "scheduler.json"
    file.write_bytes(key_set(*keys))
    file.chmod(0o600)
    return str(file)


class Scheduler:
    """Publishes its keys over HTTP on loopback: they can be changed, be slow to come, or not come at all."""

    def __init__(self, *keys: Signer) -> None:
        self.keys = keys
        self.asked = 0
        self.status = 200
        self.gone = threading.Event()
        self.slow = False
        published = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                published.asked += 1
                if published.slow:
                    published.gone.wait(SLOW_S)
                body = key_set(*published.keys)
                self.send_response(published.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/certs"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.gone.set()
        self._server.shutdown()
        self._server.server_close()
