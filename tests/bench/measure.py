"""Measure the gate beside other proxies: same machine, same run, same upstream, medians of rounds in alternating order.

    python tests/bench/run.py [--rounds N] [--seconds S] [--only herma,nginx] [--write]

`--write` puts the table into docs/benchmarks.md. The other proxies are installed into `.cache/bench`.
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import uvloop
from candidates import NAMES, TOOLS, Candidate, Unavailable, start
from load import Result, drive, hold_open, run_streams
from process import cpu_seconds, memory_bytes
from report import render, write_document

from support.gate import ROOT, free_port
from support.raw import request

TARGET = "/v1/chat/completions"
PROMPT = "Please summarise the notes of the meeting in five plain sentences. " * 29
CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": PROMPT}]}).encode()
STREAM = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}'
IDLE = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":1,"idle":true}'
UPLOAD = json.dumps(
    {"model": "m", "messages": [{"role": "user", "content": "abcdefghi " * 999_000}]}
).encode()
CONNECTIONS = (1, 16, 64)
STREAMS = 16
IDLE_STREAMS = 500
UPLOADS = 4
SETTLE_S = 0.5
Samples = dict[str, dict[str, list[float]]]


def ensure_tools() -> str:
    """Install the other proxies if they are not there; return why that failed, or nothing."""
    if (TOOLS / "bin" / "python").exists():
        return ""
    print("installing the other proxies into .cache/bench", flush=True)
    wanted = ["-r", str(Path(__file__).parent / "requirements.txt")]
    try:
        if shutil.which("uv"):
            subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(TOOLS)], check=True)
            subprocess.run(
                ["uv", "pip", "install", "-q", "-p", str(TOOLS / "bin" / "python"), *wanted], check=True
            )
        else:
            subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
            subprocess.run([str(TOOLS / "bin" / "pip"), "install", "-q", *wanted], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the other proxies could not be installed: {error}"
    return ""


def _message(candidate: Candidate, body: bytes) -> bytes:
    return request("POST", TARGET, host=f"127.0.0.1:{candidate.port}", key=candidate.key, body=body)


async def _requests(candidate: Candidate, seconds: float, into: dict[str, list[float]]) -> None:
    for connections in CONNECTIONS:
        before = cpu_seconds(candidate.pid)
        result = await drive(candidate.port, _message(candidate, CHAT), connections, seconds)
        used = cpu_seconds(candidate.pid) - before
        into[f"rps_{connections}"].append(result.per_second)
        if candidate.pid and result.answers:
            into[f"cpu_us_{connections}"].append(used / result.answers * 1e6)
        if connections == 1:
            into["p50_us"].append(result.percentile(0.5) * 1e6)
            into["p99_us"].append(result.percentile(0.99) * 1e6)
        _note_errors(candidate, result, into)


def _note_errors(candidate: Candidate, result: Result, into: dict[str, list[float]]) -> None:
    into["error_count"].append(result.errors)
    if result.errors:
        print(f"  {candidate.name}: {result.errors} errors of {result.answers + result.errors}", flush=True)


async def _events(candidate: Candidate, _seconds: float, into: dict[str, list[float]]) -> None:
    before = cpu_seconds(candidate.pid)
    result = await run_streams(candidate.port, _message(candidate, STREAM), STREAMS)
    used = cpu_seconds(candidate.pid) - before
    into["events_per_s"].append(result.events / result.seconds)
    if candidate.pid and result.events:
        into["cpu_us_event"].append(used / result.events * 1e6)
    _note_errors(candidate, result, into)


async def _uploads(candidate: Candidate, _seconds: float, into: dict[str, list[float]]) -> None:
    before = cpu_seconds(candidate.pid)
    result = Result()
    for _ in range(UPLOADS):
        one = await drive(candidate.port, _message(candidate, UPLOAD), 1, 30.0, once=True)
        result.seconds += one.seconds
        result.answers += one.answers
        result.errors += one.errors
    used = cpu_seconds(candidate.pid) - before
    if result.answers:
        into["upload_mb_s"].append(result.answers * len(UPLOAD) / 1e6 / result.seconds)
        if candidate.pid:
            into["upload_cpu_ms"].append(used / result.answers * 1e3)
    _note_errors(candidate, result, into)


async def _idle(candidate: Candidate, into: dict[str, list[float]]) -> None:
    before = memory_bytes(candidate.pid)
    opened, transports = await hold_open(candidate.port, _message(candidate, IDLE), IDLE_STREAMS)
    await asyncio.sleep(SETTLE_S)
    if candidate.pid and opened:
        into["kb_per_stream"].append(max(0, memory_bytes(candidate.pid) - before) / opened / 1024)
        into["idle_mb"].append(before / 1e6)
    into["error_count"].append(IDLE_STREAMS - opened)
    for transport in transports:
        transport.abort()
    await asyncio.sleep(SETTLE_S)


Part = Callable[[Candidate, float, dict[str, list[float]]], Awaitable[None]]


async def measure(candidates: list[Candidate], rounds: int, seconds: float) -> Samples:
    """Drive every candidate once a round, forwards and backwards in turn."""
    samples: Samples = {candidate.name: defaultdict(list) for candidate in candidates}
    parts: list[tuple[str, Part]] = [("requests", _requests), ("events", _events), ("uploads", _uploads)]
    for candidate in candidates:
        await drive(candidate.port, _message(candidate, CHAT), 8, min(seconds, 1.0))
    for candidate in candidates:
        await _idle(candidate, samples[candidate.name])
    for number in range(rounds):
        for title, part in parts:
            for candidate in candidates if number % 2 == 0 else reversed(candidates):
                await part(candidate, seconds, samples[candidate.name])
            print(f"round {number + 1} of {rounds}: {title}", flush=True)
    return samples


def summarise(samples: Samples) -> dict[str, dict[str, float]]:
    """Take medians, and the latency beyond that of the upstream itself."""
    figures: dict[str, dict[str, float]] = {}
    for name, kinds in samples.items():
        figures[name] = {
            key: statistics.median(values) for key, values in kinds.items() if values and key != "error_count"
        }
        figures[name]["errors"] = sum(kinds["error_count"])
    base = figures.get("direct", {})
    for name, values in figures.items():
        for share in ("p50", "p99"):
            if name != "direct" and f"{share}_us" in base and f"{share}_us" in values:
                values[f"added_{share}_us"] = values[f"{share}_us"] - base[f"{share}_us"]
    return figures


def _setting(rounds: int, seconds: float) -> str:
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return (
        f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {cores} cores, load average {load:.1f} at the end; "
        f"Python {platform.python_version()}; medians of {rounds} rounds of {seconds:g} s, order alternated; one worker each, "
        f"{len(CHAT)} byte JSON POST, 1 KiB JSON answer; {STREAMS} streams of 2,000 events; {IDLE_STREAMS} idle streams."
    )


def main() -> int:
    """Run the benchmark as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", default=",".join(NAMES), help="comma-separated candidates")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    arguments = parser.parse_args()
    trouble = ensure_tools()
    everywhere = sorted(os.sched_getaffinity(0))
    key = secrets.token_hex(32)
    missing: dict[str, str] = {}
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="herma-bench-")))
        port = free_port()
        agent = stack.enter_context(
            subprocess.Popen(
                [sys.executable, str(Path(__file__).parent / "agent.py"), str(port)], stdout=subprocess.PIPE
            )
        )
        stack.callback(agent.terminate)
        assert agent.stdout is not None
        agent.stdout.readline()
        if len(everywhere) > 1:
            os.sched_setaffinity(agent.pid, set(everywhere[1:]))
        candidates = []
        for name in arguments.only.split(","):
            try:
                candidate = start(name, directory, port, key)
            except Unavailable as error:
                missing[name] = trouble or str(error)
                print(f"{name} cannot run: {missing[name]}", flush=True)
                continue
            stack.callback(candidate.stop)
            candidates.append(candidate)
        if len(everywhere) > 1:
            os.sched_setaffinity(0, set(everywhere[1:]))
        samples = uvloop.run(measure(candidates, arguments.rounds, arguments.seconds))
        os.sched_setaffinity(0, set(everywhere))
    text = render(
        summarise(samples),
        missing,
        {c.name: c.version for c in candidates},
        _setting(arguments.rounds, arguments.seconds),
    )
    print("\n" + text)
    if arguments.write:
        write_document(ROOT / "docs" / "benchmarks.md", text)
    return 0
