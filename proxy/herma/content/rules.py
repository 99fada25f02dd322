"""Rules from YAML, one a file, each proved by its own examples before it is used.

Strict: a file that cannot be used, a duplicate id, or a directory without rules is an error with its place. Every file is
proved; a deprecated rule is not used, and an experimental one warns at most.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable
from typing import Final

from herma.content.rule_file import load_rule
from herma.errors import ContentError, Source
from herma.policy.decision import Level
from herma.policy.rule import Rule, Status

__all__ = ["load_rules", "read_rule_file", "rule_files"]

# A rule file is a page of text. Larger ones are not rules, and are not parsed.
MAX_RULE_BYTES: Final = 64 * 1024
# More files than this in one family is a directory put there by mistake (node_modules, a home directory).
MAX_RULES: Final = 2000


def load_rules(directory: Traversable, family: str, own: Sequence[Traversable] = ()) -> tuple[Rule, ...]:
    """Read every rule of a family, ordered by id; those of the `own` directories are added to the first one's.

    Raises:
        ContentError: a file cannot be used, an id occurs twice, or there is no rule at all.
    """
    entries = rule_files(directory)
    if not entries:
        raise ContentError(
            f"no {family} rules here; without rules nothing would be found", Source(str(directory))
        )
    entries += [entry for place in own for entry in rule_files(place)]
    rules: dict[str, Rule] = {}
    files: dict[str, Traversable] = {}
    for entry in entries:
        rule = load_rule(read_rule_file(entry), str(entry), family)
        # File systems that fold case can hold one id under two spellings.
        key = rule.id.casefold()
        if key in rules:
            raise ContentError(
                f"the id {rule.id!r} is taken by {files[key]}; an id is never used twice, choose another",
                Source(str(entry)),
            )
        rules[key], files[key] = rule, entry
    kept = tuple(_trusted(rules[key]) for key in sorted(rules) if rules[key].status is not Status.DEPRECATED)
    if not kept:
        raise ContentError(f"all {family} rules here are deprecated", Source(str(directory)))
    return kept


def _trusted(rule: Rule) -> Rule:
    """Let a rule that is still an experiment warn, but not refuse."""
    if rule.status is Status.EXPERIMENTAL and rule.level in {Level.HIGH, Level.CRITICAL}:
        return replace(rule, level=Level.MEDIUM)
    return rule


def rule_files(directory: Traversable) -> list[Traversable]:
    """List the rule files of one directory, by name.

    Raises:
        ContentError: it is no directory, or holds more files than rules can be.
    """
    if not directory.is_dir():
        raise ContentError("not a directory; rules were expected here", Source(str(directory)))
    entries = [entry for entry in directory.iterdir() if entry.name.endswith(".yaml")]
    if len(entries) > MAX_RULES:
        raise ContentError(f"more than {MAX_RULES} rule files", Source(str(directory)))
    return sorted(entries, key=lambda entry: entry.name)


def read_rule_file(entry: Traversable) -> bytes:
    """Read the text of one rule.

    Raises:
        ContentError: it cannot be read, or is no page of text.
    """
    try:
        text = entry.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror}", Source(str(entry))) from error
    if len(text) > MAX_RULE_BYTES:
        raise ContentError(
            f"larger than {MAX_RULE_BYTES} bytes; a rule is a page of text", Source(str(entry))
        )
    return text
