"""Time each detector on ordinary and on hostile inputs, in alternation with the upstream's function on the same input.

    python tests/bench/detect.py [--rounds N] [--no-hostile] [--write]

`--write` puts the tables into docs/benchmarks-detect.md.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

import detect_hostile as hostile
import detect_inputs as inputs
from detect_report import LIMIT_MS, Row, Worst, render, setting
from report import write_document

from herma.policy.checks.indicator_guard import IndicatorGuard
from herma.policy.checks.mcp_guard import McpGuard
from herma.policy.entry.finder import Entry
from herma.policy.exchange import Phase
from herma.policy.prompt.scan import PromptScan
from herma.policy.redaction.stream import StreamRedactor
from herma.policy.routing.route import Dialect
from herma.policy.sse.redactor import SseRedactor
from support.exchanges import exchange, match
from support.guard_content import entry_judge, indicators, prompt_scan, rules, words
from support.redactor import redactor
from support.tree import ROOT
from support.upstream_functions import NoUpstream, Stopped, UpstreamFunctions

__all__ = ["main"]

MB = 10**6
EVENTS = 2000
# Whoever streams writes this much at a time at most.
PIECE_CHARS = 4096
# A hostile unit in all its forms is given up after this long; it then counts as this slow.
UNIT_LIMIT_S = 120.0
# The upstream is not waited for any longer.
UPSTREAM_LIMIT_S = 20.0
SHOWN_WORST = 3
REPEATS = 3
type Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Ordinary:
    """One ordinary input: the gate's call, the same for the upstream, and how a time becomes a figure."""

    title: str
    call: Call
    upstream: dict[str, object] | None
    calls: int
    units: float
    form: str
    target: str


def _ordinary() -> Iterator[Ordinary]:
    redact, scan = redactor(), prompt_scan()

    def text(title: str, value: str, calls: int, form: str, target: str) -> Ordinary:
        units = len(value) / MB if form == "MB/s" else 1.0
        return Ordinary(
            title, lambda: redact.text(value), {"do": "redact", "value": value}, calls, units, form, target
        )

    yield text("redact a clean command of 200 bytes", inputs.CLEAN_COMMAND, 400, "µs", "≤ 25 µs")
    yield text("redact a command with a token", inputs.SECRET_COMMAND, 200, "µs", "")
    yield text("redact 4 KB of prose and commands", inputs.TEXT_4_KB, 60, "µs", "")
    yield text("redact log text, 1 MB", inputs.LOG, 1, "MB/s", "≥ 10 MB/s")
    yield text("redact hashes, ids and public keys, 1 MB", inputs.dense(), 1, "MB/s", "")
    events = inputs.events(EVENTS)
    yield Ordinary(
        "redact a stream, an event of 5 characters", lambda: _stream(events), None, 1, EVENTS, "µs", ""
    )
    named = [rule for rule in rules("cron") if "like" not in rule.options]
    bare = PromptScan(named, rules("mcp"), words())
    for title, judge, target in (
        ("scan a prompt of 2 KB", scan.judge, "≤ 500 µs"),
        ("the same without the model of prompts", bare.judge, ""),
    ):
        yield Ordinary(
            title,
            lambda judge=judge: judge(inputs.PROMPT),
            {"do": "prompt", "value": inputs.PROMPT},
            20,
            1.0,
            "µs",
            target,
        )
    body = {"messages": [{"role": "user", "content": inputs.TEXT_4_KB}]}
    guard, asked = IndicatorGuard(indicators()), exchange(body)
    yield Ordinary(
        "look for indicators in a body of 4 KB",
        lambda: guard.decide(asked, Phase.REQUEST_BODY),
        None,
        200,
        1.0,
        "µs",
        "",
    )


def _stream(events: Iterable[bytes]) -> None:
    sse = SseRedactor(redactor(), Dialect.OPENAI_CHAT)
    for event in events:
        sse.feed(event, 0.0)
    sse.finish(0.0)


