"""`herma judge mcp|prompt|secret`: JSON lines in, one verdict a line out, in order.

A verdict is what the gate decides of the same thing with the same rules. A line that cannot be read has an answer too, with
`error` in place of a verdict, and the lines behind it are judged. Nothing of an input is repeated but its `id`; of a secret's
text, the text without its secrets.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from herma.cli.line_reader import MAX_LINE_BYTES, TooLong, line_batches
from herma.cli.sources import Sources, add_source_options, open_sources, report, today
from herma.cli.terminal import FINDINGS, FINE, Terminal
from herma.errors import ConfigError, ContentError
from herma.policy.checks.content_judge import ContentJudge, Judgement
from herma.policy.decision import Finding, Level, Verdict, verdict
from herma.policy.jsondoc import JsonError, parse
from herma.policy.redaction.redactor import Redactor

__all__ = ["KINDS", "JobFields", "add_arguments", "judge", "said"]

KINDS: Final = {
    "mcp": 'MCP server entries: {"id", "name", "entry"}',
    "prompt": 'scheduled prompts: {"id", "prompt"}, and the other fields of a job',
    "secret": 'texts: {"id", "text"}; the answer holds the text without its secrets',
}

# The fields of a job that the agent or its scheduler reads. Others of a line, a note of a corpus for one, are not judged.
JobFields: Final = (
    "prompt", "name", "schedule", "skills", "skill", "deliver", "script", "context_from", "workdir", "model", "provider",
    "base_url", "enabled_toolsets", "repeat", "no_agent",
)  # fmt: skip

# As the gate bounds a body unless it is told otherwise.
MAX_DEPTH: Final = 64
MAX_KEYS: Final = 20_000

_BOM: Final = b"\xef\xbb\xbf"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    kinds = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    parser.add_argument("kind", choices=list(KINDS), help=kinds)
    parser.add_argument("--exit-code", action="store_true", help="end with 1 if any line is blocked")
    parser.add_argument(
        "--json", action="store_true", help="changes nothing: the answer is always JSON lines"
    )
    add_source_options(parser, fingerprints=True)


def judge(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Answer every line; 1 when one could not be read, or with `--exit-code` when one is blocked."""
    try:
        answer = _judges(open_sources(arguments))[arguments.kind]()
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    bench = _Bench(arguments.kind, answer)
    for batch in line_batches(terminal.input):
        terminal.write(b"".join(map(bench.line, batch)))
        terminal.flush()
    if bench.unreadable or (arguments.exit_code and bench.blocked):
        return FINDINGS
    return FINE


class _Unreadable(Exception):  # noqa: N818 - ends the reading of one line; the answer tells why
    """A line holds nothing that could be judged."""

    def __init__(self, code: str, message: str, given: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.given = given


type _Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


class _Bench:
    """Answers line by line; counts what could not be read and what is blocked."""

    def __init__(self, kind: str, answer: _Answer) -> None:
        self._kind = kind
        self._answer = answer
        self._number = 0
        self.unreadable = 0
        self.blocked = 0

    def line(self, line: bytes | TooLong) -> bytes:
        """Give the answer to one line, with its end; an empty line has none."""
        self._number += 1
        if self._number == 1 and isinstance(line, bytes):
            # Some programs begin a pipe with a byte-order mark.
            line = line.removeprefix(_BOM)
        if isinstance(line, bytes) and not line.strip():
            return b""
        try:
            said = self._judged(line)
        except _Unreadable as problem:
            self.unreadable += 1
            error = {"code": problem.code, "message": str(problem), "line": self._number}
            said = {"id": problem.given, "error": error}
        self.blocked += said.get("verdict") == Verdict.BLOCK
        return json.dumps(said, separators=(",", ":")).encode() + b"\n"

    def _judged(self, line: bytes | TooLong) -> dict[str, Any]:
        if isinstance(line, TooLong):
            message = f"The line has more than {MAX_LINE_BYTES} bytes."
            raise _Unreadable("herma.line.too_long", message)
        try:
            value = parse(line, max_depth=MAX_DEPTH, max_keys=MAX_KEYS).value
        except JsonError as problem:
            value = _leniently(line, problem)
            if self._kind != "secret":
                # The gate takes no body that two readers could read differently, whatever it holds.
                return {"id": _echo(value), **said(_refused(problem))}
            if problem.code == "herma.body.duplicate_key":
                raise _Unreadable(problem.code, str(problem), _echo(value)) from None
        if not isinstance(value, dict):
            raise _Unreadable("herma.line.object", "The line is no JSON object.")
        return {"id": _echo(value), **self._answer(value)}


def _leniently(line: bytes, problem: JsonError) -> dict[str, Any]:
    """Read a line that is not one JSON document with one meaning as most readers would; what they cannot read is unreadable."""
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _Unreadable(problem.code, str(problem)) from None
    if not isinstance(value, dict):
        raise _Unreadable(problem.code, str(problem))
    return value


def _echo(line: Mapping[str, Any]) -> Any:
    """Give the id as it was given; none where it cannot be written as JSON."""
    try:
        json.dumps(line.get("id"), allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return line.get("id")


def _refused(problem: JsonError) -> Judgement:
    return Judgement(Verdict.BLOCK, (Finding(problem.code, Level.HIGH),), problem.code)


def said(judgement: Judgement) -> dict[str, Any]:
    """Write a judgement as JSON values."""
    return {"verdict": judgement.verdict, "findings": [_finding(one) for one in judgement.findings]}


def _finding(found: Finding) -> dict[str, Any]:
    line: dict[str, Any] = {
        "rule": found.rule_id,
        "level": found.level,
        "attack": found.attack,
        "where": found.shown_place,
    }
    return {**line, "exempted": True} if found.exempted else line


def _judges(sources: Sources) -> dict[str, Callable[[], _Answer]]:
    return {
        "mcp": lambda: _entries(ContentJudge(sources.rule_set(), today())),
        "prompt": lambda: _jobs(ContentJudge(sources.rule_set(), today())),
        "secret": lambda: _texts(sources.redactor()),
    }


def _entries(judge: ContentJudge) -> _Answer:
    def answer(line: Mapping[str, Any]) -> dict[str, Any]:
        if "entry" not in line:
            raise _missing(line, "entry")
        name = line.get("name", "")
        if not isinstance(name, str):
            raise _Unreadable("herma.line.type", "`name` is no text.", _echo(line))
        return said(judge.entry(name, line["entry"]))

    return answer


def _jobs(judge: ContentJudge) -> _Answer:
    def answer(line: Mapping[str, Any]) -> dict[str, Any]:
        job = {name: line[name] for name in JobFields if name in line}
        if not job:
            raise _missing(line, "prompt")
        return said(judge.job(job))

    return answer


def _texts(redactor: Redactor) -> _Answer:
    def answer(line: Mapping[str, Any]) -> dict[str, Any]:
        if "text" not in line:
            raise _missing(line, "text")
        if not isinstance(line["text"], str):
            raise _Unreadable("herma.line.type", "`text` is no text.", _echo(line))
        redacted = redactor.text(line["text"], "/text")
        judged = Judgement(verdict(redacted.findings), redacted.findings)
        return {**said(judged), "text": redacted.text}

    return answer


def _missing(line: Mapping[str, Any], name: str) -> _Unreadable:
    return _Unreadable("herma.line.missing", f"`{name}` is missing.", _echo(line))
