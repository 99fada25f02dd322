"""What a missed target would cost: the budget of work against masked honest texts, and the parts of the detectors against recall.

    python tests/bench/tradeoff.py [--write]

`--write` puts the tables into docs/benchmarks-detect.md.
"""

import argparse
import json
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "proxy"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import detect_hostile as hostile
import detect_inputs as inputs

from herma.policy.decision import Verdict, verdict
from herma.policy.prompt import scan as prompt_module
from herma.policy.prompt.scan import PromptScan
from herma.policy.redaction import redactor as redactor_module
from herma.policy.redaction.document import redact_json_text
from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import (
    BASE_UNITS,
    DOCUMENT_UNITS,
    DOCUMENT_UNITS_PER_CHAR,
    UNITS_PER_CHAR,
    Work,
)
from herma.policy.text.bare import bare
from quality.lines import SHIPPED, lines
from quality.page import markdown_table
from quality.score_secrets import strictly_gone
from support.guard_content import prompt_scan, rules, words
from support.redactor import GITHUB, KEY, PASSWORD, redactor
from support.redactor import rules as redaction_rules
from support.tree import ROOT

MB = 10**6
SHARES = (0.33, 0.5, 0.75, 1.0, 1.5)
# Those that took longest in the runs of `make bench-detect`.
SLOWEST = ("curl flags", "numbered passwords", "random words", "continuations", "passwords", "vendor tokens")
# Shorter texts may cost what they like; longer ones are data.
HONEST_BYTES = range(60_000, 2_000_000)
MESSAGES = (50, 100, 200, 400)
ROUNDS = 5
BEGIN, END = "<!-- trade-off: begin -->", "<!-- trade-off: end -->"


def _best(call: Callable[[], object], calls: int = 1) -> float:
    """Give the least processor time of one call, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - start) / calls)
    return min(times)


def honest() -> list[str]:
    """Give the large texts that this machine has: the sources of its Python, and the documents of its packages."""
    roots = [(Path(sysconfig.get_paths()["stdlib"]), "*.py"), (Path("/usr/share/doc"), "*")]
    found = []
    for root, names in roots:
        for path in sorted(root.rglob(names)):
            if path.is_file() and path.stat().st_size in HONEST_BYTES and "site-packages" not in path.parts:
                raw = path.read_bytes()
                try:
                    found.append(raw.decode())
                except UnicodeDecodeError:
                    continue
    return list(dict.fromkeys(found))


def transcript(messages: int) -> str:
    """Write a conversation whose every message is three commands with three secrets each."""
    one = " && ".join(
        f"curl -u deploy:{PASSWORD}{{0}} -H 'Authorization: Bearer {GITHUB}' https://h.example/{call} && export DB_PASSWORD=F4keX{{0}}"
        for call in range(3)
    )
    return json.dumps(
        {"messages": [{"role": "assistant", "content": one.format(at)} for at in range(messages)]}
    )


def _text_in_part(text: str, share: float) -> bool:
    work = Work(len(text), int(BASE_UNITS * share), UNITS_PER_CHAR * share)
    return any(finding.rule_id == UNJUDGED_ID for finding in redactor().text(text, work=work).findings)


def _document_in_part(text: str, share: float) -> bool:
    work = Work(len(text), int(DOCUMENT_UNITS * share), DOCUMENT_UNITS_PER_CHAR * share)
    _, findings = redact_json_text(redactor(), text, work=work)
    return any(finding.rule_id == UNJUDGED_ID for finding in findings)


def budget() -> str:
    """Give the table of the redactor's budget."""
    texts, talks = honest(), {count: transcript(count) for count in MESSAGES}
    slow = [(name, text) for name, text in hostile.texts(MB) if name in SLOWEST]
    rows = []
    for share in SHARES:
        print(f"budget x {share} …", file=sys.stderr)
        times = [(_best(partial(_text_in_part, text, share)), name) for name, text in slow]
        seconds, name = max(times)
        masked = sum(_text_in_part(text, share) for text in texts)
        judged = [count for count, text in talks.items() if not _document_in_part(text, share)]
        rows.append(
            [
                f"{share:.2f}",
                f"{UNITS_PER_CHAR * share:.2f}",
                f"{1000 * seconds:,.0f} ms ({name})",
                f"{masked} of {len(texts)}",
                f"{max(judged, default=0)} messages",
            ]
        )
    head = [
        "budget",
        "units a character",
        "slowest of the known",
        "honest texts masked in part",
        "transcript",
    ]
    return markdown_table(head, rows)


@contextmanager
def _replaced(module: Any, name: str, value: object) -> Iterator[None]:
    old = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, old)


def _prompt_row(title: str, scan: PromptScan) -> list[str]:
    def refused(stem: str) -> str:
        told = [verdict(scan.judge(line["prompt"])) is Verdict.BLOCK for line in lines(SHIPPED, stem)]
        return f"{sum(told)} of {len(told)}"

    micros = MB * _best(lambda: scan.judge(inputs.PROMPT), 20)
    return [title, f"{micros:,.0f} µs", refused("cron_malicious"), refused("cron_benign")]


def prompts() -> str:
    """Give the table of the parts of the scan of prompts."""
    print("parts of the scan of prompts …", file=sys.stderr)
    bare_rules = [rule for rule in rules("cron") if "like" not in rule.options]
    rows = [_prompt_row("all", prompt_scan())]
    rows.append(_prompt_row("without the model", PromptScan(bare_rules, rules("mcp"), words())))
    with _replaced(prompt_module, "forms", lambda text: iter((bare(text),))):
        rows.append(_prompt_row("without looking for disguises", prompt_scan()))
        rows.append(_prompt_row("without both", PromptScan(bare_rules, rules("mcp"), words())))
    return markdown_table(
        ["scan of prompts", "a prompt of 2 KB", "hostile refused", "innocent refused"], rows
    )


def _command_row(title: str, one: Redactor) -> list[str]:
    found = [line for line in lines(SHIPPED, "secrets") if not line.get("optional")]
    gone = sum(strictly_gone(line, one.text(line["text"]).text) for line in found)
    return [
        title,
        f"{MB * _best(lambda: one.text(inputs.CLEAN_COMMAND), 400):,.1f} µs",
        f"{len(inputs.LOG) / MB / _best(lambda: one.text(inputs.LOG)):,.1f} MB/s",
        f"{100 * gone / len(found):.1f} %",
    ]


def commands() -> str:
    """Give the table of the parts of the redactor."""
    print("parts of the redactor …", file=sys.stderr)

    def without(grammar: str) -> Redactor:
        return Redactor([rule for rule in redaction_rules() if rule.options["grammar"] != grammar], KEY)

    rows = [
        _command_row("all", redactor()),
        _command_row("without rules for commands", without("command")),
        _command_row("without formats without a literal", without("run")),
    ]
    with _replaced(redactor_module, "encoded", lambda *_: ()):
        rows.append(_command_row("without base64 and hexadecimal digits", redactor()))
    with _replaced(redactor_module, "wrapped", lambda _: False):
        rows.append(_command_row("without taking off wrappings", redactor()))
    return markdown_table(["redactor", "clean command of 200 bytes", "log text", "secrets gone"], rows)


def main() -> int:
    """Measure and print; write the page if asked."""
    parser = argparse.ArgumentParser(description="Measure what a missed target would cost.")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks-detect.md")
    options = parser.parse_args()
    text = f"{budget()}\n\n{prompts()}\n\n{commands()}"
    print(text)
    if options.write:
        page = ROOT / "docs/benchmarks-detect.md"
        before, rest = page.read_text().split(BEGIN, 1)
        page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
