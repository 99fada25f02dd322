"""What a file keeps that must not leave: the values of its lines, the strings of its JSON, the passwords in its addresses.

Formats are told by what stands there, not by a file's name: settings of a shell, `environ` of a process with its NULs, `.pgpass`,
`.netrc`, JSON, YAML. A short or common value is none, else every message that says `true` would be a theft.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from herma.policy.egress.key_body import without_keys

__all__ = ["MAX_CHARS", "MAX_LINES", "MIN_CHARS", "MIN_NAMED_CHARS", "kept"]

# Twelve characters of a key are as good as the key (the measure that redaction is scored by); what is shorter is a word,
# unless it is called a password.
MIN_CHARS: Final = 12
MIN_NAMED_CHARS: Final = 8
MAX_CHARS: Final = 4096
# A file of keys has some hundred lines. More is no such file.
MAX_LINES: Final = 20_000

_ASSIGNED: Final = re.compile(
    r"(?:export\s{1,8})?[\"']?([\w.-]{1,128})[\"']?\s{0,8}(?:=>?|:=|:)\s{0,8}(.+?),?"
)
# A value in quotes, with a comment behind it or without.
_QUOTED: Final = re.compile(r"([\"'`])(.*)\1,?(?:\s+#.*)?$")
_ESCAPED: Final = re.compile(r"\\([\\\"'$`nrt])")
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t"}
# A value of one kind of letter without a digit is a word or a path of a machine, and stands in many files.
_TELLING: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])")
# A sentence is told by its words: a phrase that somebody chose to keep.
_PHRASE: Final = re.compile(r"(?=.{20})\S+(?:\s+\S+){3}")
_HOSTED: Final = re.compile(r"(?:https?|wss?)://[^@\s]*")
_SECRET_NAME: Final = re.compile(
    r"(?:.*[_.-])?(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|secret|access|private)[_-]?key)",
    re.IGNORECASE,
)
# Where people are: the room that a message goes to has such a value in its address, and no key is called so.
_PLACE_NAME: Final = re.compile(
    r"(?:.*_)?(?:HOME_)?(?:CHANNEL|ROOM|USER|CHAT|GROUP|GUILD|TEAM|TENANT)S?(?:_IDS?)?|(?:.*_)?ACCOUNT_SID"
)
_LOGIN: Final = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^\s/@:]{0,256}:([^\s/@]{1,256})@", re.IGNORECASE)
# host:port:database:user:password, where a colon is escaped (the manual of PostgreSQL, section 34.16).
_PGPASS: Final = re.compile(r"(?:(?:[^:\\\s]|\\.)*:){4}((?:[^:\\]|\\.)+)")
_NETRC: Final = re.compile(r"\b(?:password|account)\s+(\S+)")


def kept(text: str) -> Iterator[str]:
    """Give what is looked for of a text: values, and lines that are told from others.

    Raises:
        ValueError: the text has more lines than a file of keys can have.
    """
    text = without_keys(text.replace("\0", "\n"))
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise ValueError(f"more than {MAX_LINES} lines; a file of keys was expected")
    if text.lstrip()[:1] in ("{", "["):
        yield from _of_json(text)
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            yield from _of_line(line)


def _of_json(text: str) -> Iterator[str]:
    try:
        level = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return
    while level:
        name, value = level.pop()
        if isinstance(value, dict):
            level += value.items()
        elif isinstance(value, list):
            level += ((name, each) for each in value)
        elif isinstance(value, str):
            for line in value.splitlines():
                yield from _telling(name, line.strip())


def _of_line(line: str) -> Iterator[str]:
    for login in _LOGIN.finditer(line):
        yield from _telling("password", login[1])
    for word in _NETRC.finditer(line):
        yield from _telling("password", word[1])
    if (pgpass := _PGPASS.fullmatch(line)) is not None:
        yield from _telling("password", pgpass[1])
        yield from _telling("password", re.sub(r"\\(.)", r"\1", pgpass[1]))
    assigned = _ASSIGNED.fullmatch(line)
    name, value = (assigned[1], assigned[2]) if assigned else ("", line)
    value = value.strip()
    quoted = _QUOTED.match(value)
    bare = quoted[2] if quoted else value.partition(" #")[0].rstrip()
    # A value of several lines has its quotes on the first and the last one.
    for written in dict.fromkeys((bare, bare.strip("\"'`"), _ESCAPED.sub(_meant, bare))):
        for part in written.splitlines():
            yield from _telling(name, part.strip())


def _meant(sign: re.Match[str]) -> str:
    return _CONTROL.get(sign[1], sign[1])


def _telling(name: str, value: str) -> Iterator[str]:
    if not MIN_NAMED_CHARS <= len(value) <= MAX_CHARS or _HOSTED.fullmatch(value) is not None:
        return
    if _PLACE_NAME.fullmatch(name) is not None:
        return
    told = _TELLING.match(value) is not None
    named = _SECRET_NAME.fullmatch(name) is not None and (told or not value.startswith(("/", "~", ".")))
    if named or (len(value) >= MIN_CHARS and (told or _PHRASE.match(value) is not None)):
        yield value
