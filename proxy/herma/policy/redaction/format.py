"""Rules that are patterns: vendor formats, and command lines that carry a credential in a known place.

A format is tried where the gate found its literal. A command is searched on the line of its verb, under a timeout; when the
time runs out, that line is masked, never passed.
"""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Literal

import regex

from herma.policy.pattern import compile_branches, compile_pattern
from herma.policy.redaction.checksum import CHECKSUMS
from herma.policy.redaction.hit import Certainty, Hit
from herma.policy.redaction.judgement import told
from herma.policy.redaction.value import (
    is_code,
    is_dull,
    is_path,
    is_placeholder,
    is_reference,
    looks_issued,
    looks_like_password,
    looks_random,
)
from herma.policy.redaction.work import CHARS_QUOTED_PER_UNIT, Work, judging
from herma.policy.rule import Rule

__all__ = ["MAX_COMMAND_CHARS", "CommandRule", "FormatRule", "any_format"]

type Check = Literal["any", "digit", "drawn", "mixed", "password", "random", "told"]

# A command line's credential stands at most this far behind its verb; patterns bound their own gaps below it.
MAX_COMMAND_CHARS: Final = 2048
# The slowest rule needs 0.1 ms for a full window. 20 ms is a machine that stalls, or a pattern that should not have shipped.
COMMAND_TIMEOUT_S: Final = 0.02
# Looking at the clock takes half of the time of a short window, which no rule needs 0.2 ms for.
UNTIMED_CHARS: Final = 256
# An argument in quotes; what separates commands in a shell separates none there (`mysql -e 'a & b' -p…`).
# It begins with its quote, which `re` jumps to, and looks back from there.
_ARGUMENT: Final = re.compile(
    r"(?:\"(?<=[\s=].)[^\"\n]{1,400}\"|'(?<=[\s=].)[^'\n]{1,400}')(?=\s|$)",
)
_SEPARATOR: Final = re.compile("[;|&]")
_NAMED_GROUP: Final = re.compile(r"\(\?P<\w+>")
_FLAGS: Final = re.compile(r"\(\?(?P<flags>[a-z]+)\)")
# What a pattern asks of the character in front of it.
_BEFORE: Final = re.compile(r"(?:\(\?<[!=](?:\[(?:\\.|[^\]\\])*\]|\\?.)\))+")
# A word in front of its explanation: its bound, its characters, and what may stand between the two.
MAX_WORD_CHARS: Final = 256
_WORD_CHARACTERS: Final = string.ascii_letters + string.digits + "!#$%&*+/=?@^_~.-"
_AROUND_WORD: Final = "\"'`*),"
_BOUNDARIES: Final = ("(?<![A-Za-z0-9])", "(?<![A-Za-z0-9_-])")


