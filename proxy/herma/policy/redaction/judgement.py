"""The verdict on a value beside a name: a secret, or something that only stands where a secret would.

The name says how much it proves, the form how name and value are joined; what is left is the value itself.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from herma.policy.redaction.fingerprint import without_placeholders
from herma.policy.redaction.name import Name, Strength, words_of
from herma.policy.redaction.value import (
    MAX_JUDGED_CHARS,
    MIN_ISSUED_CHARS,
    MIN_MARKED_CHARS,
    is_code,
    is_dull,
    is_path,
    is_placeholder,
    is_prose,
    is_reference,
    is_wordy,
    looks_issued,
    looks_like_password,
    looks_random,
)

__all__ = [
    "Form",
    "Value",
    "chosen",
    "has_digit",
    "identifier",
    "judge",
    "left_alone",
    "more_words",
    "names_type",
    "namespaced",
    "told",
]

KEY_ID: Final = "key"
TOKEN_ID: Final = "token"  # noqa: S105 - the id of a rule
_IDENTIFIER: Final = re.compile(
    r"(?:[A-Za-z_$]{1,64}+\d{0,2}(?:\.[A-Za-z_$]{1,64}+\d{0,2}){0,8}|[A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){1,8}"
    r"|[A-Z][a-z]{0,20}\d{1,4}(?:[A-Z][a-z]{1,20}){1,8})$",
    re.ASCII,
)
_GOES_ON: Final = re.compile(r"[ \t]{0,4}(?:[,);\]+%]|\.[a-z])", re.ASCII)
# Names of fields, as translations and schemas hold them: `challengePassword`, `DB_PASSWORD`, `auth-token`.
_LABEL: Final = re.compile(
    r"[A-Za-z][A-Za-z_.-]{0,60}(?:[a-z][A-Z]|[_.-])(?i:assword|password|token|secret|key|oken|ecret|ey)$",
    re.ASCII,
)
# `entra-id-bearer-via-hook`: words that tell, not letters that were drawn.
_PHRASE: Final = re.compile(r"[a-z]{1,15}(?:-[a-z]{1,15}){3,12}$", re.ASCII)
# Names of types: `OAuth2Token`, `Ed25519PrivateKey`. A password may look so, a drawn value does not.
_TYPE: Final = re.compile(
    r"(?:[a-z][a-z\d_]{0,24}\.){0,3}(?:[A-Z]?[A-Z][a-z]{1,15}\d{0,5}|[A-Z]{2,6}\d{0,5}|Argon2id?|Secp256[kr]1){1,6}"
    r"(?<=oken|.Key|cret|Hash|gest|rray|ring|ffer|Type|oded|aims|tial)s?\d{0,3}(?:<[\w, <>\[\]]{1,60}>)?$",
    re.ASCII,
)
# What stands in sentences about secrets: `Argon2id`, `AES-256-GCM`, `ISO27001`, a date.
_METHOD: Final = re.compile(
    r"(?i:argon2|pbkdf2|bcrypt|scrypt|sha\d|sha-\d|aes|rsa-?\d|ed25519|x25519|secp\d|utf-?\d|oauth|openid|base64|tls|ipv)[\w.-]{0,24}$"
    r"|[A-Z]{2,8}[-_]?\d{1,6}$|\d{4}-\d\d-\d\d",
    re.ASCII,
)
_NAMESPACED: Final = re.compile(r"[a-z][a-z_-]{1,24}:[^:/]", re.ASCII)
_JOINED: Final = re.compile(r"[-_.]")
# A word with a number behind a sign, as generators of passwords write it (`Orangegarden_738`); no edition is written so.
_NUMBERED: Final = re.compile(r"[A-Z][a-z]{7,24}[_.^*!]\d{2,4}$", re.ASCII)
MIN_PHRASE_CHARS: Final = 3
MIN_PHRASE_WORDS: Final = 3
_FOREIGN: Final = re.compile(r"[^\x21-\x7e]")
_FILLED_IN: Final = re.compile(r"\{[A-Za-z_][\w.]{0,40}\}", re.ASCII)
_DIGIT: Final = re.compile(r"\d")
_MORE: Final = re.compile(r"[ \t]+[\w(]")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as written: its place, the quote around it (empty when none) and whether the quote was closed."""

    start: int
    end: int
    text: str = field(repr=False)
    quote: str
    closed: bool


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
    # An arrow, a cell of a table, the argument of a call: much stands there.
    loose: bool = False
    # `==`: code asks for a value more often than it holds one.
    compared: bool = False
    # Words of a sentence stand between name and verb.
    far: bool = False
    # The name is quoted, and a colon behind it.
    keyed: bool = False
    # A member of a JSON document: what stands there is a value, not code.
    member: bool = False


