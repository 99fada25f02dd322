"""Scheduled prompts: text that runs later, unattended, again and again."""

from collections.abc import Iterator
from typing import Any, ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding
from herma.policy.exchange import Exchange, Phase
from herma.policy.jsondoc import strings
from herma.policy.prompt_scan import PromptScan

__all__ = ["CronScan"]

MAX_FINDINGS = 32
# Text of all jobs of one body. The upstream takes 5,000 characters of a prompt and 200 of a name; a text made to be
# slow costs a second for this much, an ordinary one a few milliseconds.
MAX_JOB_CHARS = 32 * 1024
# Values looked at when a job is searched for in a body of another kind.
MAX_NODES = 10_000

_WRITES = frozenset({"cron.create", "cron.update"})
_JOB_FIELDS = frozenset({"schedule", "cron", "deliver", "repeat", "skills", "skill", "enabled", "interval"})


class CronScan:
    """Scans every string of a job, on create and update, and of anything that looks like a job on any route."""

    id: ClassVar[str] = "cron_scan"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def __init__(self, scan: PromptScan) -> None:
        self._scan = scan

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge each job in the body; the first refusal names the rule's family."""
        document = exchange.document
        if document is None:
            return Allow()
        route = exchange.match.route
        if route.operation in _WRITES:
            jobs: Iterator[tuple[str, Any]] = iter([("", document.value)])
        elif b"prompt" in document.raw or b"\\u00" in document.raw:
            jobs = _jobs(document.value, lenient="cron" in route.checks)
        else:
            return Allow()
        findings: dict[Finding, str] = {}
        read = 0
        for place, job in jobs:
            for pointer, text in strings(job, keys=True):
                read += len(text)
                if read > MAX_JOB_CHARS:
                    # What cannot be judged whole is refused, not judged in part.
                    return Deny(
                        413,
                        "herma.cron.oversize",
                        "The job holds more text than can be judged.",
                        tuple(findings),
                    )
                for rule in self._scan.rules_for(text):
                    findings[rule.finding(place + pointer)] = str(rule.options.get("family", "prompt"))
                if len(findings) > MAX_FINDINGS:
                    break
        if not findings:
            return Allow()
        family = next(iter(findings.values()))
        return Deny(
            403, f"herma.cron.{family}", "The scheduled prompt is refused by the gate.", tuple(findings)
        )


def _jobs(value: Any, *, lenient: bool) -> Iterator[tuple[str, Any]]:
    """Give what looks like a job: a prompt with a schedule; on routes that may write jobs, with any field of a job."""
    stack: list[tuple[str, Any]] = [("", value)]
    for _ in range(MAX_NODES):
        if not stack:
            return
        place, node = stack.pop()
        if isinstance(node, dict):
            if "prompt" in node and ("schedule" in node or (lenient and not _JOB_FIELDS.isdisjoint(node))):
                yield place, node
            else:
                stack += [
                    (f"{place}/{key.replace('~', '~0').replace('/', '~1')}", child)
                    for key, child in node.items()
                ]
        elif isinstance(node, list):
            stack += [(f"{place}/{index}", child) for index, child in enumerate(node)]