class FormatRule:
    """A vendor's token format, anchored at its literal."""

    def __init__(self, rule: Rule) -> None:
        self.id = rule.id
        self._check: Check = rule.options.get("check", "any")
        self._certainty = Certainty.CONVENTION if rule.options.get("generic") else Certainty.FORMAT
        checksum = rule.options.get("checksum")
        if checksum is not None and checksum not in CHECKSUMS:
            raise ValueError(f"rule {rule.id}: options.checksum is one of {', '.join(CHECKSUMS)}")
        self._proven = CHECKSUMS[checksum] if checksum is not None else None
        # The literal stands inside the token, not at its beginning.
        self.around: bool = rule.options.get("anchor") == "around"
        # The literal stands behind the secret, which is the word in front of it: "… is the password".
        self.behind: bool = rule.options.get("anchor") == "behind"
        # What stands behind a word character is no token of this format; the text need not be asked.
        self.bounded = not (self.around or self.behind) and rule.pattern.startswith(_BOUNDARIES)
        # `re` tests at a known place six times faster than `regex`; the subset means the same in both.
        self._pattern = re.compile(rule.pattern, re.ASCII)
        self.written = rule.pattern
        self.begins = self._pattern.match

    def at(self, text: str, start: int, work: Work | None = None) -> tuple[Hit, ...]:
        """Find the token whose literal begins at `start`."""
        found = self._pattern.match(text, start)
        if found is None:
            return ()
        if work is not None:
            work.left -= judging(found.end() - start)
        return self._hit(found)

    def over(self, text: str, first: int, last: int) -> tuple[Hit, ...]:
        """Find the token that begins at `first` to `last`, where its literal stands."""
        for start in range(first, last + 1):
            found = self._pattern.match(text, start)
            if found is not None:
                return self._hit(found)
        return ()

    def word_before(self, text: str, start: int) -> tuple[Hit, ...]:
        """Find the secret in front of the literal that begins at `start`."""
        if self._pattern.match(text, start) is None:
            return ()
        before = text[max(0, start - MAX_WORD_CHARS) : start].rstrip(_AROUND_WORD)
        word = before[len(before.rstrip(_WORD_CHARACTERS)) :]
        if not told(word) or is_placeholder(word):
            return ()
        end = max(0, start - MAX_WORD_CHARS) + len(before)
        return (Hit(end - len(word), end, self.id, word, self._certainty),)

    def everywhere(self, text: str, start: int, end: int) -> list[Hit]:
        """Find every token in a piece of text, for formats without a literal."""
        return [hit for found in self._pattern.finditer(text, start, end) for hit in self._hit(found)]

    def _hit(self, found: re.Match[str]) -> tuple[Hit, ...]:
        # A format with a part that stays (a host, a salt) names the rest; `re` has no two groups of one name.
        group = found.lastgroup or 0
        written = found[group]
        if self._proven is not None and self._proven(written):
            return (Hit(found.start(group), found.end(group), self.id, written, Certainty.BLOCK),)
        if not is_placeholder(written) and self._accepts(written):
            return (Hit(found.start(group), found.end(group), self.id, written, self._certainty),)
        return ()

    def _accepts(self, written: str) -> bool:
        match self._check:
            case "any":
                return True
            case "digit":
                return any(character.isdigit() for character in written)
            case "told":
                return told(written)
            case "mixed":
                return _mixed(written)
            case _:
                return looks_random(written, at_least=10)


def any_format(rules: Sequence[FormatRule]) -> Callable[[str, int, int], object | None]:
    """Make one search that tells whether a piece of text may hold a token of any of these formats.

    What all begin with is asked once at each character.
    """
    patterns = [_scoped(_NAMED_GROUP.sub("(?:", rule.written)) for rule in rules]
    shared = next((one for one in _BOUNDARIES if all(map(partial(_begins_with, one), patterns))), "")
    branches = "|".join(f"(?:{pattern[len(shared) :]})" for pattern in patterns)
    return re.compile(f"{shared}(?:{branches})", re.ASCII).search


def _scoped(pattern: str) -> str:
    """Give the flags that a pattern begins with to that pattern alone."""
    flagged = _FLAGS.match(pattern)
    # Where blanks mean nothing, a comment reaches to the end of its line.
    if flagged is None:
        return pattern
    end = "\n)" if "x" in flagged["flags"] else ")"
    return f"(?{flagged['flags']}:{pattern[flagged.end() :]}{end}"


def _begins_with(boundary: str, pattern: str) -> bool:
    return pattern.startswith(boundary) and len(compile_branches(pattern)) == 1


