"""Secrets beside their name: `NAME=value`, `"name": "value"`, `--name value`, `name is value`, a header, a query parameter.

The grammar starts at a word that the gate found, widens it to the whole name, reads the operator behind it and the value
behind that. Nothing scans the text for names, which is what makes such rules dear elsewhere.
"""

import re
import string
from collections.abc import Iterator
from typing import Final

from herma.policy.redaction.column import column
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.join import Join, Joint, joint_at
from herma.policy.redaction.judgement import (
    Form,
    Value,
    has_digit,
    identifier,
    judge,
    left_alone,
    more_words,
    names_type,
    namespaced,
    told,
)
from herma.policy.redaction.name import MAX_NAME_CHARS, Name, Names, Strength
from herma.policy.redaction.quote import QUOTED, past_bound, quoted_value
from herma.policy.redaction.value import (
    MAX_JUDGED_CHARS,
    is_code,
    looks_issued,
    looks_like_password,
    looks_random,
)
from herma.policy.redaction.work import HEAD, JOINT, NAME, Work, judging, passing

__all__ = ["assigned", "name_around", "read_value", "untrailed"]

# `"password": 8` in what is no JSON is a length.
MIN_KEYED_DIGITS: Final = 6
# A bare word is read so far, then judged.
MAX_WORD_CHARS: Final = 1024

_NAME_LEFT: Final = string.ascii_letters + string.digits + "_-."
_NAME_CHARACTERS: Final = frozenset(_NAME_LEFT)
_NAME_RIGHT: Final = re.compile(r"[A-Za-z0-9_.-]{0,96}+", re.ASCII)
# What a hyphen joins to the name behind it.
_JOINS_WORDS: Final = frozenset(")+%/*#@&")
# What stands behind a name in the head of a table.
_ENDS_HEAD: Final = re.compile(r"[\"'`*]{0,2}(?:[ ]?[|\n\r]|[\t,;]|[ ]{2})")
# A shell word, a YAML scalar or a query value: to white space, a quote, an operator of the shell, or a backslash, behind which
# a decoded view sees more.
_WORD: Final = re.compile(r"[^\s\"'`;&|<>\\\x00-\x20\uff0c。\uff1b、\uff01\uff1f\uff09」”]{1,1024}+")
# The rest of a value that is longer than a word is judged by.
_REST: Final = re.compile(r"[^\s\"'`;&|<>\\\x00-\x20]++")
_CELL: Final = re.compile(r"[^\s\"'`;&|<>\\\x00-\x20,]{1,1024}+")
_KV_NEXT: Final = re.compile(r",(?=[\w.-]{1,40}+[=:])")
_TRAIL: Final = ",;:!?)]}>*.'\""


