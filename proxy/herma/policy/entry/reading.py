"""An entry, read: its texts in every form, what is encoded in them, the lines that would run and the programs they start."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading, read_argv, read_script
from herma.policy.entry.fields import Fields
from herma.policy.entry.split import filled
from herma.policy.text.unfold import MAX_DEPTH, MAX_VIEWS, unfold
from herma.policy.text.unfold import decoded as decode
from herma.policy.text.views import views

__all__ = ["EntryReading", "forms", "render"]

# Decoded texts of one entry; an entry that has more is refused.
MAX_DECODED = 32
# All forms of one entry together. An entry of the largest size that is judged has some four forms; one that has more is refused.
MAX_VIEW_CHARS = 64 * 1024

_PATH = re.compile(r"(?<![\w:/])(?:~[\w.-]{0,32}|\$\{?HOME\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")
# A path that can be written in another way.
_ODD_PATH = re.compile(r"(?<!:)//|/\.|/proc/|~|\$\{?HOME|/root|/home/|/Users/")
_SCRIPT = frozenset(" ;|&$")
# A value that a shell would make something of.
_COMMAND_LIKE = re.compile(r"[;|&`<>\n]\s{0,8}\S|\$\(|^\s{0,8}[\w./-]{1,80} -\w")
# What an encoded text has at least: a long run of letters and digits, a percent sign, a backslash, a list of numbers.
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{16}|%[0-9A-Fa-f]{2}|\\[xu0-7]|\d\s{0,2},\s{0,2}\d|chr\(")


@dataclass(frozen=True, slots=True)
class EntryReading:
    """What an entry says and would run; `told` is what it tells a model, which nothing runs. `whole` is False where a bound ended the reading early."""

    texts: tuple[str, ...]
    told: tuple[str, ...]
    decoded: tuple[str, ...]
    readings: tuple[Reading, ...]
    lines: tuple[str, ...]
    unfolded: bool = True

    @classmethod
    def of(cls, fields: Fields) -> "EntryReading":
        """Read an entry."""
        readings = list(_readings(fields))
        # A run that is cut over several arguments is one text only for a program that joins them.
        runs = any(reading.codes or len(reading.calls) > 1 for reading in readings)
        texts = tuple(
            text
            for text in dict.fromkeys(
                (
                    " ".join(fields.words),
                    *(_joined(fields.words) if runs else ()),
                    *fields.env.values(),
                    fields.url,
                    *fields.headers.values(),
                    *fields.others,
                )
            )
            if text
        )
        encoded = (text for text in texts if _ENCODED.search(text) is not None)
        unfolds = [unfold(text) for text in encoded]
        inner = tuple(dict.fromkeys(view for found in unfolds for view in found))
        decoded = inner[:MAX_DECODED]
        readings += [read_script(inner, fields.env) for inner in decoded]
        lines = dict.fromkeys(line for reading in readings for line in reading.lines)
        told = frozenset(_told(fields))
        return cls(
            tuple(text for text in texts if text not in told),
            tuple(told),
            decoded,
            tuple(readings),
            tuple(lines),
            unfolded=len(inner) <= MAX_DECODED and all(map(_is_unfolded, unfolds)),
        )

    @property
    def whole(self) -> bool:
        """Tell whether everything was read."""
        return self.unfolded and all(reading.whole for reading in self.readings)


def _is_unfolded(found: Sequence[str]) -> bool:
    """Tell whether unfolding came to its end, and not to one of its bounds."""
    if len(found) >= MAX_VIEWS:
        return False
    # Of a few views none can lie at the last level.
    return len(found) < MAX_DEPTH or all(view in found for inner in found for view in decode(inner))


def _told(fields: Fields) -> Iterator[str]:
    """Give the values of variables that hold a text for a model: prose under such a name, and nothing that a command names."""
    if any("$" in word or "%" in word for word in fields.words):
        return
    for name, value in fields.env.items():
        if _PROSE_NAME.search(name) is not None and _PROSE.match(value) is not None:
            yield value


_PROSE_NAME = re.compile(
    r"(?i)(?:^|_)(?:PROMPT|INSTRUCTIONS?|GUIDELINES?|PERSONA|SYSTEM_MESSAGE|DESCRIPTION|POLICY|RULES)$"
)
# A sentence begins with four words of letters.
_PROSE = re.compile(r"\s{0,8}(?:[A-Z][a-z']{0,20}|I)(?:,? [A-Za-z']{1,20}){3}")


def _joined(words: tuple[str, ...]) -> Iterator[str]:
    """Give the arguments put together: all of them, and those behind the program or script among them."""
    yield "".join(words[1:])
    script = next((index for index, word in enumerate(words) if " " in word or ";" in word), None)
    if script is not None:
        yield "".join(words[script + 1 :])


def _readings(fields: Fields) -> Iterator[Reading]:
    """Read the command as it is written, and as it looks where that differs."""
    yield from _of_command(fields.words, fields.env)
    read = fields.read()
    if read is not fields:
        yield from _of_command(read.words, read.env)
    whole = tuple(filled(word, fields.env) for word in fields.words)
    if whole != tuple(fields.words):
        # Whoever starts it may fill in the variables that the entry brings.
        yield from _of_command(whole, fields.env)
    told = frozenset(_told(fields))
    for value in (*fields.env.values(), *fields.others):
        if value not in told and _COMMAND_LIKE.search(value):
            yield read_script(value, fields.env)


def _of_command(words: tuple[str, ...], env: Mapping[str, str]) -> Iterator[Reading]:
    if not words:
        return
    yield read_argv(words, env)
    if not _SCRIPT.isdisjoint(words[0].strip()):
        # Some clients split a command with blanks, some hand it to a shell.
        yield read_script(" ".join(words), env)


def forms(texts: Iterable[str]) -> Iterator[str]:
    """Give texts as they are written, and once more with their paths resolved where that makes a difference."""
    for text in dict.fromkeys(texts):
        if text:
            yield text
            if _ODD_PATH.search(text) is not None:
                resolved = _PATH.sub(lambda match: resolve_path(match[0]), text)
                if resolved != text:
                    yield resolved


def render(texts: Iterable[str]) -> str:
    """Write forms below each other, folded and lower-case, as the rules expect them."""
    shown = dict.fromkeys(form for text in forms(texts) for form in views(text).each())
    return "\n".join(shown)[:MAX_VIEW_CHARS]
