"""What is judged in code: characters that hide, keys in commands, addresses of metadata."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from herma.policy.address import hosts, is_metadata
from herma.policy.prompt.courier import Courier
from herma.policy.prompt.reading import Reading
from herma.policy.prompt.strewn import spells
from herma.policy.text.views import conceals

__all__ = ["Judge", "judge_of"]

type Judge = Callable[[str, Reading], bool]

_CONTINUED: Final = ("/", ":")
# Where others left what they did.
_RECORD = re.compile(
    r"\b(?:logs?|audit|traffic|flows?|netflow|journal|siem|alerts?|protokolle?n?|zugriffs\w*|journaux|registros|registri"
    r"|reads of|calls to|requests to|access to|connections to|aufrufe\w*|zugriffe\w*)\b|лог|журнал"
)
MAX_RECORD_CHARS: Final = 100


def _asks_metadata(text: str, reading: Reading) -> bool:
    named = [host for host in hosts(text) if is_metadata(host) and host.name != "metadata"]
    if any(host.scheme for host in named):
        return True
    return any(not _only_told(name, reading) for name in dict.fromkeys(host.name for host in named))


def _only_told(name: str, reading: Reading) -> bool:
    """Tell whether an address is only looked for, in what others did: without a path, and with nothing done after it."""
    text = reading.text
    at = text.find(name)
    if at < 0:
        return False
    while at >= 0:
        if text[at + len(name) : at + len(name) + 1] in _CONTINUED or not reading.reports(at):
            return False
        if not _RECORD.search(text, max(0, at - MAX_RECORD_CHARS), at) and reading.orders(at):
            return False
        at = text.find(name, at + 1)
    return True


def _conceals(text: str, _: Reading) -> bool:
    return conceals(text)


def _spells(text: str, _: Reading) -> bool:
    return spells(text)


def judge_of(options: Mapping[str, Any]) -> Judge:
    """Give the judge that the options of a rule name.

    Raises:
        ValueError: there is none of that name, or its options are not what it takes.
    """
    name = options["judge"]
    if name == "command_key":
        courier = Courier(options)
        return lambda text, _: courier(text)
    if name not in _JUDGES:
        raise ValueError(f"there is no judge {name!r}")
    return _JUDGES[name]


_JUDGES: Final[dict[Any, Judge]] = {"concealed": _conceals, "metadata": _asks_metadata, "spelled": _spells}