def judge(known: Name, value: Value, form: Form, text: str, name: str) -> bool:
    """Decide whether the value beside a known name is a secret."""
    written = value.text[:MAX_JUDGED_CHARS]
    if not written or is_reference(written, quoted=bool(value.quote)) or is_placeholder(written):
        return False
    if is_dull(written):
        return (
            known.password
            and known.strength != Strength.HINT
            and len(written) >= 4
            and written.isdigit()
            and (not form.colon or bool(value.quote) or form.keyed)
            and not form.prose
        )
    # In "secret: " + labels["key"] the second quote opens what follows it.
    if value.quote and _GOES_ON.match(written) and text[value.end + 1 : value.end + 2].isalnum():
        return False
    if _names_itself(written.lower(), name) or _labels(written) or _pathlike(written):
        return False
    if known.strength == Strength.HINT:
        return looks_issued(written)
    if value.quote:
        return _judge_quoted(known, value, form)
    if is_code(without_placeholders(written)):
        return False
    return _judge_bare(known, value, form, text)


def _names_itself(lower: str, name: str) -> bool:
    """Tell whether the value is the name again, or the product in it: the defaults of images (`POSTGRES_PASSWORD=postgres`)."""
    return lower == name.lower() or (lower.isalpha() and lower in words_of(name))


def _labels(written: str) -> bool:
    """Tell whether the value is the name of such a field, or the bytes of a file's head."""
    return written.startswith("\\x") or _LABEL.match(written) is not None


def _pathlike(written: str) -> bool:
    # Base64 may begin with a slash: a long value that looks drawn and has no extension is no path.
    return is_path(written) and not (
        len(written) >= 24 and "." not in written and "://" not in written and looks_random(written)
    )


def _judge_quoted(known: Name, value: Value, form: Form) -> bool:
    written = value.text[:MAX_JUDGED_CHARS]
    # In 'Token:', token the quote closed what began before the name.
    if not value.closed and _GOES_ON.match(written):
        return False
    if not value.closed and len(written) == MAX_JUDGED_CHARS:
        return looks_random(written[:64])
    if _is_template(written):
        return False
    filled = _FILLED_IN.search(written)
    if filled and not looks_random(filled.group()[1:-1], at_least=MIN_MARKED_CHARS):
        return False
    if any(character.isspace() for character in written):
        # A command between back-quotes, in a shell.
        if value.quote == "`":
            return False
        return (
            known.strength == Strength.STRONG
            and not (known.rule_id == TOKEN_ID and _words(written))
            and not form.loose
            and not is_prose(written)
            and (form.data or form.colon or not form.comma)
        )
    if not written.isascii():
        return (known.password and looks_like_password(written)) or looks_random(
            _FOREIGN.sub("", written), at_least=MIN_ISSUED_CHARS
        )
    if form.comma and known.strength == Strength.WEAK and not known.password:
        return looks_issued(written)
    # The argument of `Credential("…")` is as often the user.
    if form.loose and not (known.password and known.strength == Strength.STRONG):
        return looks_issued(written)
    if form.comma or form.prose or form.loose:
        return looks_like_password(written) and not identifier(written)
    if known.strength == Strength.WEAK:
        return looks_random(written) or (known.password and looks_like_password(written))
    if known.password:
        return len(written) >= 3 or form.data
    # A plain word may be a password or a key; beside `token` it is mostly a kind of token.
    if form.member and not (known.rule_id == TOKEN_ID and identifier(written)):
        return True
    return (
        looks_like_password(written)
        or looks_random(written)
        or (form.data and len(written) >= 5 and not identifier(written))
        or (len(written) >= 24 and not _PHRASE.match(written))
    )


