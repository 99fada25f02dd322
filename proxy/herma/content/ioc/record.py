"""One indicator as it stands in a file: the value and what is known about it.

Strict like rules: an unknown key, a key of the wrong type, a value that would match what everybody uses, or an indicator
without a public reference is an error.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from herma.content.ioc.moment import parse_moment
from herma.content.ioc.value import judge_value
from herma.policy.indicator import Action, Indicator, Matching

__all__ = ["MAX_NOTE_CHARS", "Record", "read_record"]

MAX_NOTE_CHARS: Final = 500
MAX_LIST_ITEMS: Final = 64

# Kinds that mean something in a server entry only.
_ENTRY_KINDS: Final = frozenset(
    {"mcp_server_name", "mcp_server_name_regex", "env_name", "env_assignment", "config_key"}
)
_REQUIRED: Final = ("id", "value", "match", "type", "campaign", "action", "valid_from", "references")
_OPTIONAL: Final = ("ecosystem", "versions", "note", "valid_until")
# Pages without a date are published as well.
_UNDATED: Final = "unknown"
# It becomes part of a finding, a log line and a metric.
_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._+-]{0,63}")


@dataclass(frozen=True, slots=True)
class Record:
    """An indicator with its validity and its sources; `file` is where it stands.

    `valid_from` is None where the source has no date; such an indicator is in force.
    """

    indicator: Indicator
    kind: str
    valid_from: datetime | None
    valid_until: datetime | None
    references: tuple[str, ...]
    note: str
    file: str


def read_record(item: Any, file: str) -> Record:
    """Read one item of a list `indicators`.

    Raises:
        ValueError: with what is wrong; the message repeats no value.
    """
    if not isinstance(item, dict):
        raise ValueError("an indicator is a mapping")  # noqa: TRY004 - one kind of error for all that is wrong
    for key in item:
        if key not in _REQUIRED + _OPTIONAL:
            raise ValueError(f"unknown key {key!r}; expected one of {', '.join(_REQUIRED + _OPTIONAL)}")
    for key in _REQUIRED:
        if not item.get(key):
            raise ValueError(f"the key {key!r} is missing; no evidence, no entry")
    kind = _named(item, "type")
    indicator = Indicator(
        id=_id(item),
        value=_text(item, "value"),
        matching=_choice(item, "match", Matching),
        action=_choice(item, "action", Action),
        campaign=_named(item, "campaign"),
        ecosystem=_text(item, "ecosystem"),
        versions=_texts(item, "versions"),
        entry_only=kind in _ENTRY_KINDS,
    )
    judge_value(indicator, kind)
    note = _text(item, "note")
    if len(note) > MAX_NOTE_CHARS:
        raise ValueError(f"a note has at most {MAX_NOTE_CHARS} characters")
    return Record(
        indicator=indicator,
        kind=kind,
        valid_from=None if _text(item, "valid_from").startswith(_UNDATED) else _moment(item, "valid_from"),
        valid_until=_moment(item, "valid_until", end=True) if "valid_until" in item else None,
        references=_texts(item, "references"),
        note=note,
        file=file,
    )


def _id(item: Mapping[str, Any]) -> str:
    value = _text(item, "id")
    if not _ID.fullmatch(value):
        raise ValueError("an id has up to 64 lower-case letters, digits, dots, dashes and underscores")
    return value


def _named(item: Mapping[str, Any], key: str) -> str:
    value = _text(item, key)
    if not _NAME.fullmatch(value):
        raise ValueError(f"{key} has up to 64 lower-case letters, digits, dots, dashes and underscores")
    return value


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} must be text; put it in quotes")  # noqa: TRY004 - one kind of error for all that is wrong
    return value


def _texts(item: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise ValueError(f"{key} must be a list of texts")
    if len(value) > MAX_LIST_ITEMS:
        raise ValueError(f"{key} has at most {MAX_LIST_ITEMS} items")
    return tuple(value)


def _choice[E: (Matching, Action)](item: Mapping[str, Any], key: str, kind: type[E]) -> E:
    try:
        return kind(_text(item, key))
    except ValueError:
        raise ValueError(f"{key} must be one of {', '.join(option.value for option in kind)}") from None


def _moment(item: Mapping[str, Any], key: str, *, end: bool = False) -> datetime:
    try:
        return parse_moment(item[key], end=end)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
