"""What strings of a JSON document say about each other: a key about its value, a name about the value in the same object."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Final

from herma.policy.redaction.finder import Finder
from herma.policy.redaction.header import authorization, cookie
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.judgement import TOKEN_ID, Form, Value, judge, left_alone
from herma.policy.redaction.name import Name, Strength, is_property, words_of
from herma.policy.redaction.value import looks_random

__all__ = [
    "MAX_ARGUMENTS",
    "PAIRED",
    "TOLD",
    "beside",
    "labelled",
    "labels_of",
    "listing",
    "number",
    "pairs_of",
    "tells",
    "under",
]

# A command line of 512 arguments is a build, and its credentials stand in front.
MAX_ARGUMENTS: Final = 512
PASSWORD_ID: Final = "password"  # noqa: S105 - the id of a rule
MIN_PASSWORD_DIGITS: Final = 4
# Telephone numbers and seconds since 1970 have ten digits.
MIN_SECRET_DIGITS: Final = 11
# Microseconds since 1970 have sixteen.
MIN_TOKEN_DIGITS: Final = 17
_NAME_KEYS: Final = ("name", "key", "header", "field", "variable", "k", "parameter")
_VALUE_KEYS: Final = ("value", "v", "val", "content", "default")
# What names a field of a form, or what a patch of RFC 6902 changes; a name of anything else stands there as often (`{"type": "token", "content": "Hello"}`).
_LABEL_KEYS: Final = ("label", "type", "id", "title", "path")
_LABELLED_KEYS: Final = ("value",)
# In an object that has the name of a secret, these are the secret (`{"password": {"value": "x"}}`).
_INNER_KEYS: Final = frozenset(
    {*_VALUE_KEYS, "plain", "plaintext", "clear", "cleartext", "secret", "raw", "current"}
)
# A PIN has four to eight digits; a pin of a chip has two.
_PIN: Final = re.compile(r"[0-9]{4,8}", re.ASCII)
MIN_LISTED_CHARS: Final = 10
# Keys whose values say something about each other, and those of them about which something may be said.
PAIRED: Final = frozenset((*_NAME_KEYS, *_VALUE_KEYS, *_LABEL_KEYS, *_LABELLED_KEYS))
TOLD: Final = frozenset((*_VALUE_KEYS, *_LABELLED_KEYS))
_COOKIES: Final = frozenset({"cookie", "set-cookie", "cookies"})


def tells(finder: Finder, key: str) -> bool:
    """Tell whether a key says anything about the string beside it."""
    lower = key.lower()
    return (
        lower.endswith("authorization")
        or lower in _COOKIES
        or _is_pin(key)
        or finder.names.classify(key) is not None
    )


def beside(finder: Finder, key: str, text: str) -> Iterator[Hit]:
    """Find what the key of a string says about it."""
    if not key or not text:
        return
    lower = key.lower()
    if lower.endswith("authorization"):
        yield from _moved(authorization(f"{key}: {text}", len(key)), len(key) + 2)
    elif lower in _COOKIES:
        yield from _moved(cookie(f"{key}: {text}", len(key), finder.names), len(key) + 2)
    elif _is_pin(key) and _PIN.fullmatch(text):
        yield Hit(0, len(text), PASSWORD_ID, text)
    known = finder.names.classify(key)
    if known is not None and judge(
        known, Value(0, len(text), text, '"', closed=True), Form(colon=True, data=True, member=True), "", key
    ):
        yield Hit(0, len(text), known.rule_id, text)


def number(finder: Finder, key: str, written: str) -> Hit | None:
    """Find out whether a number is a credential, from its key and its length: a PIN, a password of digits, a long secret.

    Counts, limits and times stand beside names of tokens, so those have to be longer than any time.
    """
    if _is_pin(key) and _PIN.fullmatch(written):
        return Hit(0, len(written), PASSWORD_ID, written)
    known = finder.names.classify(key)
    if known is None or not written.isdigit():
        return None
    least = (
        MIN_PASSWORD_DIGITS
        if known.password
        else MIN_SECRET_DIGITS
        if known.strength == Strength.STRONG and known.rule_id != TOKEN_ID
        else MIN_TOKEN_DIGITS
    )
    return Hit(0, len(written), known.rule_id, written) if len(written) >= least else None


def under(finder: Finder, parent: str, key: str, text: str) -> Iterator[Hit]:
    """Find what the name of an object says about a member: `{"password": {"value": "x"}}`, `{"passwords": {"bob": "x"}}`."""
    known = listing(finder, parent)
    if known is None or not text or finder.names.classify(key) is not None:
        return
    if key.lower() in _INNER_KEYS:
        yield from beside(finder, parent if finder.names.classify(parent) else parent[:-1], text)
    elif not is_property(key) and looks_random(text, at_least=MIN_LISTED_CHARS) and not left_alone(text):
        yield Hit(0, len(text), known.rule_id, text)


def listing(finder: Finder, parent: str) -> Name | None:
    """Tell what kind of secrets an object with this name holds, in the singular or in the plural."""
    known = finder.names.classify(parent) or (
        finder.names.classify(parent[:-1]) if parent[-1:] in {"s", "S"} else None
    )
    return known if known is not None and known.strength == Strength.STRONG else None


def labels_of[T](members: Sequence[tuple[str, T]]) -> Iterator[tuple[T, T]]:
    """Find the labels and the value of an object like `{"label": "Password", "value": "x"}`; the keys are lower-case."""
    return _pairs(members, _LABEL_KEYS, _LABELLED_KEYS)


def labelled(finder: Finder, label: str, text: str) -> Iterator[Hit]:
    """Find what a label says about the value in the same object: only that it is a password."""
    known = finder.names.classify(label)
    if known is not None and known.password and known.strength == Strength.STRONG:
        yield from beside(finder, label, text)


def _is_pin(key: str) -> bool:
    return key[-3:].lower() == "pin" and words_of(key)[-1:] == ["pin"]


def pairs_of[T](members: Sequence[tuple[str, T]]) -> Iterator[tuple[T, T]]:
    """Find the names and values of an object like `{"name": "TOKEN", "value": "x"}`; the keys are lower-case.

    Each name with each value: an empty value hides no default, and a second name or an equal key no secret.
    """
    return _pairs(members, _NAME_KEYS, _VALUE_KEYS)


def _pairs[T](
    members: Sequence[tuple[str, T]], names: Collection[str], values: Collection[str]
) -> Iterator[tuple[T, T]]:
    told = [member for key, member in members if key in values]
    return product((member for key, member in members if key in names), told) if told else iter(())


def _moved(hits: Iterator[Hit], by: int) -> Iterator[Hit]:
    return (Hit(hit.start - by, hit.end - by, hit.rule_id, hit.value, hit.certainty) for hit in hits)
