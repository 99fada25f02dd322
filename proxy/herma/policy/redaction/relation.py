"""What strings of a JSON document say about each other: a key about its value, a name about the value in the same object."""

from collections.abc import Iterator, Mapping
from typing import Final

from herma.policy.redaction.finder import Finder
from herma.policy.redaction.header import authorization, cookie
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.judgement import TOKEN_ID, Form, Value, judge
from herma.policy.redaction.name import Strength

__all__ = ["MAX_ARGUMENTS", "beside", "number", "pair_of", "tells"]

# A command line of 512 arguments is a build, and its credentials stand in front.
MAX_ARGUMENTS: Final = 512
MIN_PASSWORD_DIGITS: Final = 4
# Telephone numbers and seconds since 1970 have ten digits.
MIN_SECRET_DIGITS: Final = 11
# Microseconds since 1970 have sixteen.
MIN_TOKEN_DIGITS: Final = 17
_NAME_KEYS: Final = ("name", "key", "header", "field", "variable", "k", "parameter")
_VALUE_KEYS: Final = ("value", "v", "val", "content", "default")
_COOKIES: Final = frozenset({"cookie", "set-cookie", "cookies"})


def tells(finder: Finder, key: str) -> bool:
    """Tell whether a key says anything about the string beside it."""
    lower = key.lower()
    return lower.endswith("authorization") or lower in _COOKIES or finder.names.classify(key) is not None


def beside(finder: Finder, key: str, text: str) -> Iterator[Hit]:
    """Find what the key of a string says about it."""
    if not key or not text:
        return
    lower = key.lower()
    if lower.endswith("authorization"):
        yield from _moved(authorization(f"{key}: {text}", len(key)), len(key) + 2)
    elif lower in _COOKIES:
        yield from _moved(cookie(f"{key}: {text}", len(key), finder.names), len(key) + 2)
    known = finder.names.classify(key)
    if known is not None and judge(
        known, Value(0, len(text), text, '"', closed=True), Form(colon=True, data=True, member=True), "", key
    ):
        yield Hit(0, len(text), known.rule_id, text)


def number(finder: Finder, key: str, written: str) -> Hit | None:
    """Find out whether a number is a credential, from its key and its length: a PIN, a password of digits, a long secret.

    Counts, limits and times stand beside names of tokens, so those have to be longer than any time.
    """
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


def pair_of[T](members: Mapping[str, T]) -> tuple[T, T] | None:
    """Find the name and the value of an object like `{"name": "TOKEN", "value": "x"}`; the keys are lower-case."""
    value = next((members[key] for key in _VALUE_KEYS if key in members), None)
    name = next((members[key] for key in _NAME_KEYS if key in members), None) if value is not None else None
    return (name, value) if name is not None and value is not None else None


def _moved(hits: Iterator[Hit], by: int) -> Iterator[Hit]:
    return (Hit(hit.start - by, hit.end - by, hit.rule_id, hit.value, hit.certainty) for hit in hits)
