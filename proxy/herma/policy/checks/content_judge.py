"""Judges one server entry, one job or one body as the gate does when it is sent, for tools that have no request.

The same checks are asked in the same order, on the same form of a request. Only what has to do with callers is left out: who
asks, which routes there are, answers to prompts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from herma.policy.checks.chain import RuleSet, build_checks
from herma.policy.checks.cron_scan import CronScan
from herma.policy.checks.indicator_guard import IndicatorGuard
from herma.policy.checks.mcp_guard import McpGuard
from herma.policy.decision import Deny, Finding, Verdict, verdict
from herma.policy.entry.finder import Entry
from herma.policy.entry.judge import Trace
from herma.policy.exchange import Exchange, Phase
from herma.policy.grant import Scope
from herma.policy.jsondoc import Document
from herma.policy.message.canonical import Head, Target
from herma.policy.pipeline import Check, Pipeline
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route

__all__ = ["ContentJudge", "Judgement"]

_ABOUT_CONTENT: tuple[type[Check], ...] = (McpGuard, CronScan, IndicatorGuard)
_ENTRY_ROUTE = Route("POST", "/api/mcp/servers", "mcp.write", Scope.ADMIN)
# Checks of content do not look at the head.
_HEAD = Head("POST", Target(b"/", "/", ("",), b""), "localhost", None, "1.1", ())
_JOB_ROUTE = Route("POST", "/api/jobs", "cron.create", Scope.CRON, checks=("cron",))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks say of one input; `code` is that of the refusal, empty when there is none."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class _Settings:
    """The only setting that checks know has nothing to do with content."""

    strict: bool = False


class ContentJudge:
    """Asks the checks that look at content, each of them, whatever the others say."""

    def __init__(self, rules: RuleSet, today: date | None) -> None:
        self._today = today
        checks = build_checks(rules, _Settings())
        self._entries = next(check for check in checks if isinstance(check, McpGuard))
        self._jobs = next(check for check in checks if isinstance(check, CronScan))
        # Each in a pipeline of its own, which makes a refusal of an error in a check, as the gate does.
        self._pipelines = [Pipeline([check], {}) for check in checks if isinstance(check, _ABOUT_CONTENT)]

    def entry(self, name: str, fields: Any) -> Judgement:
        """Judge a server entry under its name; places in the findings begin at the entry."""
        if isinstance(fields, dict) and fields.get("name", name) == name:
            return self._judge({**fields, "name": name} if name else fields, _ENTRY_ROUTE, "")
        # The entry has a name of its own, which is a text of it like any other, or is no mapping at all.
        return self._judge({"mcp_servers": {name: fields}}, _ENTRY_ROUTE, f"/mcp_servers/{_escaped(name)}")

    def job(self, job: Mapping[str, Any]) -> Judgement:
        """Judge a scheduled job by all its members."""
        return self._judge(dict(job), _JOB_ROUTE, "")

    def read_entry(self, name: str, fields: Any) -> Trace:
        """Tell what a server entry is read as."""
        return self._entries.trace(Entry(name, fields if isinstance(fields, dict) else {"": fields}, ""))

    def read_text(self, text: str) -> tuple[str, ...]:
        """Tell in which forms a text of a job is read."""
        return self._jobs.trace(text)

    def exchange(self, exchange: Exchange) -> Judgement:
        """Judge the body of an exchange, on the day of this judge."""
        exchange = replace(exchange, today=self._today)
        findings: dict[Finding, None] = {}
        code = ""
        for pipeline in self._pipelines:
            decision = pipeline.decide(exchange, Phase.REQUEST_BODY)
            findings.update(dict.fromkeys(decision.findings))
            if isinstance(decision, Deny):
                code = code or decision.code
        reported = tuple(sorted(findings, key=lambda finding: not finding.blocks))
        if code:
            return Judgement(Verdict.BLOCK, reported, code)
        # A check that lets pass has the last word: a grave rule that is only mentioned warns.
        said = verdict(reported)
        return Judgement(Verdict.WARN if said is Verdict.BLOCK else said, reported)

    def _judge(self, value: Any, route: Route, prefix: str) -> Judgement:
        raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        made = Exchange("", _HEAD, Match(route, {}, known=True), "", None, Document(raw, value))
        judged = self.exchange(made)
        if not prefix:
            return judged
        findings = tuple(
            Finding(one.rule_id, one.level, one.place.removeprefix(prefix), one.attack, one.exempted)
            for one in judged.findings
        )
        return Judgement(judged.verdict, findings, judged.code)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