def _words(written: str) -> bool:
    """Tell whether a value holds letters only, as kinds of tokens do: `code id_token`."""
    return written.replace(" ", "").replace("_", "").isalpha()


def _is_template(written: str) -> bool:
    """Tell whether parts of a quoted value are filled in; what stands whole between braces and looks drawn is no name."""
    if "{" not in written or "}" not in written:
        return False
    if "${" in written or "{{" in written:
        return True
    return written.startswith("{") and not looks_random(written[1:-1], at_least=MIN_MARKED_CHARS)


def _judge_bare(known: Name, value: Value, form: Form, text: str) -> bool:
    written = value.text[:MAX_JUDGED_CHARS]
    if form.comma:
        return False
    if names_type(known, written):
        return False
    if form.compared:
        return looks_issued(written) and not identifier(written)
    if form.loose:
        return looks_issued(written) or (
            known.password and known.strength == Strength.STRONG and chosen(written)
        )
    if form.far:
        return looks_issued(written) or (known.password and chosen(written))
    drawn = looks_random(written) or (looks_like_password(written) and not identifier(written))
    if known.strength == Strength.WEAK and not known.password:
        # `key=user:1234:…` is a place in a cache.
        return looks_random(written, at_least=12) and not namespaced(known, written)
    if known.strength == Strength.WEAK and not (form.prose or form.colon or form.spaced):
        # `pw=…`: nothing else is written so.
        return drawn and (has_digit(written) or looks_random(written, at_least=12))
    if form.prose or known.strength == Strength.WEAK:
        # A password of letters alone changes its case too often for a name.
        return (
            drawn
            and written.isascii()
            and (has_digit(written) or (known.password and looks_random(written, at_least=12)))
        )
    if drawn:
        return True
    if not written.isascii():
        return False
    following = text[value.end : value.end + 2]
    if following[:1] in {",", ")", ".", "(", "["} or form.spaced or more_words(text, value.end):
        return False
    if form.colon and not form.data:
        return known.password and len(written) >= 6 and not identifier(written)
    return len(written) >= (4 if known.password else 16)


def chosen(written: str) -> bool:
    """Tell whether a word of a sentence can only be a password: letters and digits mixed, no `12-char` and no `utf-8`."""
    return (
        len(written) >= 8
        and written.isascii()
        and has_digit(written)
        and looks_like_password(written)
        and (looks_random(written) or not written.islower() or written[-1].isdigit())
        # What changes its case so often is no name, though it could be one.
        and (not identifier(written) or looks_random(written, at_least=MIN_ISSUED_CHARS))
    )


def told(written: str) -> bool:
    """Tell whether a word behind the name of a secret is the secret: chosen, and no name of a method, a standard or a file.

    Words joined by signs are one from three on (`violet-anchor-maple-42`).
    """
    if not chosen(written) or _METHOD.match(written) is not None:
        return False
    words = sum(len(part) >= MIN_PHRASE_CHARS and part.isalpha() for part in _JOINED.split(written))
    return words >= MIN_PHRASE_WORDS or not is_wordy(written) or _NUMBERED.match(written) is not None


def left_alone(written: str) -> bool:
    """Tell whether a value is no secret whatever stands beside it."""
    return (
        not written
        or is_reference(written)
        or is_placeholder(written)
        or _pathlike(written)
        or is_dull(written)
    )


def names_type(known: Name, written: str) -> bool:
    """Tell whether the value beside a name is a type, as annotations and tables have them; a password may look so."""
    return not known.password and _TYPE.match(written) is not None


def namespaced(known: Name, written: str) -> bool:
    """Tell whether the value beside a bare `key` begins with a name, as keys of caches and stores do (`user:1234:…`)."""
    return (
        known.rule_id == KEY_ID and known.strength == Strength.WEAK and _NAMESPACED.match(written) is not None
    )


def identifier(written: str) -> bool:
    """Tell whether a value reads as a name in code, or as words joined by hyphens."""
    return _IDENTIFIER.match(written) is not None


def more_words(text: str, at: int) -> bool:
    """Tell whether a sentence goes on behind a value."""
    return _MORE.match(text, at) is not None


def has_digit(written: str) -> bool:
    """Tell whether a value holds a digit."""
    return _DIGIT.search(written) is not None
