"""What is scored: the gate's detectors, and the upstream's own functions with the same inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from herma.policy.checks.indicator_guard import IndicatorGuard
from herma.policy.decision import Deny, Verdict, verdict
from herma.policy.entry.finder import Entry
from herma.policy.exchange import Phase
from herma.policy.redaction.stream import StreamRedactor
from quality.lines import Line
from quality.score_guards import Judge
from quality.score_streams import Example
from support.exchanges import exchange, match
from support.guard_content import entry_judge, indicators, prompt_scan
from support.redactor import masked, redactor, rules
from support.upstream_functions import UpstreamFunctions

__all__ = ["GATE", "Detectors", "judge_entry", "judge_prompt", "upstream"]


@dataclass(frozen=True, slots=True)
class Detectors:
    """A redactor, of a text and of one that comes in pieces, and two judges."""

    redact: Callable[[str], str]
    in_pieces: Callable[[Sequence[str]], str]
    entry: Judge
    prompt: Judge
    # What its rules give as examples; the upstream's have none.
    examples: Callable[[], Sequence[Example]] = tuple


def judge_entry(line: Line) -> Verdict:
    """Judge an MCP entry as the gate does; it knows the indicators itself."""
    return verdict(entry_judge().judge_entry(Entry(line["name"], line["entry"], "")))


def judge_prompt(line: Line) -> Verdict:
    """Judge a job as the gate does: the scan of prompts, and the indicators that are looked for in every body."""
    told = verdict(prompt_scan().judge(line["prompt"]))
    if told is Verdict.BLOCK:
        return told
    job = exchange({"schedule": "1h", "prompt": line["prompt"]}, route=match("cron.create"))
    decision = IndicatorGuard(indicators()).decide(job, Phase.REQUEST_BODY)
    if isinstance(decision, Deny):
        return Verdict.BLOCK
    # A mention that is no use of an indicator is told, whatever the level of the indicator.
    return Verdict.WARN if decision.findings else told


def _in_pieces(pieces: Sequence[str]) -> str:
    stream = StreamRedactor(redactor())
    return "".join(stream.feed(piece, 0.0) for piece in pieces) + stream.finish()


def _examples() -> list[Example]:
    found = []
    for rule in rules():
        for number, text in enumerate(rule.examples.match):
            parts = tuple(text[edit.start : edit.end] for edit in redactor().edits(text))
            found.append(Example(f"{rule.id}-{number}", text, masked(text), parts))
    return found


GATE = Detectors(masked, _in_pieces, judge_entry, judge_prompt, _examples)


def upstream(functions: UpstreamFunctions) -> Detectors:
    """Give the functions of hermes-agent as detectors; they know no warnings, and each piece of a stream by itself."""
    return Detectors(
        functions.redact,
        functions.redact_each,
        lambda line: Verdict.BLOCK if functions.refuses_entry(line["name"], line["entry"]) else Verdict.ALLOW,
        lambda line: Verdict.BLOCK if functions.refuses_prompt(line["prompt"]) else Verdict.ALLOW,
    )