_COMPARES: Final = frozenset(("==", "===", "!=", "!=="))
# `--auth bob:…`: the user is told, the password is masked.
CREDENTIAL_ID: Final = "credential"
_USER: Final = re.compile(r"[A-Za-z][\w.@-]{0,40}+:(?=[^\s:/]{6})", re.ASCII)
# `pass:…` of OpenSSL, `base64:…` of Laravel, `{noop}…` of Spring: how the value is written stays readable.
_WRITTEN_AS: Final = re.compile(
    r"(?:(?:pass|base64|b64|hex|plain|raw|utf8):|(?:token|key|password|secret|api_?key|access_token)=|\.\*[/|#]\w{1,40}=|\{(?i:noop|plain|crypt|bcrypt|s?sha\d{0,3}|s?md5|pbkdf2[\w-]{0,8}|argon2)\})(?=\S{6})",
    re.ASCII,
)
# "The pass of bob to …" names one; "pass it to …" asks to hand something over.
MAX_NOUN_CHARS: Final = 16
_BEFORE_NOUN: Final = frozenset(
    [
        "the",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "new",
        "old",
        "that",
        "this",
        "root",
        "admin",
        "db",
    ]
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][\w.-]{0,64}+=", re.ASCII)
# "my api key is …", "Onesignal Admin Key": the words before a bare `key` make it one, or make it something else.
# Read from right to left.
_BEFORE_KEY: Final = re.compile(r"(?:[ ][A-Za-z0-9.]{1,20}(?![A-Za-z0-9.])){1,3}", re.ASCII)
# A password of letters only is as long as this; the account that it belongs to stands in front of its name.
MIN_LETTERS: Final = 6
MAX_LETTERS: Final = 40
MAX_USER_BEFORE: Final = 80
_USER_BEFORE: Final = re.compile(
    r"(?i:user(?:[ _-]?(?:name|id))?|login|e-?mail|account|uid|ssid|wi-?fi|benutzer(?:name)?|usuario|utilisateur|identifiant|usu[aá]rio)"
    r"[\"'*`]{0,3}[ ]?[:=][ ]?[\"'*`]{0,3}[^\s\"'=:{}()<>$]{1,60}[\"'*`]{0,3}[ ]?[,;/|]?\s{1,16}(?:and[ ]|[-*>|][ ])?[\"'*`_\w]{0,16}$",
    re.ASCII,
)
_USER_AFTER: Final = re.compile(
    r"[\"']?,?\n[ ]{0,12}[\"']?(?:user(?:[_-]?name)?|login|uid)[\"']?[ ]?[:=][ ]?[\"']?\w",
    re.ASCII | re.IGNORECASE,
)
# Keys and secrets that a person chooses, as words sometimes.
_CHOSEN: Final = re.compile(
    r"(?i:jwt|session|cookie|app|auth|webhook|encryption|signing)_?(?:secret|key)$|SECRET(?:_KEY)?$"
)
MIN_CHOSEN_LETTERS: Final = 10
# Behind the first of several literals.
_NEXT_LITERAL: Final = frozenset((", '", ', "'))
# Behind the name of a function or of a member.
_CALLS: Final = frozenset("([.{")
# The number of an account, and the sign behind it.
ACCOUNT_CHARS: Final = 13
MAX_WORDS_BEFORE: Final = 64
# In "here is the api key" the article belongs to all of the name; "the key" has no other word.
_ARTICLE: Final = re.compile(
    r"(?:[a-z0-9.]{1,20}[ ]){0,1}(?:the|a|an|this|that|any|some)[ ](?=[a-z])", re.ASCII
)


