"""Explains one judgement: what an input was read as, which rules applied, and what would let it pass.

An exemption is proposed only after it was tried: judged again with it, the input passes. Everything of the input that is shown
has been through the redactor.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice
from typing import Any, Final

from herma.cli.reason import Reason
from herma.content.library import FAMILIES, Library
from herma.policy.checks import RuleSet
from herma.policy.checks.content_judge import ContentJudge, Judgement
from herma.policy.decision import Finding, Verdict, verdict
from herma.policy.entry.finder import entries
from herma.policy.exchange import Exchange
from herma.policy.exemption import Exemption, Exemptions, Kind, Subject, digest_of, passage, route_name
from herma.policy.jsondoc import strings
from herma.policy.redaction.decode import DECODERS
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work

__all__ = ["Explainer", "Explanation"]

# Three months: long enough to find a better way, short enough to be remembered.
EXEMPTION_DAYS: Final = 90
# Forms that are shown of one step; more say nothing that a person reads.
MAX_SHOWN: Final = 24
MAX_SHOWN_CHARS: Final = 600
MAX_VIEWS: Final = 16

_NO_EXEMPTION: Final = (
    "no exemption lets it pass: it has no name to be exempted by, or is refused for more than its rules"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one input. `steps` are named readings, each a list of texts without secrets.

    `exemptions` let it pass together; `obstacle` says why there are none, empty when none are needed.
    """

    judgement: Judgement
    steps: Mapping[str, Sequence[str]]
    reasons: tuple[Reason, ...]
    exemptions: tuple[Exemption, ...] = ()
    obstacle: str = ""
    text: str = ""


