"""The first look: whether bytes or a text can hold an entry at all. Derived from the keys that count, so that none is forgotten."""

import re
from collections.abc import Iterator

from herma.policy.entry.kin import WORDS

__all__ = ["KEY_WORDS", "YAML_MEMBERS", "keys_named", "may_hold_entry", "squeezed"]

# Members whose text is configuration, whatever it looks like: what cannot be read there is refused.
YAML_MEMBERS = frozenset({"yamltext", "configyaml", "configtext", "rawyaml"})
# As `fold` leaves keys.
KEY_WORDS = tuple(sorted(WORDS | {"mcp"}))
# What entries are told by besides: members of servers, of settings told by a value, of files, of argument lists.
_TELLING = (
    *(word.encode() for word in KEY_WORDS),
    *(word.encode() for word in sorted(YAML_MEMBERS)),
    b"headers",
    b"transport",
    b"streamable",
    b'"sse"',
    b'"value"',
    b'"val"',
    b'"env"',
    b'"argv"',
    b"configset",
    b'"set"',
    b".hermes",
    b"config.y",
    b"base64,",
)
_DROPPED = b"_- "
# A long run without blanks may wrap anything; escapes and wide letters may spell any key.
_WRAPPED = re.compile(rb"\"\s{0,8}[A-Za-z0-9+/_-]{48}|%7b|%22|\\u00|\\\\+[xu]|\xef\xbd", re.IGNORECASE)
# What may stand between a key and its value, blanks left out: also the rest of a path, and the break after `? key`.
_AFTER_KEY = re.compile(
    r"[\"'\]\\]{0,9}\s{0,8}(?:[:=\[]|(?<=\])(?:\n|\Z)|\.[\w.\"']{1,60}\]{1,2}(?:\n|\Z)|\.[\w.]{1,60}[\"'\]]{0,3}[=:]|(?:#[^\n]{0,200})?\n\s{0,8}:)"
)
# Places in one text that are looked at for each word.
MAX_PLACES = 4096


def may_hold_entry(raw: bytes) -> bool:
    """Take the quick look: False means that no entry is in these bytes."""
    if _WRAPPED.search(raw) is not None:
        return True
    lowered = raw.lower().translate(None, _DROPPED)
    if any(word in lowered for word in _TELLING):
        return True
    if b'"servers"' in lowered or (b'"action"' in lowered and b"install" in lowered):
        return True
    if b"command" in lowered:
        # A command alone is a tool's argument: it takes arguments, an environment, or a name to be an entry.
        return b"args" in lowered or b"env" in lowered or b'"name"' in lowered or b'"event"' in lowered
    return b'"name"' in lowered and b'"url"' in lowered


def squeezed(text: str) -> str:
    """Give a text as keys are compared: lower case, without blanks, dashes and underscores."""
    return text.lower().replace("_", "").replace("-", "").replace(" ", "")


def keys_named(text: str) -> list[int]:
    """Give the places in a squeezed text where a key that counts is named, as a key and not as a word."""
    return sorted(_places(text))


def _places(text: str) -> Iterator[int]:
    for word in KEY_WORDS:
        at = text.find(word)
        for _ in range(MAX_PLACES):
            if at < 0:
                break
            end = at + len(word)
            if word == "mcp" and text.startswith("server", end):
                end += 7 if text.startswith("servers", end) else 6
            if _AFTER_KEY.match(text, end) is not None:
                yield at
            at = text.find(word, end)
        else:
            # Beyond the bound every line may name it.
            yield from (max(at, 0),)
