"""Reads the text of a scheduled prompt in every form it can take, and gives the rules that apply.

A prompt runs later without anybody watching. Prose that describes an attack passes: the rules ask for what the agent is
told to do, not for words.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from herma.policy.decision import Finding, Level
from herma.policy.jsondoc import strings
from herma.policy.prompt.combination import Combination, combinations
from herma.policy.prompt.command import CommandRules
from herma.policy.prompt.fields import fields
from herma.policy.prompt.forms import forms
from herma.policy.prompt.judges import judge_of
from herma.policy.prompt.likely import LikelyRules
from herma.policy.prompt.likeness import Likeness
from herma.policy.prompt.reading import Reading
from herma.policy.prompt.vocabulary import Vocabulary
from herma.policy.rule import Rule
from herma.policy.text.unfold import MAX_VIEWS

__all__ = ["MAX_TEXT_CHARS", "OVERSIZE", "PromptScan"]

# The upstream takes 5,000 characters of a prompt; a job with more text than this is refused.
MAX_TEXT_CHARS = 32 * 1024
# All forms of one text together. An ordinary text has one form, a disguised one two or three.
MAX_FORM_CHARS = 3 * MAX_TEXT_CHARS
# Findings of one rule in one job; what is beyond says nothing new, and must not hide what another rule finds.
MAX_FINDINGS = 32
# Not a rule: more text than can be judged whole is refused, not judged in part.
OVERSIZE = "cron-oversize"


class PromptScan:
    """Holds the rules for prompts: the cron family, and those of the MCP family that are marked for prompts."""

    def __init__(
        self,
        cron: Sequence[Rule],
        mcp: Sequence[Rule],
        vocabulary: Vocabulary,
        likeness: Likeness | None = None,
    ) -> None:
        """Compile the rules.

        Raises:
            ValueError: a rule names a concept that the vocabulary lacks, a judge that does not exist, or needs weights and
                there are none.
        """
        self._vocabulary = vocabulary
        self._combined: list[tuple[Rule, tuple[Combination, ...]]] = [
            (rule, found) for rule in cron if (found := combinations(rule.options, vocabulary))
        ]
        self._commands = CommandRules(
            [
                *(rule for rule in cron if rule.pattern),
                *(rule for rule in mcp if rule.options.get("prompt") is True),
            ]
        )
        self._judged = [(rule, judge_of(rule.options)) for rule in cron if "judge" in rule.options]
        self._likely = LikelyRules(cron, likeness, vocabulary)
        self._families = {rule.id: str(rule.options.get("family", "prompt")) for rule in (*cron, *mcp)}
        self._families[OVERSIZE] = "oversize"

    def family(self, finding: Finding) -> str:
        """Name the family of a finding of this scan, for the refusal's code."""
        return self._families.get(finding.rule_id, "prompt")

    def judge(self, text: str, place: str = "") -> tuple[Finding, ...]:
        """Give the findings in one text, each rule once."""
        shown = _bounded(text)
        if shown is None:
            return (Finding(OVERSIZE, Level.HIGH, place),)
        found: dict[str, Rule] = {}
        readings: list[Reading] = []
        for form in shown:
            reading = Reading(self._vocabulary, form)
            if reading.crowded:
                return (Finding(OVERSIZE, Level.HIGH, place),)
            if not readings:
                found = {rule.id: rule for rule, judge in self._judged if judge(text, reading)}
            readings.append(reading)
            for rule in chain(self._said(reading), self._commands.found(form, reading.reports)):
                found[rule.id] = rule
        if not any(rule.finding().blocks for rule in found.values()):
            # What a rule says is the better reason.
            likely = [rule for rule in map(self._likely.found, readings) if rule is not None]
            found |= {rule.id: rule for rule in likely}
        return tuple(rule.finding(place) for rule in found.values())

    def _said(self, reading: Reading) -> Iterator[Rule]:
        present = reading.present
        for rule, combined in self._combined:
            for combination in combined:
                if present & combination.terms[0].mask and combination.applies(reading):
                    yield rule
                    break

    def trace(self, text: str) -> tuple[str, ...]:
        """Tell in which forms a text is read; of one that is too long, nothing."""
        return tuple(_bounded(text) or ())

    def judge_job(self, job: Mapping[str, Any] | str, place: str = "") -> tuple[Finding, ...]:
        """Give the findings in every text of a job, names of members included."""
        findings: list[Finding] = []
        counts: dict[str, int] = {}
        read = 0
        for pointer, text in chain(strings(job, keys=True), fields(job)):
            read += len(text)
            if read > MAX_TEXT_CHARS:
                return (*findings, Finding(OVERSIZE, Level.HIGH, place + pointer))
            for finding in self.judge(text, place + pointer):
                counts[finding.rule_id] = counts.get(finding.rule_id, 0) + 1
                if counts[finding.rule_id] <= MAX_FINDINGS:
                    findings.append(finding)
        return tuple(findings)


def _bounded(text: str) -> list[str] | None:
    """Give all forms of a text; None where they are more than can be judged."""
    if len(text) > MAX_TEXT_CHARS:
        return None
    shown: list[str] = []
    left = MAX_FORM_CHARS
    for form in forms(text):
        left -= len(form)
        if left < 0 or len(shown) == MAX_VIEWS:
            return None
        shown.append(form)
    return shown
