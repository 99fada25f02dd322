"""Secrets beside their name: `NAME=value`, `"name": "value"`, `--name value`, `name is value`, a header, a query parameter.

The grammar starts at a word that the gate found, widens it to the whole name, reads the operator behind it and the value
behind that. Nothing scans the text for names, which is what makes such rules dear elsewhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from herma.policy.redaction_hit import Hit
from herma.policy.redaction_name import MAX_NAME_CHARS, Name, Names, Strength
from herma.policy.redaction_value import (
    MAX_JUDGED_CHARS,
    is_code,
    is_dull,
    is_path,
    is_placeholder,
    is_prose,
    is_reference,
    looks_like_password,
    looks_random,
)

__all__ = ["MAX_VALUE_CHARS", "Value", "assigned", "judge", "name_around", "read_value", "untrailed"]

# The longest single-line secret seen is a 2,300 character service account; a value beyond the bound is masked up to it and the
# rest is masked with it, see `read_value`.
MAX_VALUE_CHARS: Final = 16 * 1024
# A bare word is read so far, then judged.
MAX_WORD_CHARS: Final = 1024

_NAME_RIGHT: Final = re.compile(r"[A-Za-z0-9_.-]{0,96}+", re.ASCII)
_OPERATOR: Final = re.compile(
    r"""
    (?P<close>["'`]?[\])]{0,2}\*{0,2}|&quot;)
    (?:[ \t]{0,4}\??:[ \t]{0,2}(?:str|string|String|text|&str|&'static[ ]str|Optional\[str\]|SecretStr)[ \t]{0,2}(?==))?
    (?:
        [ \t]{0,16}+(?P<sign>=>|:=|\?=|\+=|={1,3}|:|：)(?P<bold>\*{0,2})
            (?P<gap>[ \t]{0,16}+(?:\n[ \t]{1,32}(?:value|Value)[ \t]{0,4}:[ \t]{0,8})?)
      | (?P<xml>>)(?=[^<>\s]{4,256}<)
      | (?P<comma>["']?[ \t]{0,2},[ \t]{0,2}(?:(?i:value|content)[ \t]{0,2}[=:][ \t]{0,2})?(?=["']))
      | (?P<attribute>[ \t]{1,4}(?i:value|content)[ \t]{0,2}=[ \t]{0,2}(?=["']))
      | [ \t]{0,4}(?P<prose>[ ](?:is|was|are|ist|est|es|è)(?:[ ](?:now|set[ ]to|still|just))?:?[ ]|(?:は|是|为|為|가|는|은)[：:]?[ ]{0,2})
      | (?P<blank>[ \t]{1,8})
    )
    """,
    re.VERBOSE,
)
_YAML_LATER: Final = re.compile(
    r"[\"']?[ \t]{0,8}\r?\n[ \t]{1,40}[\"']?(?:value|Value)[\"']?[ \t]{0,4}:[ \t]{0,8}"
)
_QUOTED: Final = re.compile(
    r"""(?P<lead>[fFrRbBuUN@$]{0,2}|\*{2}[ ]?)(?P<quote>\"{3}|'{3}|&quot;|["'`“‘«])""",
)
_CLOSING: Final = {"“": "”", "‘": "’", "«": "»"}
# A shell word, a YAML scalar or a query value: to white space, a quote, an operator of the shell, or a backslash, behind which
# a decoded view sees more.
_WORD: Final = re.compile(r"[^\s\"'`;&|<>\\\x00-\x20，。；、！？）」”]{1,1024}+")
# The rest of a value that is longer than a word is judged by.
_REST: Final = re.compile(r"[^\s\"'`;&|<>\\\x00-\x20]++")
_KV_NEXT: Final = re.compile(r",(?=[\w.-]{1,40}+[=:])")
_TRAIL: Final = ",;:!?)]}>*.'\""


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written: its place, the quote around it (empty when none) and whether the quote was closed."""

    start: int
    end: int
    text: str
    quote: str
    closed: bool


def name_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a found word to the whole name."""
    first = start
    lowest = max(0, start - MAX_NAME_CHARS)
    while (
        first > lowest
        and (text[first - 1].isalnum() or text[first - 1] in "_-.")
        and text[first - 1].isascii()
    ):
        first -= 1
    right = _NAME_RIGHT.match(text, end)
    last = right.end() if right else end
    while last > end and text[last - 1] in ".-":
        last -= 1
    return first, last


def assigned(text: str, first: int, last: int, names: Names) -> Iterator[Hit]:
    """Find the secret beside the name at `first` to `last`, if the name announces one."""
    name = text[first:last]
    flag = len(name) - len(name.lstrip("-"))
    known = _known(text, first, name.strip("-."), names)
    if known is None or text[max(0, first - 2) : first] == "${":
        return
    operator = _OPERATOR.match(text, last) or _YAML_LATER.match(text, last)
    if operator is None:
        return
    groups = operator.groupdict()
    if groups.get("blank") is not None:
        yield from _after_blank(text, first, operator.end(), known, flag)
        return
    value = read_value(text, operator.end())
    # In 'NAME=' the quote closes what was opened before the name.
    if value is None or (value.quote and value.quote == text[first - 1 : first] and not groups.get("close")):
        return
    form = _form(groups, text, first, flag, value)
    if judge(known, value, form, text, name):
        yield _hit(known, value)


def _known(text: str, first: int, name: str, names: Names) -> Name | None:
    if name.lower() == "key":
        if text[first - 1 : first] in {"?", "&"}:
            return names.classify("query_key")
        if _BEFORE_KEY.search(text, max(0, first - 12), first) is not None:
            return names.classify("api_key")
    return names.classify(name)


def _hit(known: Name, value: Value) -> Hit:
    return Hit(value.start, value.end, known.rule_id, value.text)


@dataclass(frozen=True, slots=True)
class Form:
    """How name and value are joined."""

    # Blanks around the sign: code and prose have them, shells and query strings do not.
    spaced: bool = False
    colon: bool = False
    prose: bool = False
    # Both sides are quoted, or the name is a flag or an environment variable: data, not code.
    data: bool = False
    comma: bool = False


def _form(groups: dict[str, str | None], text: str, first: int, flag: int, value: Value) -> Form:
    sign = groups.get("sign")
    close = groups.get("close") or ""
    upper = text[first : first + 64].split("=", 1)[0].split(" ", 1)[0].isupper()
    return Form(
        spaced=bool(groups.get("gap")) if sign not in {None, ":", "："} else False,
        colon=sign in {":", "："},
        prose=groups.get("prose") is not None,
        data=bool(close[:1] in {'"', "'", "&"} and value.quote)
        or flag > 0
        or upper
        or text[first - 1 : first] in {"?", "&"},
        comma=groups.get("comma") is not None
        or groups.get("attribute") is not None
        or groups.get("xml") is not None,
    )


def read_value(text: str, at: int) -> Value | None:
    """Read the value at `at`; None when there is none.

    A quote that is not closed on its line ends there. A value at the bound ends at the bound: what follows is as long as a
    file and no credential.
    """
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return _quoted(text, quoted)
    found = _WORD.match(text, at)
    if found is None:
        return None
    word = found.group()
    if found.end() - at == MAX_WORD_CHARS:
        # No word of a sentence is as long: all of it is one value.
        end = _REST.match(text, at)
        return Value(at, end.end(), text[at : end.end()], "", closed=True) if end else None
    cut = _KV_NEXT.search(word)
    if cut is not None:
        word = word[: cut.start()]
    word = untrailed(word)
    return Value(at, at + len(word), word, "", True) if word else None


def untrailed(word: str) -> str:
    """Take the punctuation of the sentence or the code off the end of a word."""
    while word and word[-1] in _TRAIL:
        # A bracket that the value itself opened belongs to it: `[token:7f3a91c2]` stays whole.
        opening = {")": "(", "]": "[", "}": "{"}.get(word[-1])
        if opening is not None and word.count(opening) >= word.count(word[-1]):
            break
        word = word[:-1]
    return word


def _quoted(text: str, quoted: re.Match[str]) -> Value:
    quote = quoted["quote"]
    start = quoted.end()
    closing = _CLOSING.get(quote, quote)
    multiline = len(quote) == 3
    end = start
    stop = min(len(text), start + MAX_VALUE_CHARS)
    while end < stop:
        next_quote = text.find(closing, end, stop)
        line_end = -1 if multiline else text.find("\n", end, stop)
        if next_quote < 0 or 0 <= line_end < next_quote:
            end = line_end if line_end >= 0 else stop
            return Value(start, end, text[start:end], quote, False)
        backslashes = 0
        while text[next_quote - 1 - backslashes] == "\\" and next_quote - 1 - backslashes >= start:
            backslashes += 1
        if backslashes % 2 == 0 or (
            closing == "'" and backslashes == 1 and text[start:next_quote].count("'") == 0
        ):
            return Value(start, next_quote, text[start:next_quote], quote, True)
        end = next_quote + 1
    return Value(start, stop, text[start:stop], quote, False)


def judge(known: Name, value: Value, form: Form, text: str, name: str) -> bool:
    """Decide whether the value beside a known name is a secret."""
    written = value.text[:MAX_JUDGED_CHARS]
    if not written or is_reference(written) or is_placeholder(written):
        return False
    if is_dull(written):
        return (
            known.password
            and len(written) >= 4
            and written.isdigit()
            and (not form.colon or bool(value.quote))
            and not form.prose
        )
    if written.lower() == name.lower() or _pathlike(written):
        return False
    if value.quote:
        return _judge_quoted(known, value, form)
    if value.quote == "" and is_code(written):
        return False
    return _judge_bare(known, value, form, text)


def _pathlike(written: str) -> bool:
    # Base64 may begin with a slash: a long value that looks drawn and has no extension is no path.
    return is_path(written) and not (
        len(written) >= 24 and "." not in written and "://" not in written and looks_random(written)
    )


def _judge_quoted(known: Name, value: Value, form: Form) -> bool:
    written = value.text[:MAX_JUDGED_CHARS]
    if not value.closed and len(written) == MAX_JUDGED_CHARS:
        return looks_random(written[:64])
    if "{" in written and "}" in written and ("${" in written or "{{" in written or written.startswith("{")):
        return False
    if any(character.isspace() for character in written):
        # A command between back-quotes, in a shell.
        if value.quote == "`":
            return False
        return (
            known.strength == Strength.STRONG
            and not is_prose(written)
            and (form.data or form.colon or not form.comma)
        )
    if not written.isascii():
        return known.password and looks_like_password(written)
    if form.comma or form.prose:
        return looks_like_password(written) and not _identifier(written)
    if known.strength == Strength.WEAK:
        return looks_random(written) or (known.password and looks_like_password(written))
    if known.password:
        return len(written) >= 3 or form.data
    return (
        looks_like_password(written)
        or looks_random(written)
        or (form.data and len(written) >= 5 and not _identifier(written))
        or len(written) >= 24
    )


def _judge_bare(known: Name, value: Value, form: Form, text: str) -> bool:
    written = value.text[:MAX_JUDGED_CHARS]
    if form.comma:
        return False
    drawn = looks_random(written) or (looks_like_password(written) and not _identifier(written))
    if known.strength == Strength.WEAK and not known.password:
        return looks_random(written, at_least=12)
    if form.prose or known.strength == Strength.WEAK:
        return drawn and written.isascii() and _has_digit(written)
    if drawn:
        return True
    if not written.isascii():
        return False
    following = text[value.end : value.end + 2]
    if following[:1] in {",", ")", ".", "(", "["} or form.spaced or _more_words(text, value.end):
        return False
    if form.colon and not form.data:
        return known.password and len(written) >= 6 and not _identifier(written)
    return len(written) >= (4 if known.password else 16)


def _after_blank(text: str, first: int, at: int, known: Name, flag: int) -> Iterator[Hit]:
    value = read_value(text, at)
    if value is None or value.text.startswith("-") or _ASSIGNMENT.match(value.text):
        return
    written = value.text
    if (
        not written
        or is_reference(written)
        or is_placeholder(written)
        or _pathlike(written)
        or is_dull(written)
    ):
        if not (flag and known.password and written.isdigit() and len(written) >= 4):
            return
    if flag:
        if "://" in written or (not value.quote and is_code(written) and not _has_digit(written)):
            return
        if known.strength == Strength.WEAK and not (
            looks_random(written) or (known.password and looks_like_password(written))
        ):
            return
        if known.password or looks_like_password(written) or looks_random(written) or len(written) >= 16:
            # In prose a flag is named, not used: "use the --password flag".
            if (
                _has_digit(written)
                or not _more_words(text, value.end)
                or value.quote
                or not written.isalpha()
            ):
                yield _hit(known, value)
        return
    if (_variable(text, first) and (looks_like_password(written) or looks_random(written))) or (
        looks_random(written, at_least=10)
        and not _identifier(written)
        and not value.quote
        and _has_digit(written)
    ):
        yield _hit(known, value)


_SETTING: Final = re.compile(
    r"(?:^|[\s;&|(])(?:set|setenv|ENV|ARG|setx|env|export|secret|requirepass|BY)\b[^\n]{0,40}?$", re.ASCII
)


def _variable(text: str, first: int) -> bool:
    """Tell whether a command that sets variables stands before the name."""
    return _SETTING.search(text, max(0, first - 48), first) is not None or text[first : first + 3].isupper()


_IDENTIFIER: Final = re.compile(
    r"(?:[A-Za-z_$]{1,64}+\d{0,2}(?:\.[A-Za-z_]{1,64}+\d{0,2}){0,8}|[A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){1,8})$",
    re.ASCII,
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][\w.-]{0,64}+=", re.ASCII)
# "my api key is …": the words before a bare `key` that make it one.
_BEFORE_KEY: Final = re.compile(
    r"(?:api|access|secret|license|licence|auth|encryption|activation|account|signing|private)[ -]$",
    re.IGNORECASE | re.ASCII,
)
_MORE: Final = re.compile(r"[ \t]+[\w(]")


def _identifier(written: str) -> bool:
    return _IDENTIFIER.match(written) is not None


def _more_words(text: str, at: int) -> bool:
    return _MORE.match(text, at) is not None


def _has_digit(written: str) -> bool:
    return any(character.isdigit() for character in written)
