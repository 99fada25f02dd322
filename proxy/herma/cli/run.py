"""`herma run`: serve with a configuration file, or show the gate at work without one."""

import argparse
import asyncio
import contextlib
import os
import queue
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from herma.errors import ConfigError, ContentError, Problem, Source
from herma.identity import new_key
from herma.policy.secret import Secret
from herma.runtime import Log, StartError, serve

__all__ = ["add_arguments", "run"]

OK, FAILED, CONFIGURATION = 0, 1, 78

# A person has to see that words come one after the other.
DEMO_PACE_S = 0.15
ECHO_START_TIMEOUT_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--config", default="herma.yaml", metavar="FILE", help="the configuration (default: herma.yaml)"
    )
    parser.add_argument("--json", action="store_true", help="log as JSON lines")
    parser.add_argument("--insecure", action="store_true", help="accepted for compatibility; changes nothing")
    demo = parser.add_argument_group("without a configuration file")
    demo.add_argument(
        "--demo", action="store_true", help="make a key and a configuration, and serve with them"
    )
    demo.add_argument("--upstream", metavar="URL", help="the agent server (default: a small echo agent)")
    demo.add_argument("--upstream-key-file", metavar="FILE", help="file that holds the agent server's key")
    demo.add_argument("--listen", metavar="ADDRESS", default="127.0.0.1:8643", help="where to serve")
    demo.add_argument(
        "--admin", metavar="ADDRESS", default="127.0.0.1:8644", help="where operators look (loopback only)"
    )
    demo.add_argument(
        "--state", metavar="DIR", default="state", help="where the key and configuration are kept"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped; return the exit code."""
    log = Log(as_json=arguments.json)
    try:
        if not arguments.demo:
            return serve(Path(arguments.config), os.environ, log, insecure=arguments.insecure)
        with _demo(arguments) as path:
            return serve(path, os.environ, log, insecure=arguments.insecure)
    except ConfigError as error:
        count = len(error.problems)
        log("config.invalid", f"{count} problem{'s' if count > 1 else ''}; nothing was opened")
        for problem in error.problems:
            log(problem.code, str(problem))
        return CONFIGURATION
    except ContentError as error:
        log("content.invalid", f"{error}; nothing was opened")
        return CONFIGURATION
    except StartError as error:
        log("bind.failed", str(error))
        return FAILED


@contextlib.contextmanager
def _demo(arguments: argparse.Namespace) -> Iterator[Path]:
    """Make what a first start needs, and the echo agent if no agent server is named; give the configuration's path."""
    state = Path(arguments.state)
    with _told(state):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
    key_file = state / "herma.key"
    if not key_file.exists():
        _write(key_file, new_key().reveal() + b"\n")
    with contextlib.ExitStack() as stack:
        upstream = arguments.upstream
        if upstream is None:
            agent_key = new_key()
            _write(state / "echo-agent.key", agent_key.reveal() + b"\n")
            upstream = f"http://127.0.0.1:{stack.enter_context(_echo_agent(agent_key))}"
            upstream_key = f"key_file: {_quoted(state / 'echo-agent.key')}"
        else:
            upstream_key = _upstream_key(arguments.upstream_key_file, os.environ)
        config = state / "herma.yaml"
        text = _configuration(arguments.listen, arguments.admin, upstream, upstream_key, key_file)
        _write(config, text.encode())
        _show(arguments.listen, upstream, key_file, echo=arguments.upstream is None)
        yield config


def _upstream_key(named: str | None, environ: Mapping[str, str]) -> str:
    """Return the line that tells where the agent server's key is; an empty one when nothing is known of it."""
    if named:
        return f"key_file: {_quoted(Path(named))}"
    # The name that hermes-agent itself reads its key from.
    return "key: ${API_SERVER_KEY}" if environ.get("API_SERVER_KEY") else ""


def _configuration(listen: str, admin: str, upstream: str, upstream_key: str, key_file: Path) -> str:
    return (
        "# Made by `herma run --demo`, anew at every start. For a configuration of your own: `herma init`.\n"
        f"listen:\n  - address: {_quoted(listen)}\n"
        f"upstream:\n  url: {_quoted(upstream)}\n"
        + (f"  {upstream_key}\n" if upstream_key else "")
        + "auth:\n"
        f"  keys:\n    - name: demo\n      key_file: {_quoted(key_file)}\n      scopes: [admin]\n"
        f"admin: {{address: {_quoted(admin)}}}\n"
    )


def _quoted(value: object) -> str:
    # YAML single quotes know one escape: the quote, doubled.
    text = str(value.absolute() if isinstance(value, Path) else value)
    return "'" + text.replace("'", "''") + "'"


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with _told(path), os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say what cannot be written, and what to do, instead of failing with a traceback."""
    try:
        yield
    except OSError as error:
        message = f"cannot be written ({error.strerror}); name another directory with --state"
        raise ConfigError([Problem(Source(str(path)), "demo.state", message)]) from None


def _show(listen: str, upstream: str, key_file: Path, *, echo: bool) -> None:
    base = f"http://{listen}"
    auth = f'-H "Authorization: Bearer $(cat {shlex.quote(str(key_file))})"'
    body = '{"input": "RUN: export DEPLOY_TOKEN=hunter2hunter2; rm -rf ./scratch"}'
    lines = [
        f"The gate stands in front of {'a small echo agent' if echo else upstream}. Three lines to try in another terminal:",
        "",
        "  # without a key: 401, and the agent never hears of it",
        f"  curl -i {base}/v1/models",
        "",
        "  # with the key: words come one after the other",
        f"  curl -N {auth} {base}/v1/chat/completions \\",
        """    -H 'Content-Type: application/json' -d '{"stream": true, "messages": [{"role": "user", "content": "hello"}]}'""",
        "",
        "  # an approval prompt: the command stays readable, the credential does not leave",
        f"  curl -N {auth} {base}/v1/runs/$(curl -s {auth} {base}/v1/runs \\",
        f"    -H 'Content-Type: application/json' -d '{body}' | grep -oE 'run_[0-9a-f]{{32}}')/events",
        "",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201 - what a newcomer is meant to read


@contextlib.contextmanager
def _echo_agent(key: Secret) -> Iterator[int]:
    """Serve the echo agent in a thread of its own for as long as the context lasts; give its port."""
    from herma.drill import serve_echo

    ports: queue.Queue[int] = queue.Queue(maxsize=1)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve_until_stopped() -> None:
        async with serve_echo("127.0.0.1", 0, key, pace_s=DEMO_PACE_S) as port:
            ports.put(port)
            await stop.wait()

    thread = threading.Thread(
        target=loop.run_until_complete, args=(serve_until_stopped(),), name="echo-agent", daemon=True
    )
    thread.start()
    try:
        yield ports.get(timeout=ECHO_START_TIMEOUT_S)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(ECHO_START_TIMEOUT_S)
        loop.close()