def name_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a found word to the whole name."""
    first, last = start, end
    if text[start - 1 : start] in _NAME_CHARACTERS:
        before = text[max(0, start - MAX_NAME_CHARS) : start]
        first = start - len(before) + len(before.rstrip(_NAME_LEFT))
    if text[end : end + 1] in _NAME_CHARACTERS:
        last = _NAME_RIGHT.match(text, end).end()  # type: ignore[union-attr]  # the pattern matches the empty string
    while last > end and text[last - 1] in ".-":
        last -= 1
    return first, last


def assigned(text: str, first: int, last: int, names: Names, work: Work | None = None) -> Iterator[Hit]:
    """Find the secret beside the name at `first` to `last`, if the name announces one."""
    work = Work(len(text)) if work is None else work
    name = text[first:last]
    # In `100K-token` the hyphen joins words; a flag begins one.
    flag = len(name) - len(name.lstrip("-")) if text[first - 1 : first] not in _JOINS_WORDS else 0
    known = _known(text, first, name.strip("-."), names, work)
    if known is None or text[max(0, first - 2) : first] == "${":
        return
    if _ENDS_HEAD.match(text, last):
        work.left -= HEAD
        yield from column(text, first, known, work)
    work.left -= JOINT
    joint = joint_at(text, last)
    if joint is None:
        return
    if joint.join == Join.BLANK:
        # `EC_KEY **key`, `EVP_PKEY* key` are types of C; a name between asterisks is bold.
        if joint.close[:1] != "*" or text[first - 1 : first] == "*":
            yield from _after_blank(text, first, joint.end, known, flag, work)
        return
    value = _cell(text, joint.end) if joint.join == Join.CELL else read_value(text, joint.end)
    # `PASSWORD :'pw'` is a variable of psql.
    if joint.sign == ":" and not joint.close and text[joint.end - 2 : joint.end + 1] in {" :'", ' :"'}:
        return
    if value is None:
        return
    # In `user, password = "bob", "…"` the first literal is the user.
    if (
        joint.spaced
        and text[first - 2 : first] == ", "
        and text[value.end + 1 : value.end + 4] in _NEXT_LITERAL
    ):
        return
    work.left -= _reading(value)
    # In 'NAME=' the quote closes what was opened before the name.
    if value.quote and value.quote == text[first - 1 : first] and not joint.close:
        return
    # `Pass::Create` of C++ and Rust is a name.
    if (
        joint.sign == ":"
        and not joint.close
        and value.text[:1] == ":"
        and identifier(value.text[1:].rstrip("("))
    ):
        return
    # "What you pass to x509store …" is handed over.
    if joint.join == Join.FAR_PROSE and name.lower() == "pass" and text.endswith(" to ", 0, joint.end):
        before = text[max(0, first - MAX_NOUN_CHARS) : first].split()
        if not before or before[-1].lower() not in _BEFORE_NOUN:
            return
    # In `https://x-access-token:…@h` the name is a user, in `arn:aws:secretsmanager:eu-west-1:123456789012:secret:…` a type.
    if joint.sign == ":" and (
        text[first - 3 : first] == "://"
        or (first >= ACCOUNT_CHARS and text[first - ACCOUNT_CHARS : first - 1].isdigit())
    ):
        return
    form = _form(joint, text, first, flag, value)
    if judge(known, value, form, text, name) or (
        _letters(value.text)
        and (known.password or (len(value.text) >= MIN_CHOSEN_LETTERS and _CHOSEN.search(name) is not None))
        and _lettered(text, first, value, form, name)
    ):
        yield from _hit(known, value, past_bound(text, value), text, first)


def _letters(written: str) -> bool:
    """Tell whether a value is letters only and as long as a password: what is left to ask is what stands around it."""
    return MIN_LETTERS <= len(written) <= MAX_LETTERS and written.isalpha() and written.isascii()


def _lettered(text: str, first: int, value: Value, form: Form, name: str) -> bool:
    """Tell whether letters beside the name of a password are one: behind a user, or set by a flag or a variable."""
    written = value.text
    if (
        form.compared
        or form.loose
        or form.prose
        or form.far
        or left_alone(written)
        or written.lower() in name.lower()
    ):
        return False
    if text[value.end : value.end + 1] in _CALLS or (not value.quote and _in_call(text, first)):
        return False
    if not form.spaced and not form.colon and not form.comma and form.data:
        return True
    if form.comma or name.startswith("ansible_"):
        return not form.comma
    return (
        _USER_BEFORE.search(text, max(0, first - MAX_USER_BEFORE), first) is not None
        or _USER_AFTER.match(text, value.end) is not None
    )


def _in_call(text: str, first: int) -> bool:
    """Tell whether a bracket is open on the line: the arguments of a call are names."""
    line = text[max(text.rfind("\n", 0, first) + 1, first - MAX_USER_BEFORE) : first]
    return line.count("(") > line.count(")")


def _known(text: str, first: int, name: str, names: Names, work: Work) -> Name | None:
    if name.lower() == "key":
        sign, before = text[first - 1 : first], None
        if sign in {"?", "&"}:
            return names.classify("query_key")
        if sign == " ":
            work.left -= NAME
            before = _BEFORE_KEY.match(text[max(0, first - MAX_WORDS_BEFORE) : first][::-1])
        # `<entry key="…">` has a name there, not a secret.
        if before is not None and text[first - before.end() - 1 : first - before.end()] != "<":
            words = before.group()[::-1].strip().lower()
            return names.classify(_ARTICLE.sub("", words) + " key")
    return names.classify(name)


def _reading(value: Value) -> float:
    """Tell what it costs to read and judge a value; a quote is found at once, however far, the end of a word is not."""
    return judging(len(value.text)) + (0 if value.quote else passing(len(value.text)))


def _hit(known: Name, value: Value, end: int, text: str, first: int) -> Iterator[Hit]:
    """Mask the secret of a value: not the user in front of a password, nor the fragment behind a query."""
    start = value.start
    told_user = known.rule_id == CREDENTIAL_ID or text.startswith("USERPWD", first + 8)
    user = _USER.match(value.text) if told_user else None
    if user is not None and not looks_random(user.group()):
        start += user.end()
    elif (written_as := _WRITTEN_AS.match(value.text)) is not None:
        start += written_as.end()
    if text[first - 1 : first] in {"?", "&"} and (fragment := text.find("#", start, end)) > start:
        end = fragment
    # What was masked already stays, whatever stands in front of it.
    if start == value.start or not left_alone(text[start:end]):
        yield Hit(start, end, known.rule_id, text[start:end])


def _form(joint: Joint, text: str, first: int, flag: int, value: Value) -> Form:
    upper = text[first : first + 64].split("=", 1)[0].split(" ", 1)[0].isupper()
    return Form(
        spaced=joint.spaced,
        colon=joint.sign in {":", "\uff1a"},
        prose=joint.join in {Join.PROSE, Join.FAR_PROSE},
        far=joint.join == Join.FAR_PROSE,
        data=bool(joint.close[:1] in {'"', "'", "&"} and value.quote)
        or flag > 0
        or upper
        or text.startswith("TF_VAR_", first)
        or text[first - 1 : first] in {"?", "&"}
        or joint.join == Join.ELEMENT,
        keyed=joint.close[:1] in {'"', "'"} and len(value.text) >= MIN_KEYED_DIGITS,
        comma=joint.join == Join.COMMA,
        compared=joint.sign in _COMPARES,
        loose=joint.join in {Join.LOOSE, Join.CELL},
    )


def _cell(text: str, at: int) -> Value | None:
    """Read a cell of comma-separated values."""
    found = _CELL.match(text, at)
    return Value(at, found.end(), found.group(), "", closed=True) if found else None


def read_value(text: str, at: int) -> Value | None:
    """Read the value at `at`; None when there is none.

    A quote that is not closed on its line ends there. A value at the bound ends at the bound: what follows is as long as a
    file and no credential.
    """
    quoted = QUOTED.match(text, at)
    if quoted is not None:
        return quoted_value(text, quoted)
    found = _WORD.match(text, at)
    if found is None:
        return None
    word = found.group()
    if found.end() - at == MAX_WORD_CHARS:
        # No word of a sentence is as long: all of it is one value.
        end = _REST.match(text, at)
        return Value(at, end.end(), text[at : end.end()], "", closed=True) if end else None
    if "," in word:
        cut = _KV_NEXT.search(word)
        word = word[: cut.start()] if cut is not None else word
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


def _after_blank(text: str, first: int, at: int, known: Name, flag: int, work: Work) -> Iterator[Hit]:
    """Judge a value behind blanks: `--password x`, `ENV DB_PASSWORD x`, `wifi pw x`."""
    value = read_value(text, at)
    work.left -= _reading(value) if value is not None else judging(0)
    if value is None or value.text.startswith(("-", " ", "*")) or _ASSIGNMENT.match(value.text):
        return
    if not flag and not value.quote and "," in value.text:
        return
    written = value.text[:MAX_JUDGED_CHARS]
    # "the token count": a word of small letters is a value behind a flag only.
    if not flag and written.islower() and written.isascii() and written.isalpha():
        return
    if not flag and not value.quote and (is_code(written) or written.startswith(text[first:at].rstrip())):
        # `#define PKCS12_key_gen PKCS12_key_gen_utf8` gives a name another one.
        return
    if (known.strength == Strength.HINT and not looks_issued(written)) or names_type(known, written):
        return
    if namespaced(known, written):
        return
    number = flag > 0 and known.password and written.isdigit() and len(written) >= 4
    if not number and left_alone(written):
        return
    if flag:
        accepted = _flag_value(text, value, written, known)
    else:
        drawn = (
            looks_random(written, at_least=10)
            and not identifier(written)
            and (not value.quote or looks_issued(written))
            and has_digit(written)
        )
        accepted = drawn or (
            (looks_like_password(written) or looks_random(written)) and _variable(text, first)
        )
        # A table of two columns.
        accepted = accepted or (
            known.password and text[at - 2 : at].isspace() and "\n" not in text[at - 2 : at] and told(written)
        )
    if accepted:
        yield from _hit(known, value, value.end, text, first)


def _flag_value(text: str, value: Value, written: str, known: Name) -> bool:
    if "://" in written or (not value.quote and is_code(written) and not has_digit(written)):
        return False
    drawn = looks_random(written)
    password = looks_like_password(written)
    if known.strength == Strength.WEAK and not (drawn or (known.password and password)):
        return False
    if not (known.password or password or drawn or len(written) >= 16):
        return False
    # In prose a flag is named, not used: "use the --password flag".
    return bool(value.quote) or not written.isalpha() or not more_words(text, value.end)


_SETTING: Final = re.compile(
    r"(?:^|[\s;&|(])(?:set|setenv|ENV|ARG|setx|env|export|secret|requirepass|BY)\b[^\n]{0,40}?$", re.ASCII
)


def _variable(text: str, first: int) -> bool:
    """Tell whether a command that sets variables stands before the name."""
    return _SETTING.search(text, max(0, first - 48), first) is not None or text[first : first + 3].isupper()
