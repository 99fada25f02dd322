"""Reads the text of a scheduled prompt in every form it can take, and gives the rules that apply.

A prompt runs later without anybody watching. Prose that describes an attack passes: the rules ask for what the agent is
told to do, not for words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from herma.policy.address import Host, hosts, is_metadata
from herma.policy.decision import Finding, Level
from herma.policy.entry.judge import RulePattern
from herma.policy.jsondoc import strings
from herma.policy.rule import Rule
from herma.policy.text.unfold import rot13, unfold, unleet
from herma.policy.text.views import conceals, strip_invisible, views

__all__ = ["MAX_TEXT_CHARS", "OVERSIZE", "PromptScan"]

# The upstream takes 5,000 characters of a prompt; the check refuses jobs with more text than this.
MAX_TEXT_CHARS = 32 * 1024
# Findings of one job; what is beyond says nothing new.
MAX_FINDINGS = 32
MAX_FORMS = 48
# All forms together: a prompt of the upstream's length in ten of them, or one long text as it is written.
MAX_SHOWN_CHARS = 64 * 1024

# Not a rule: more text than can be judged whole is refused, not judged in part.
OVERSIZE = "cron-oversize"

_SPACES = re.compile(r"[ \t\r\f\v\u00a0]{1,64}|\n")
_SPACED = re.compile(r"(?<!\w)(?:\w ){3,64}\w(?!\w)")
_WIDE = re.compile(r" {2,8}")
_HYPHENS = re.compile(r"(?<=[a-z])[-_*~.|](?=[a-z]{2})")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_QUOTED_JOIN = re.compile(
    r"['\"`] {0,4}(?:\+|,|and [a-z] {0,2}= {0,2}|\. remember part \w{1,8}: {0,2}) {0,4}['\"`]", re.IGNORECASE
)


class PromptScan:
    """Holds the rules for prompts: the cron family, and those of the MCP family that are marked for prompts."""

    def __init__(self, cron: Sequence[Rule], mcp: Sequence[Rule]) -> None:
        self._rules = [RulePattern(rule) for rule in cron]
        self._commands = [RulePattern(rule) for rule in mcp if rule.options.get("prompt") is True]
        self._families = {rule.id: str(rule.options.get("family", "prompt")) for rule in (*cron, *mcp)}
        self._families[OVERSIZE] = "oversize"
        self._judged = [
            (rule, _JUDGES[str(rule.options["judge"])]) for rule in cron if "judge" in rule.options
        ]

    def family(self, finding: Finding) -> str:
        """Name the family of a finding of this scan, for the refusal's code."""
        return self._families.get(finding.rule_id, "prompt")

    def judge(self, text: str, place: str = "") -> tuple[Finding, ...]:
        """Give the findings in one text, each rule once."""
        if len(text) > MAX_TEXT_CHARS:
            return (Finding(OVERSIZE, Level.HIGH, place),)
        found: dict[str, Rule] = {}
        for rule, judge in self._judged:
            if judge(text):
                found[rule.id] = rule
        shown = "\n".join(_forms(text))[:MAX_SHOWN_CHARS]
        for pattern in (*self._rules, *self._commands):
            if pattern.matches(shown):
                found[pattern.rule.id] = pattern.rule
        return tuple(rule.finding(place) for rule in found.values())

    def judge_job(self, job: Mapping[str, Any] | str, place: str = "") -> tuple[Finding, ...]:
        """Give the findings in every text of a job, names of members included."""
        findings: list[Finding] = []
        read = 0
        for pointer, text in strings(job, keys=True):
            read += len(text)
            if read > MAX_TEXT_CHARS:
                return (*findings, Finding(OVERSIZE, Level.HIGH, place + pointer))
            findings += self.judge(text, place + pointer)
            if len(findings) > MAX_FINDINGS:
                break
        return tuple(findings)


def _forms(text: str) -> Iterator[str]:
    """Give a text as it is read, and as it is read once what hides it is undone; each on one line, lower-case."""
    seen: set[str] = set()
    for form in _rewritten(text):
        for view in views(form).each():
            line = _SPACES.sub(" ", view)
            if line not in seen and len(seen) < MAX_FORMS:
                seen.add(line)
                yield line


def _rewritten(text: str) -> Iterator[str]:
    yield text
    folded = views(text).folded
    if _SPACED.search(folded):
        yield _SPACED.sub(lambda match: match[0].replace(" ", ""), _WIDE.sub("  ", folded)).replace("  ", " ")
    yield _HYPHENS.sub("", folded)
    yield _HUMPS.sub(" ", strip_invisible(text))
    yield _QUOTED_JOIN.sub("", text)
    yield from unfold(text)
    turned = rot13(text)
    if any(word in turned.lower() for word in ("instructions", "ignore ", "password", "secret")):
        yield turned
    if (plain := unleet(folded)) is not None:
        yield plain


_KEY = re.compile(
    r"\$(?:env:)?\{?((?:[A-Za-z0-9_]{0,60}?)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API)[A-Za-z0-9_]{0,30})",
    re.IGNORECASE,
)
_FETCHER = re.compile(r"\b(?:curl|wget|http|iwr|invoke-webrequest)\b", re.IGNORECASE)
_COMMAND_END = re.compile(r"[|;\n]|&&")
_ALIASES = {"gh": "github", "hf": "huggingface", "gl": "gitlab", "do": "digitalocean", "cf": "cloudflare"}
# Second-level labels under which registries sell names: `example.co.uk`.
_SHARED_LABELS = frozenset({"co", "com", "org", "net", "gov", "ac", "edu"})


def _sends_key(text: str) -> bool:
    """Tell whether a download command carries a key to a host that is not its vendor's.

    The vendor is the first word of the variable: `$GITHUB_TOKEN` may go to `api.github.com`, and not to
    `api.github.com.example` or `api.github.com@example`.
    """
    for command in _COMMAND_END.split(text):
        if _FETCHER.search(command) is None or (key := _KEY.search(command)) is None:
            continue
        addressed = [host for host in hosts(command) if host.scheme]
        vendor = key[1].lower().split("_")[0]
        vendor = _ALIASES.get(vendor, vendor)
        if not addressed or any(
            host.userinfo or "@" in command.partition("://")[2] or not _belongs(host, vendor)
            for host in addressed
        ):
            return True
    return False


def _belongs(host: Host, vendor: str) -> bool:
    labels = host.name.split(".")
    owner = labels[-3:-2] if labels[-2:-1] and labels[-2] in _SHARED_LABELS else labels[-2:-1]
    return len(vendor) > 2 and bool(owner) and owner[0].startswith(vendor)


def _asks_metadata(text: str) -> bool:
    return any(is_metadata(host) and host.name != "metadata" for host in hosts(text))


_JUDGES: dict[str, Callable[[str], bool]] = {
    "concealed": conceals,
    "command_key": _sends_key,
    "metadata": _asks_metadata,
}
