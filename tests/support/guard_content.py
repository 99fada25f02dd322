"""The shipped rules and indicators, read once for all tests that judge with them."""

from functools import cache

from herma.content.indicators import load_indicators
from herma.content.likeness import load_likeness
from herma.content.rules import load_rules
from herma.content.shipped import data_dir
from herma.content.vocabulary import load_vocabulary
from herma.policy.entry.judge import EntryJudge
from herma.policy.indicator import IndicatorSet
from herma.policy.prompt.likeness import Likeness
from herma.policy.prompt.scan import PromptScan
from herma.policy.prompt.vocabulary import Vocabulary
from herma.policy.rule import Rule

__all__ = ["entry_judge", "indicators", "likeness", "prompt_scan", "rules", "words"]


@cache
def rules(family: str) -> tuple[Rule, ...]:
    return load_rules(data_dir(f"rules/{family}"), family)


@cache
def indicators() -> IndicatorSet:
    return load_indicators(data_dir("ioc"))


@cache
def entry_judge() -> EntryJudge:
    return EntryJudge(rules("mcp"), indicators())


@cache
def prompt_scan() -> PromptScan:
    return PromptScan(rules("cron"), rules("mcp"), words(), likeness())


@cache
def likeness() -> Likeness | None:
    return load_likeness(data_dir("rules/cron"))


@cache
def words() -> Vocabulary:
    return load_vocabulary(data_dir("rules/cron/words"))
