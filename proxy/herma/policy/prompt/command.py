"""Commands inside prompts, judged by patterns: the rules of this family that have one, and those for MCP entries."""

import re
from collections.abc import Callable, Iterator, Sequence

import ahocorasick_rs
import regex

from herma.policy.pattern import compile_branches
from herma.policy.rule import Rule

__all__ = ["CommandRules"]

# The pattern subset bounds the worst case; a text that is made to be slow is refused.
MAX_SEARCH_S = 0.05
# Commands of one kind that a prompt may speak of; more are not spoken of.
MAX_MATCHES = 8


# Keywords that ordinary prose holds as well (`once`, an address); alone they do not make a command.
_COMMON = frozenset(
    {
        "http",
        "https",
        "ssh",
        "nc",
        "nc ",
        "ftp",
        "fetch",
        "download",
        "curl",
        "wget",
        "redis",
        "rev",
        "od ",
        "tr ",
        "-e",
        "^",
        "exec",
    }
    | {
        "printf",
        "compile",
        "pty",
        "connect",
        "socket",
        "telnet",
        "buffer",
        "xz",
        "eval",
        "metadata",
        "base64",
        "openssl",
    }
)
# What a command has that prose has not; what is made of one text is looked for by itself, at a tenth of what a pattern costs.
_SIGNS = (
    *("|", "`", ";", "<", ">", "(", "&&", "/dev/", ".sock", "169.254", "metadata/", "meta-data/"),
    *("certutil", "bitsadmin", "mshta", "regsvr32", "rundll32", "start-bitstransfer"),
)
_SIGN = re.compile(r"\$\w|-\w(?:(?<=\s..)|(?<=\s-..))|:\d{4}")


def _is_command(text: str) -> bool:
    return any(sign in text for sign in _SIGNS) or _SIGN.search(text) is not None


# A kind of command that is named without what it would fetch: nothing that could be run.
_NAMED = re.compile(
    r"\b(?:curl|wget)(?: (?:-\w{1,8}|\u2026|\.{2,3}|url|<url>)){0,3} ?\| ?(?:sudo )?(?:ba|z|da)?sh\b(?! <| -)"
)


class CommandRules:
    """Rules with patterns; one pass over the text tells which of them have a keyword in it."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [(rule, compile_branches(rule.pattern)) for rule in rules if rule.pattern]
        owners: dict[str, list[int]] = {}
        self._always: list[int] = []
        for number, (rule, _) in enumerate(self._rules):
            if not rule.keywords:
                self._always.append(number)
            for keyword in rule.keywords:
                owners.setdefault(keyword, []).append(number)
        self._owners = [(keyword in _COMMON, numbers) for keyword, numbers in owners.items()]
        self._keywords = (
            ahocorasick_rs.AhoCorasick(list(owners), implementation=ahocorasick_rs.Implementation.DFA)
            if owners
            else None
        )

    def found(self, text: str, reports: Callable[[int], bool]) -> Iterator[Rule]:
        """Give the rules that apply to a lower-case text; `reports` tells what is only spoken of at a place."""
        if "|" in text:
            text = _NAMED.sub(lambda match: " " * len(match[0]), text)
        candidates = set(self._always)
        if self._keywords is not None:
            signed: bool | None = None
            for number, _, _ in self._keywords.find_matches_as_indexes(text, overlapping=True):
                common, owners = self._owners[number]
                if common and signed is None:
                    signed = _is_command(text)
                if signed or not common:
                    candidates.update(owners)
        for number in sorted(candidates):
            rule, branches = self._rules[number]
            if any(_applies(branch, text, reports) for branch in branches):
                yield rule


def _applies(pattern: regex.Pattern[str], text: str, reports: Callable[[int], bool]) -> bool:
    at = 0
    try:
        for _ in range(MAX_MATCHES):
            match = pattern.search(text, at, timeout=MAX_SEARCH_S)
            if match is None:
                return False
            if not reports(match.start()):
                return True
            at = max(match.end(), at + 1)
    except TimeoutError:
        pass
    return True
