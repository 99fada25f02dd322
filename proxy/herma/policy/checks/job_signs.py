"""Signs that a body which no profile knows holds a scheduled prompt, however it is laid out.

A job can be written as members, as keys with values, as rows under names of columns, as a patch, as words of a command, or as
any of these inside a string. What they share are labels: an order and a time, or a word that only schedulers have.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from herma.policy.jsondoc import strings
from herma.policy.text.unfold import unfold

__all__ = ["commands", "label", "shows_job"]

_ORDERS: Final = frozenset(
    {"prompt", "prompts", "task", "tasks", "instruction", "instructions", "query", "request"}
)
_TIMES: Final = frozenset(
    {
        "every",
        "at",
        "runat",
        "when",
        "delay",
        "after",
        "interval",
        "repeat",
        "deliver",
        "skill",
        "skills",
        "enabled",
    }
    | {
        "starttime",
        "startat",
        "nextrun",
        "frequency",
        "period",
        "trigger",
        "triggers",
        "timer",
        "recurrence",
        "dueat",
    }
)
# A job that is changed is named.
_SUBJECTS: Final = frozenset({"id", "name", "job", "jobs"})
_SCHEDULERS: Final = ("schedule", "cron", "rrule", "jobid")
# Labels are short; longer strings are text that may hold some.
MAX_LABEL_CHARS: Final = 24
# Text that is searched for labels in all; a body with more holds no job that could be judged anyway.
MAX_SEARCHED_CHARS: Final = 256 * 1024

_LABEL: Final = re.compile(r"(?<![\w/])['\"]?([a-z][\w-]{1,23})['\"]?\s{0,2}[:=]")
_COMMAND: Final = re.compile(
    r"(?<!\w)(?:hermes |/)cron(?:job)?s? \w|(?<!\w)(?:[\d*/,-]{1,12}\s){5}.{0,80}\bhermes\b"
)
_ESCAPED: Final = re.compile(r"\\u00([0-7][0-9a-fA-F])")
_NO_LETTERS: Final = re.compile(r"[\W_]+")


def label(name: str) -> str:
    """Give a name as it is compared: letters only, whatever their case, width and joints."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", name).lower())


def shows_job(value: Any) -> bool:
    """Tell whether labels of a job stand anywhere in a body."""
    found: set[str] = set()
    left = MAX_SEARCHED_CHARS
    for _, text in strings(value, keys=True):
        left -= len(text)
        if left < 0:
            return True
        for name in _labels(text):
            if name.startswith(_SCHEDULERS):
                return True
            found.add(name)
    if _ORDERS.isdisjoint(found):
        return False
    return not _TIMES.isdisjoint(found) or ("prompt" in found and not _SUBJECTS.isdisjoint(found))


def _labels(text: str) -> Iterator[str]:
    if len(text) <= MAX_LABEL_CHARS:
        last = label(text.rpartition("/")[2])
        yield from (label(text), last)
        if text.startswith("/") and last in _ORDERS:
            # A patch names the member that it changes.
            yield "cron"
        return
    for view in (text, *unfold(text)):
        lowered = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), view).lower()
        if _COMMAND.search(lowered):
            yield "cron"
        yield from map(label, _LABEL.findall(lowered))


def commands(value: Any) -> Iterator[tuple[str, str]]:
    """Give the texts that are commands for the scheduler, as they are typed in a chat: `/cron add`."""
    for place, text in strings(value):
        if text.lstrip()[:5].lower() == "/cron":
            yield place, text
