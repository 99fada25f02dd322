"""Scheduled prompts, and other text that the agent is given for later, unattended: its persona, tasks of a board."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar

from herma.policy.checks.job_signs import commands, label, shows_job
from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase
from herma.policy.exemption import NONE, Exemptions
from herma.policy.grant import Scope
from herma.policy.jsondoc import find, strings
from herma.policy.prompt.scan import MAX_TEXT_CHARS, OVERSIZE, PromptScan

__all__ = ["CronScan"]

MAX_FINDINGS = 32
# Text of all jobs of one body: as much as four jobs may hold, or thirty of the length that the upstream takes.
MAX_BODY_CHARS = 4 * MAX_TEXT_CHARS
# Objects, lists and texts looked at when a job is searched for in a body of another kind; a long chat has some thousand.
MAX_NODES = 100_000

_WRITES = frozenset({"cron.create", "cron.update"})
_JOB_FIELDS = frozenset({"deliver", "repeat", "skills", "skill", "enabled", "interval"})
_TIMES = frozenset({"schedule", "cron"})


class CronScan:
    """Scans every string of a job, on create and update, and of anything that looks like a job on any route.

    A route with the check `prompt` takes text of the same kind that is no job, at the pointers of its `text`.
    """

    id: ClassVar[str] = "cron_scan"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def __init__(self, scan: PromptScan, exemptions: Exemptions = NONE) -> None:
        self._scan = scan
        self._exemptions = exemptions

    def trace(self, text: str) -> tuple[str, ...]:
        """Tell in which forms a text is read."""
        return self._scan.trace(text)

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge each job in the body; the first refusal names the rule's family."""
        document = exchange.document
        if document is None:
            return Allow()
        route = exchange.match.route
        lenient = "cron" in route.checks
        if route.operation in _WRITES or route.scope is Scope.CRON:
            jobs: Iterator[tuple[str, Any]] = iter([("", document.value)])
        elif lenient:
            jobs = _jobs_of_unknown(document.value)
        else:
            raw = document.raw.lower()
            jobs = chain(
                _jobs(document.value, lenient=False) if b"prompt" in raw or b"\\u00" in raw else (),
                commands(document.value) if b"/cron" in raw else (),
            )
        if "prompt" in route.checks:
            told = (found for pointer in route.text for found in find(document.value, pointer))
            jobs = chain(told, jobs if "" not in route.text else ())
        return self._judge(jobs, exchange)

    def _judge(self, jobs: Iterator[tuple[str, Any]], exchange: Exchange) -> Decision:
        findings: list[Finding] = []
        refused: list[Finding] = []
        read = 0
        for place, job in jobs:
            read += sum(len(text) for _, text in strings(job, keys=True))
            if read > MAX_BODY_CHARS:
                return _TOO_MUCH
            found = self._exemptions.of_job(
                self._scan.judge_job(job, place), job, place, exchange.match.route, exchange.today
            )
            findings += found[: max(0, MAX_FINDINGS - len(findings))]
            # Only what refuses may end the search: reports of one job must not hide another.
            refused += (finding for finding in found if finding.blocks)
            if len(refused) > MAX_FINDINGS:
                break
        if not refused:
            return Allow(tuple(findings))
        if any(finding.rule_id == OVERSIZE for finding in refused):
            return _TOO_MUCH
        code = f"herma.cron.{self._scan.family(refused[0])}"
        shown = dict.fromkeys((*refused[:MAX_FINDINGS], *findings))
        return Deny(403, code, "The scheduled prompt is refused by the gate.", tuple(shown))


_TOO_MUCH = Deny(
    413,
    "herma.cron.oversize",
    "The body holds more text of jobs than can be judged.",
    (Finding(OVERSIZE, Level.HIGH),),
)


def _jobs_of_unknown(value: Any) -> Iterator[tuple[str, Any]]:
    """Give the jobs of a body that no profile knows, and all its text where there are signs of a job in another shape."""
    places: list[str] = []
    for place, job in _jobs(value, lenient=True):
        places.append(place)
        yield place, job
    if "" not in places and shows_job(value):
        within = tuple(f"{place}/" for place in places)
        yield from (item for item in strings(value, keys=True) if not f"{item[0]}/".startswith(within))


def _jobs(value: Any, *, lenient: bool) -> Iterator[tuple[str, Any]]:
    """Give what looks like a job: a prompt with a schedule.

    On routes that may write jobs (`lenient`) that is also what has a schedule, a prompt with any field of a job, and text
    that speaks of both: a job in JSON, YAML or CSV inside a string.
    """
    stack: list[tuple[str, Any]] = [("", value)]
    looked = 0
    while stack and looked < MAX_NODES:
        looked += 1
        place, node = stack.pop()
        if isinstance(node, dict):
            if _is_job({label(name) for name in node}, lenient=lenient):
                yield place, node
                continue
            inside = [(key.replace("~", "~0").replace("/", "~1"), child) for key, child in node.items()]
        elif isinstance(node, list):
            inside = [(str(index), child) for index, child in enumerate(node)]
        else:
            if isinstance(node, str) and _speaks_of_job(node):
                yield place, node
            continue
        kinds = (dict, list, str) if lenient else (dict, list)
        stack += [(f"{place}/{step}", child) for step, child in inside if child and isinstance(child, kinds)]
    if stack:
        # Whatever is left is not looked at: as much text as no check takes stands for it.
        yield "", " " * (MAX_TEXT_CHARS + 1)


def _is_job(names: set[str], *, lenient: bool) -> bool:
    if "prompt" not in names:
        return lenient and not _TIMES.isdisjoint(names)
    return "schedule" in names or (lenient and not (_TIMES | _JOB_FIELDS).isdisjoint(names))


def _speaks_of_job(text: str) -> bool:
    lowered = text.lower()
    return "prompt" in lowered and any(word in lowered for word in _TIMES)