class CommandRule:
    """A command line or sentence with a credential in a known place, named `secret` in the pattern."""

    def __init__(self, rule: Rule) -> None:
        self.id = rule.id
        self._check: Check = rule.options.get("check", "password")
        self._pattern = compile_pattern(rule.pattern)
        # What has to stand before the verb is asked first: a URL at the beginning of a line is rare.
        before = _BEFORE.match(rule.pattern)
        simple = before is not None and len(compile_branches(rule.pattern)) == 1
        self.begins = re.compile(before[0], re.ASCII).match if before is not None and simple else None
        # The credential stands in front of the literal (`echo … | docker login`): the line is searched from its start.
        self.whole_line: bool = bool(rule.options.get("whole_line", False))

    def at(self, text: str, start: int, work: Work | None = None) -> list[Hit]:
        """Find the credential of the command whose verb begins at `start`."""
        first, stop = start, min(len(text), start + MAX_COMMAND_CHARS)
        if self.whole_line:
            first = max(text.rfind("\n", 0, start) + 1, start - MAX_COMMAND_CHARS)
            line_end = text.find("\n", start, stop)
            stop = line_end if line_end >= 0 else stop
        try:
            if self.whole_line:
                lines = self._pattern.finditer(text, first, stop, timeout=COMMAND_TIMEOUT_S)
                return [hit for found in lines for hit in self._hit(found)]
            return self._anchored(text, first, stop) or self._unseparated(text, first, stop, work)
        except TimeoutError:
            return [Hit(first, stop, self.id, text[first:stop], timed_out=True)]

    def _anchored(self, text: str, first: int, stop: int) -> list[Hit]:
        timeout = COMMAND_TIMEOUT_S if stop - first > UNTIMED_CHARS else None
        found = self._pattern.match(text, first, stop, timeout=timeout)
        return [] if found is None else list(self._hit(found))

    def _unseparated(self, text: str, first: int, stop: int, work: Work | None) -> list[Hit]:
        """Look again where an argument in quotes holds what separates commands outside of it."""
        plain = _unseparated(text, first, stop, work)
        if plain is None:
            return []
        return [
            Hit(first + hit.start, first + hit.end, self.id, text[first + hit.start : first + hit.end])
            for hit in self._anchored(plain, 0, len(plain))
        ]

    def _hit(self, found: "regex.Match[str]") -> Iterator[Hit]:
        for start, end, written in zip(
            found.starts("secret"), found.ends("secret"), found.captures("secret"), strict=True
        ):
            # `user[:password]` tells a form.
            if self._accepts(written) and found.string[max(0, start - 2) : start] != "[:":
                yield Hit(start, end, self.id, written)

    def _accepts(self, written: str) -> bool:
        if not written or is_reference(written) or is_placeholder(written):
            return False
        match self._check:
            case "any":
                return True
            case "drawn":
                # `AUTH CRAM-MD5` names how somebody will log in.
                method = written.isupper() and is_dull(written)
                return not method and (looks_like_password(written) or looks_random(written))
            case "random":
                return looks_random(written, at_least=12) and not is_dull(written)
            case "mixed":
                return _mixed(written)
            case "told":
                return told(written.rstrip(".,;:!?"))
            case _:
                dull = is_dull(written) and not (written.isdigit() and len(written) >= 4)
                return not dull and not is_path(written) and not is_code(written)


def _mixed(written: str) -> bool:
    """Tell whether a machine issued the value, in capitals and small letters."""
    return looks_issued(written) and not (written.islower() or written.isupper())


def _unseparated(text: str, first: int, stop: int, work: Work | None) -> str | None:
    """Write a line without what separates commands in its quoted arguments, character for character; None when nothing does."""
    if text.find("'", first, stop) < 0 and text.find('"', first, stop) < 0:
        return None
    line_end = text.find("\n", first, stop)
    line = text[first : line_end if line_end >= 0 else stop]
    if ("'" not in line and '"' not in line) or _SEPARATOR.search(line) is None:
        return None
    if work is not None:
        work.left -= len(line) / CHARS_QUOTED_PER_UNIT
    plain = _ARGUMENT.sub(_without_separators, line)
    return plain if plain != line else None


def _without_separators(argument: re.Match[str]) -> str:
    # Three times faster than `str.translate`.
    return argument.group().replace(";", "\x1f").replace("|", "\x1f").replace("&", "\x1f")