def _time(call: Call, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def _upstream_time(functions: UpstreamFunctions, asked: dict[str, object], calls: int) -> float | None:
    try:
        return float(functions.ask({**asked, "repeat": calls}, UPSTREAM_LIMIT_S * 3)["us"]) / MB
    except Stopped:
        return None


def _figure(seconds: float, units: float, form: str) -> float:
    return units / seconds if form == "MB/s" else MB * seconds / units


def measure_ordinary(functions: UpstreamFunctions | None, rounds: int) -> list[Row]:
    """Time ordinary inputs, the gate and the upstream in turns; medians of the rounds."""
    rows = []
    for case in _ordinary():
        print(f"{case.title} …", file=sys.stderr)
        ours, theirs = [], []
        case.call()
        for _ in range(rounds):
            ours.append(_time(case.call, case.calls))
            if functions and case.upstream:
                theirs.append(_upstream_time(functions, case.upstream, case.calls))
        answered = [seconds for seconds in theirs if seconds is not None]
        rows.append(
            Row(
                case.title,
                _figure(statistics.median(ours), case.units, case.form),
                _figure(statistics.median(answered), case.units, case.form) if answered else None,
                case.form,
                case.target,
            )
        )
    return [*rows, *_spread(functions, rounds)]


def _spread(functions: UpstreamFunctions | None, rounds: int) -> Iterator[Row]:
    """Time every innocent entry and prompt of the corpus: the median of all, and what one in twenty exceeds."""
    judge, scan = entry_judge(), prompt_scan()
    entries = [
        (Entry(name, entry, ""), {"do": "entry", "name": name, "value": entry})
        for name, entry in inputs.entries()
    ]
    yield from _quantiles(
        "judge an MCP entry of the corpus",
        [(lambda entry=entry: judge.judge_entry(entry), asked) for entry, asked in entries],
        functions,
        rounds,
        "≤ 400 µs",
    )
    yield from _quantiles(
        "scan a prompt of the corpus",
        [
            (lambda prompt=prompt: scan.judge(prompt), {"do": "prompt", "value": prompt})
            for prompt in inputs.prompts()
        ],
        functions,
        rounds,
        "",
    )


def _quantiles(
    title: str,
    cases: list[tuple[Call, dict[str, object]]],
    functions: UpstreamFunctions | None,
    rounds: int,
    target: str,
) -> Iterator[Row]:
    print(f"{title} …", file=sys.stderr)
    ours, theirs = [], []
    for call, asked in cases:
        call()
        ours.append(statistics.median(_time(call, 1) for _ in range(rounds)))
        if functions:
            theirs.append(_upstream_time(functions, asked, rounds) or UPSTREAM_LIMIT_S)
    for name, at, wanted in ((", median", 50, target), (", 95th of 100", 95, "")):
        yield Row(
            title + name,
            MB * _quantile(ours, at),
            MB * _quantile(theirs, at) if theirs else None,
            "µs",
            wanted,
        )


def _quantile(times: list[float], at: int) -> float:
    return statistics.quantiles(times, n=100)[at - 1]


def _detectors() -> dict[
    str, Callable[[], Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]]
]:
    """Give, for each detector, its hostile inputs in groups: a name, the calls to time, what to ask the upstream."""
    redact, judge, scan = redactor(), entry_judge(), prompt_scan()
    guard, mcp = IndicatorGuard(indicators()), McpGuard(judge)

    def one(call: Call) -> list[tuple[str, Call]]:
        return [("", call)]

    def redaction() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, text in hostile.texts(MB):
            yield name, one(lambda text=text: redact.text(text)), {"do": "redact", "value": text}

    def stream() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, text in hostile.texts(MB):
            yield name, one(lambda text=text: _pieces(text)), None

    def indicator() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, text in hostile.texts(MB):
            asked = [exchange({"a": text[:size]}) for size in (MB, 256 * 1024, 8 * 1024)]
            yield name, [("", lambda one=one: guard.decide(one, Phase.REQUEST_BODY)) for one in asked], None

    def prompt() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, text in hostile.texts(MB):
            calls = [
                (f", {len(cut):,} characters", lambda cut=cut: scan.judge(cut))
                for cut in (text, text[: 32 * 1024], text[: 16 * 1024], text[: 4 * 1024])
            ]
            yield name, calls, {"do": "prompt", "value": text[: 32 * 1024]}

    def entry() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, unit in hostile.units():
            made = [
                (f" {where}, {size:,} characters", entry)
                for size in (MB, 64 * 1024 - 64, 8 * 1024 - 64, 4 * 1024)
                for where, entry in hostile.entries(unit, size)
            ]
            script = {"command": "bash", "args": ["-c", unit * (8000 // len(unit))]}
            yield (
                name,
                [(where, lambda one=one: judge.judge_entry(Entry("x", one, ""))) for where, one in made],
                {"do": "entry", "name": "x", "value": script},
            )

    def entries() -> Iterator[tuple[str, list[tuple[str, Call]], dict[str, object] | None]]:
        for name, unit in hostile.units():
            calls = []
            for size in (64, 1024, 6000):
                one = {"command": "bash", "args": ["-c", unit * (size // len(unit) + 1)]}
                body = exchange(
                    {"mcpServers": {f"s{at}": one for at in range(MB // (size + 60))}}, route=match("mcp.set")
                )
                calls.append(
                    (f", {size} characters an entry", lambda body=body: mcp.decide(body, Phase.REQUEST_BODY))
                )
            yield name, calls, None

    return {
        "redactor": redaction,
        "redactor of streams": stream,
        "judge of an MCP entry": entry,
        "MCP entries of a body": entries,
        "scan of a prompt": prompt,
        "indicators of a body": indicator,
    }


def _pieces(text: str) -> None:
    stream = StreamRedactor(redactor())
    for at in range(0, len(text), PIECE_CHARS):
        stream.feed(text[at : at + PIECE_CHARS], 0.0)
    stream.finish()


def _timed(sender: Connection, calls: list[tuple[str, Call]], repeats: int) -> None:
    slowest: tuple[float, str] = (-1.0, "")
    for where, call in calls:
        seconds = statistics.median(_time(call, 1) for _ in range(repeats))
        slowest = max(slowest, (seconds, where))
    sender.send(slowest)


def _limited(calls: list[tuple[str, Call]], repeats: int = 1) -> tuple[float, str, bool]:
    """Time calls in a process of their own, which is ended when it takes too long; give the slowest."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_timed, args=(sender, calls, repeats))
    process.start()
    try:
        if receiver.poll(UNIT_LIMIT_S):
            seconds, where = receiver.recv()
            return seconds, where, False
        return UNIT_LIMIT_S, "", True
    finally:
        process.kill()
        process.join()


def measure_hostile(functions: UpstreamFunctions | None) -> dict[str, tuple[int, list[Worst]]]:
    """Time every hostile input on every detector; give how many there were and the slowest."""
    found: dict[str, tuple[int, list[Worst]]] = {}
    for detector, groups in _detectors().items():
        print(f"hostile inputs: {detector} …", file=sys.stderr)
        timed, count = [], 0
        for name, calls, asked in groups():
            seconds, where, stopped = _limited(calls)
            count += len(calls)
            timed.append((seconds, name, where, stopped, calls, asked))
            if stopped or 1000 * seconds > LIMIT_MS:
                print(
                    f"  {name}{where}: {1000 * seconds:,.0f} ms{' (stopped)' if stopped else ''}",
                    file=sys.stderr,
                )
        timed.sort(key=lambda item: -item[0])
        worst = []
        for seconds, name, where, stopped, calls, asked in timed[:SHOWN_WORST]:
            # Once more, and more often: one call may have had bad luck.
            again = seconds if stopped else _limited([one for one in calls if one[0] == where], REPEATS)[0]
            worst.append(Worst(name + where, again, _upstream_hostile(functions, asked), stopped=stopped))
        found[detector] = count, worst
    return found


def _upstream_hostile(functions: UpstreamFunctions | None, asked: dict[str, object] | None) -> float | None:
    if functions is None or asked is None:
        return None
    try:
        return float(functions.ask(asked, UPSTREAM_LIMIT_S)["us"]) / MB
    except Stopped:
        return UPSTREAM_LIMIT_S


def main() -> int:
    """Measure and print; write the page if asked."""
    parser = argparse.ArgumentParser(prog="make bench-detect", description="Time the detectors.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-hostile", action="store_true", help="ordinary inputs only")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks-detect.md")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        functions = _functions(stack)
        rows = measure_ordinary(functions, options.rounds)
        worst = {} if options.no_hostile else measure_hostile(functions)
    text = render(setting(options.rounds), rows, worst, UPSTREAM_LIMIT_S)
    print(json.dumps([vars_of(row) for row in rows], indent=1) if options.json else text)
    if options.write:
        write_document(ROOT / "docs/benchmarks-detect.md", text)
    return 0


def vars_of(row: Row) -> dict[str, object]:
    """Give a row as JSON has it."""
    return {"title": row.title, "herma": row.ours, "upstream": row.theirs, "unit": row.form}


def _functions(stack: ExitStack) -> UpstreamFunctions | None:
    try:
        functions = stack.enter_context(UpstreamFunctions())
        functions.redact("")
    except NoUpstream as missing:
        print(f"Without hermes-agent's own functions: {missing}", file=sys.stderr)
        return None
    return functions