class Explainer:
    """Explains inputs by one set of rules."""

    def __init__(self, library: Library, rules: RuleSet, redactor: Redactor, today: date) -> None:
        self._library = library
        self._rules = rules
        self._redactor = redactor
        self._today = today
        self._judge = ContentJudge(rules, today)
        known = (*rules.mcp, *rules.cron, *redactor.finder.rules.values())
        self._by_id = {rule.id: rule for rule in known}

    def entry(self, name: str, fields: Any) -> Explanation:
        """Explain a server entry."""
        trace = self._judge.read_entry(name, self._masked(fields))
        steps = {
            "normalised": self._shown(trace.texts),
            "unfolded": self._shown(trace.decoded),
            "unwrapped to what runs": self._shown(trace.lines),
            "what that does": list(trace.effects),
        }
        subject = Subject(Kind.SERVER, name)
        return self._explained(
            steps,
            lambda judge: judge.entry(name, fields),
            lambda found: self._exemption(found, subject, digest_of(fields)),
        )

    def job(self, job: Mapping[str, Any]) -> Explanation:
        """Explain a scheduled job."""
        return self._explained(
            self._texts_of(job), lambda judge: judge.job(job), lambda found: self._of_job(found, job)
        )

    def exchange(self, exchange: Exchange) -> Explanation:
        """Explain the body of a request: by the server or the job it is about, or else by its route."""
        route, body = exchange.match.route, exchange.document.value if exchange.document is not None else None
        named = {
            entry.place: entry
            for entry in entries(body, whole=route.operation.startswith("mcp."))
            if entry.name
        }

        def narrow(found: Finding) -> Exemption:
            if (entry := named.get(found.place)) is not None:
                return self._exemption(found, Subject(Kind.SERVER, entry.name), digest_of(entry.fields))
            return self._of_job(found, body if isinstance(body, Mapping) else {})

        whole = Subject(Kind.ROUTE, route_name(route) if route.template else "")
        return self._explained(
            self._texts_of(body),
            lambda judge: judge.exchange(exchange),
            narrow,
            lambda found: self._exemption(found, whole, ""),
        )

    def secret(self, text: str) -> Explanation:
        """Explain what is masked of a text; no exemption lets a secret pass."""
        masked = self._redactor.text(text)
        judgement = Judgement(verdict(masked.findings), masked.findings)
        obstacle = ""
        if masked.findings:
            obstacle = "a rule for secrets cannot be exempted; if this is none, mend the rule"
        return Explanation(
            judgement,
            {"unwrapped": self._shown(self._views(text))},
            self._reasons(masked.findings),
            obstacle=obstacle,
            text=masked.text,
        )

    def _explained(
        self,
        steps: Mapping[str, Sequence[str]],
        ask: Callable[[ContentJudge], Judgement],
        *proposals: Callable[[Finding], Exemption],
    ) -> Explanation:
        """Explain a judgement; the proposals are tried in order, the narrowest first."""
        judgement = ask(self._judge)
        reasons = self._reasons(judgement.findings)
        explained = Explanation(judgement, steps, reasons)
        if judgement.verdict is not Verdict.BLOCK:
            return explained
        blocking = [reason for reason in reasons if reason.finding.blocks]
        for reason in blocking:
            if reason.rule is None:
                return replace(explained, obstacle=_not_a_rule(reason.finding))
        for propose in proposals:
            proposed = tuple(dict.fromkeys(propose(reason.finding) for reason in blocking))
            if all(one.subject.name for one in proposed) and self._passes(ask, proposed):
                return replace(explained, exemptions=proposed)
        return replace(explained, obstacle=_NO_EXEMPTION)

    def _passes(self, ask: Callable[[ContentJudge], Judgement], exemptions: Sequence[Exemption]) -> bool:
        tried = replace(self._rules, exemptions=Exemptions(exemptions))
        return ask(ContentJudge(tried, self._today)).verdict is not Verdict.BLOCK

    def _of_job(self, found: Finding, job: Mapping[str, Any]) -> Exemption:
        name = job.get("name")
        subject = Subject(Kind.JOB, name if isinstance(name, str) else "")
        return self._exemption(found, subject, digest_of(passage(job, found.place)))

    def _exemption(self, found: Finding, subject: Subject, digest: str) -> Exemption:
        return Exemption(found.rule_id, subject, self._today + timedelta(days=EXEMPTION_DAYS), digest)

    def _reasons(self, findings: Iterable[Finding]) -> tuple[Reason, ...]:
        return tuple(self._reason(finding) for finding in dict.fromkeys(findings))

    def _reason(self, finding: Finding) -> Reason:
        rule = self._by_id.get(finding.rule_id)
        if rule is None or rule.family not in FAMILIES:
            return Reason(finding, None, "")
        return Reason(finding, rule, self._library.file_of(rule))

    def _texts_of(self, value: Any) -> dict[str, list[str]]:
        """Give the forms in which each text is read, by its place."""
        return {
            f"read as {place or '/'}": self._shown(self._judge.read_text(text))
            for place, text in islice(strings(self._masked(value)), MAX_SHOWN)
        }

    def _masked(self, value: Any) -> Any:
        """Give a value without its secrets. Before it is read, because a secret in another form is known by nobody."""
        raw, _ = self._redactor.json(json.dumps(value).encode())
        return json.loads(raw)

    def _shown(self, texts: Iterable[str]) -> list[str]:
        shown = [self._redactor.text(text).text[:MAX_SHOWN_CHARS] for text in dict.fromkeys(texts)]
        return shown[:MAX_SHOWN]

    def _views(self, text: str) -> list[str]:
        """Give the text as it is once its wrappings are taken off, one after the other."""
        work = Work(len(text))
        queue = [View(text)]
        seen = {text: None}
        for view in queue:
            for decode in DECODERS:
                decoded = decode(view, work)
                if decoded is not None and decoded.text not in seen and len(queue) < MAX_VIEWS:
                    seen[decoded.text] = None
                    queue.append(decoded)
        return list(seen)


def _not_a_rule(finding: Finding) -> str:
    if finding.rule_id.startswith("ioc-"):
        return f"{finding.rule_id} is an indicator, which cannot be exempted; if it is wrong, correct the indicator"
    return f"{finding.rule_id} is no rule but a bound of the gate, which cannot be exempted"
