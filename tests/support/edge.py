"""Real servers that end TLS in front of the gate, as people run them: nginx with the shown example, Caddy with three lines."""

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from support.gate import free_port
from support.tree import ROOT
from support.wire_tls import Pair

__all__ = ["EDGES", "NAME", "caddy", "nginx"]

NAME = "agent.example.com"
START_TIMEOUT_S = 20.0


@contextmanager
def nginx(directory: Path, pair: Pair, gate: int) -> Iterator[int]:
    """Run nginx with the example, changed in its addresses and its certificate only; give its port."""
    port = free_port()
    shown = (ROOT / "deploy/examples/nginx.conf").read_text()
    local = (
        shown.replace("/etc/ssl/agent/fullchain.pem", pair.cert)
        .replace("/etc/ssl/agent/privkey.pem", pair.key)
        .replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    )
    local = re.sub(r"http://127\.0\.0\.1:8643", f"http://127.0.0.1:{gate}", local)
    (directory / "gate.conf").write_text(local)
    paths = "".join(f"  {name}_temp_path {directory}/{name};\n" for name in _TEMP)
    (directory / "nginx.conf").write_text(
        f"pid {directory}/nginx.pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\nevents {{}}\n"
        f"http {{\n  access_log off;\n{paths}  include gate.conf;\n}}\n"
    )
    command = ["nginx", "-c", str(directory / "nginx.conf"), "-p", str(directory)]
    with _running(command, directory, port):
        yield port


@contextmanager
def caddy(directory: Path, pair: Pair, gate: int) -> Iterator[int]:
    """Run Caddy with nothing but a certificate and the gate's address; give its port."""
    port = free_port()
    (directory / "Caddyfile").write_text(
        f"{{\n  admin off\n  auto_https off\n}}\n"
        f"https://{NAME}:{port} {{\n  bind 127.0.0.1\n  tls {pair.cert} {pair.key}\n"
        f"  reverse_proxy 127.0.0.1:{gate} {{\n    header_up Host {NAME}\n  }}\n}}\n"
    )
    tool = str(Path(sys.executable).with_name("caddyserver"))
    command = [tool, "run", "--config", str(directory / "Caddyfile"), "--adapter", "caddyfile"]
    home = {"HOME": str(directory), "XDG_DATA_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    with _running(command, directory, port, home):
        yield port


_TEMP = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
EDGES = {"nginx": nginx, "caddy": caddy}


@contextmanager
def _running(
    command: Sequence[str], directory: Path, port: int, environ: Mapping[str, str] | None = None
) -> Iterator[None]:
    path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    tool = shutil.which(command[0], path=path["PATH"]) or command[0]
    with (directory / "edge.log").open("wb") as log:
        process = subprocess.Popen(
            [tool, *command[1:]], stdout=log, stderr=log, cwd=directory, env={**path, **(environ or {})}
        )
    try:
        _wait(process, port, directory / "edge.log")
        yield
    finally:
        process.terminate()
        try:
            process.wait(START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(START_TIMEOUT_S)


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = monotonic() + START_TIMEOUT_S
    while True:
        assert process.poll() is None, log.read_text()
        assert monotonic() < deadline, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            continue
        return
