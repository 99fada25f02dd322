"""Is this value a secret, or a reference, a placeholder, a number, a path, a word?

A value is judged without its surroundings here; the grammar knows the name beside it. Masking a `$VAR` leaks nothing but
misleads the person who approves, so references and placeholders are left alone.
"""

import re
from typing import Final

from herma.policy.redaction.fingerprint import without_placeholders
from herma.policy.redaction.gate import Gate
from herma.policy.redaction.vocabulary import DULL, PROSE

__all__ = [
    "is_code",
    "is_dull",
    "is_path",
    "is_placeholder",
    "is_prose",
    "is_reference",
    "is_wordy",
    "looks_issued",
    "looks_like_password",
    "looks_random",
]

_REFERENCE: Final = re.compile(
    r"""
      \$\$[({A-Za-z_]                            # $$VAR of a compose file
    | (?:\$\{?[A-Za-z_][\w:.?+/-]{0,200}+\}?){1,8}$      # $VAR ${VAR:-x} $env:VAR $A$B
    | \$\{ | \$\( | \$\w{1,64}+->              # ${…, $(…
    | \$[0-9@*\#?!]                            # $1 $@
    | \((?:[a-z]{1,16}[ ]?){0,4}+\)$ | \[(?:[a-z]{1,16}[ ]?){0,4}+\]$   # (none), [hidden]
    | `[^`]{0,400}+`$ | <[^>]{0,200}+>?$ | \{\{ | \#\{       # `…` <…> {{…}} \#{…}
    | \{[\w.$\[\]'"()!:, -]{0,80}+\}             # {name}
    | \.[*+][/|\#,]\w{0,40}[ :]?$                   # .*/name: of an editor of lines
    | %[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}\.?$   # %NL80211_ATTR_MAC of the documents of a kernel
    | %[A-Za-z_]\w{0,64}+%$ | %(?:\(\w{0,32}\))?[sdr](?:[:/@,;.-]%(?:\(\w{0,32}\))?[sdr]){0,3}$   # %VAR% %s %(x)s
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
# What refers to something else in code, in YAML and on a command line, but not between quotes.
_BARE_REFERENCE: Final = re.compile(
    r"""
      !\w{1,16}+\s | !(?:vault|secret|env|ref|sub|getatt|include|file|encrypted|reference|var)$
    | @[\w./~-]{1,200}+$                       # @file
    | ` | \( | \[ | &[a-z*]                   # a command, a tuple, a list, a pointer: their close may be words away
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"""
      (?:os\.environ|os\.getenv|process\.env|import\.meta|env\.|System\.getenv|getenv|ENV\[|Deno\.env|std::env|viper\.)
    | (?:await|new|lambda|return|function|async|not|if|yield)(?:\s|$)
    | [A-Za-z_$][\w$]{0,64}+(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,64}+){0,8}+[!?]?\s?[(\[]   # f( a.b( a[
    | \([A-Z][A-Za-z]{1,14}-[A-Z][A-Za-z]{2,30}(?:\s|$)   # (Get-Content x) of PowerShell
    | \d{0,3}\*\d{0,3}[A-Za-z("]                # 1*tchar of a grammar
    | [A-Za-z][A-Za-z0-9]{1,20}+(?:-[A-Za-z0-9]{1,12}){1,3}\([A-Za-z]   # HMAC-SHA1(x
    | (?:self|this|cls|cfg|config|conf|settings|args|opts|options|params|var|local|data|secrets|env|vars|steps|user|request|req|
        res|resp|response|ctx|context|props|state|form|body|event|values|global|process|input|inputs|account|session|client|
        obj|object|row|item|credentials|creds|auth|token|tokens|key|e|i|r|t|n|o|a|s|db)
      (?:\??\.|::|->|\[)[A-Za-z_]
    | [a-z_]\w{0,40}+(?:\.[a-z_]\w{0,40}+){0,4}+\.(?:password|passwd|token|secret|key|value|current|text|data|get|env)\b
    """,
    re.VERBOSE | re.ASCII,
)
# What the two above begin with; most values begin with something else.
_REFERENCE_SIGNS: Final = frozenset("$([`<{%#!@&.")
# Where a store keeps the secret, and keys that everybody may read: `vault:kv/app#password`, `projects/x/secrets/y`, `pk_live_…`.
_KEPT_ELSEWHERE: Final = re.compile(
    r"""
      (?:vault|sops|ssm|awssm|secretref|keyvault|akv|gsm|gcpsm|doppler|keychain|keyring|conjur):(?!v\d+:)[\w.@/:\#-]{1,300}+$
    | arn:aws[\w-]{0,10}:[\w-]{2,24}:[\w-]{0,20}:\d{0,12}:[\w/+=,.@:-]{1,300}+$
    | projects/[\w-]{1,40}/secrets/[\w-]{1,255}(?:/versions/\w{1,20})?$
    | (?:env|file):[\w./${}-]{1,200}+$
    | sha(?:1|224|256|384|512)[=:-](?=[A-Za-z0-9+/_-]{20})   # the digest of a file
    | @Microsoft\.KeyVault\( | %env\( | \{\{resolve:
    | [pt]k\.eyJ1I | pk_(?:live|test|prod)_ | phc_ | [0-9A-F]{40}$ | (?:sk-)?(?:ssh-(?:rsa|ed25519)|ecdsa-sha2)[\w@.-]{0,40}+(?:\s|$) | AAAA[BCE][23]N
    """,
    re.VERBOSE | re.ASCII,
)
# What those begin with.
_ELSEWHERE_SIGNS: Final = frozenset("vskagdcpef@%t{0123456789ABCDEF")
# What marks a placeholder anywhere in a value, and the words that each of these marks holds.
_MARK: Final = re.compile(
    r"your|example|placeholder|change[-_]?me|redacted|replace[-_]?(?:me|with|this)|insert[-_]|<[a-z]|\.{3,}|…|\*{3,}|x{4,}"
    r"|fake[-_]?(?:key|token|secret)|dummy|\bfoo\b|todo\b|\bmy[-_](?:api|secret|token|key|pass)|some[-_]?(?:secret|token|key|password)"
    r"|(?:test|sample|demo)[-_]?(?:key|token|secret|password)s?$|(?:token|key|secret|password)[-_]?here|_here$|0123456789",
    re.ASCII | re.IGNORECASE,
)
# The example keys of a cloud's documentation look drawn, and everybody knows them.
_DOCUMENTED: Final = re.compile(
    r"(?:AKIAIOSFODNN7|AKIAI44QH8DHB|ASIAIOSFODNN7|wJalrXUtnFEMI/K7MDENG/bPxRfiCY|je7MtGbClwBF/2Zp9Utk/h3yCo8nvb)"
    r"EXAMPLE(?:KEY)?$|eyJhbGciOi",
    re.ASCII,
)
# A value that still looks drawn over so many characters without its marks was marked to pass.
MIN_MARKED_CHARS: Final = 10
# So many placeholders in one value were not put there one by one.
MAX_CHAIN: Final = 3
_MARK_WORDS: Final = Gate(
    [
        "your",
        "example",
        "placeholder",
        "change",
        "redacted",
        "replace",
        "insert",
        "<",
        "...",
        "…",
        "***",
        "xxxx",
        "fake",
        "dummy",
        "foo",
        "todo",
        "my-",
        "my_",
        "some",
        "test",
        "sample",
        "demo",
        "here",
        "0123456789",
    ]
)
# What marks one from its first character on.
_WHOLE_MARK: Final = re.compile(
    r"(?:token|key|secret|test|abc)[-_]?\d{1,4}$|(?:my|some|the|super|top|very)[-_]?secret[-_]?(?:password|pass|key|token|value|pw|string)?$"
    r"|my(?:api|secret|access|auth)?(?:token|key|secret|password)$|put[-_]|enter[-_]"
    r"|(?:api|access|secret|auth|bot|user)[-_ ]?(?:key|token|secret|password|id)$|1234567890[a-z]{0,6}$",
    re.ASCII,
)
# The shortest keys that vendors issue without a prefix have fifteen characters; a word of a program with a digit has fewer.
MIN_ISSUED_CHARS: Final = 15
# A run of letters and digits without a sign, as long as the shortest keys in hexadecimal, is no word when it holds so many of each.
LONG_RUN_CHARS: Final = 32
MIN_OF_EACH: Final = 6
# What 512 characters look like, the rest looks like.
MAX_JUDGED_CHARS: Final = 512
# The same where each character has to be asked.
MAX_FOREIGN_CHARS: Final = 64
_NUMBER: Final = re.compile(
    r"#[0-9a-fA-F]{3,8}$|[-+]?(?:0x[0-9a-fA-F]{1,8}|\d[\d_,.:]*+)(?:%|[smhdwy]|ms|kb|mb|gb|KB|MB|GB|px|em|rem|s)?$",
    re.ASCII,
)
_PATH: Final = re.compile(
    r"(?:~|\.{1,2}|\$\w+)?/[\w.@%+~-]{1,80}+(?:/|$)|[A-Za-z]:\\"
    r"|(?:[\w.-]{1,64}/){0,8}[\w.-]{1,64}\.(?:pem|key|crt|json|ya?ml|env|txt|py|js|ts|go|md|toml|cfg|conf|p12|pub|gpg|age|asm|html?|xml|sh|rs)$",
    re.ASCII,
)
# What numbers, versions and times begin with.
_NUMBER_SIGNS: Final = frozenset("0123456789-+~^<>= v#")
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}+://", re.IGNORECASE | re.ASCII)
_ISSUED: Final = re.compile(r"[A-Za-z0-9_\-+/=.~:%|!*^$]{15,512}$", re.ASCII)
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T_ ]\d\d[:-]?\d\d[\d:.,Z+-]{0,24}+)?$|\d{8}T\d{4,6}Z?$", re.ASCII
)
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT_OR_SIGN: Final = re.compile(r"\d|[^\w./:,-]")
_SEPARATORS: Final = re.compile(r"[-_.\s/:,]+", re.ASCII)
_VERSION: Final = re.compile(r"(?:[~^]|[<>]?=|[<>])?[ ]?v?\d+(?:\.\d+){1,4}[\w.+-]{0,20}+$", re.ASCII)
_WORDY_PART: Final = re.compile(
    r"(?:[a-z]{1,24}|[A-Z][a-z]{0,24}|[A-Z]{1,24}|v?\d{1,4}[a-z]?|[a-z]{1,12}\d{1,3}|[a-z]{0,20}(?:[A-Z][a-z]{1,20}){2,12}\d{0,2}"
    r"|[a-z]{2,20}(?:[A-Z][a-z]{2,20}){1,12}\d{0,2}|(?:[A-Z][a-z]{2,20}){1,12}[A-Z]{0,3}\d{0,2}|[A-Z]{2,5}[a-z]{2,20}(?:[A-Z][a-z]{2,20}){0,8}"
    r"|[A-Z][a-z]{0,20}\d{1,4}(?:[A-Z][a-z]{2,20}){1,8})$",
    re.ASCII,
)


def is_reference(value: str, *, quoted: bool = False) -> bool:
    """Tell whether the value is filled in elsewhere: `$VAR`, `${{ x }}`, `$(cmd)`, `<name>`, `{name}`, `%s`.

    A name is written; what looks drawn between the signs is a value. Between quotes, `(x` and `@x` are only characters.
    """
    if value[:1] in _ELSEWHERE_SIGNS and _KEPT_ELSEWHERE.match(value) is not None:
        return True
    if value[:1] not in _REFERENCE_SIGNS:
        return False
    found = _REFERENCE.match(value) or (None if quoted else _BARE_REFERENCE.match(value))
    return found is not None and not _drawn_name(value)


def _drawn_name(value: str) -> bool:
    return " " not in value and looks_random(value, at_least=MIN_MARKED_CHARS)


def is_code(value: str) -> bool:
    """Tell whether an unquoted value is an expression: a call, an attribute, an environment look-up."""
    return _CODE.match(value) is not None


def is_placeholder(value: str) -> bool:
    """Tell whether the value only marks where a secret would stand, or was masked already."""
    value = value[:MAX_JUDGED_CHARS]
    rest = without_placeholders(value)
    if rest != value and sum(character.isalnum() for character in rest) < 3:
        # One stands for a secret; several in a row could be one that is written so.
        return value.count("[") < MAX_CHAIN
    lowered = rest.lower()
    # Two distinct characters are a pattern (xxxx, 0000, ****), not a secret.
    if len(set(lowered)) <= 2 < len(lowered) or _WHOLE_MARK.match(lowered) is not None:
        return True
    if not _MARK_WORDS.hits(lowered) or _MARK.search(rest) is None:
        return False
    # A mark says nothing about what stands beside it.
    return _DOCUMENTED.match(rest) is not None or not looks_random(
        _MARK.sub("", rest), at_least=MIN_MARKED_CHARS
    )


def is_path(value: str) -> bool:
    """Tell whether the value is a file name or a URL without user info: where a secret is kept, not the secret."""
    if "/" not in value and "." not in value and "\\" not in value:
        return False
    return _PATH.match(value) is not None or (_URL.match(value) is not None and "@" not in value)


def is_dull(value: str) -> bool:
    """Tell whether the value is a common word, a number, a duration or a version."""
    if value.lower().rstrip("?!;:,.") in DULL:
        return True
    return value[:1] in _NUMBER_SIGNS and (
        _NUMBER.match(value) is not None
        or _VERSION.match(value) is not None
        or _TIME.match(value) is not None
    )


def is_prose(value: str) -> bool:
    """Tell whether a value of several words reads as a sentence."""
    words = value.lower().split()
    if len(words) < 2:
        return False
    return value.endswith(("?", "!", ".", "…", ":")) or any(word.strip(",.;:!?") in PROSE for word in words)


def looks_like_password(value: str) -> bool:
    """Tell whether a value could be what a person or a generator chose: letters with digits or signs, no identifier."""
    if len(value) < 6:
        return False
    return _LETTER.search(value) is not None and _DIGIT_OR_SIGN.search(value) is not None


def looks_random(value: str, *, at_least: int = 8) -> bool:
    """Tell whether the characters look drawn, not written.

    Words joined by signs (`pplx-embed-context-v1-large`), identifiers and versions are written; a run in which digits, lower
    and upper case alternate is drawn.
    """
    if len(value) < at_least:
        return False
    value = value[:MAX_JUDGED_CHARS]
    kinds = _kinds(value)
    if len(kinds) < at_least:
        return False
    if len(kinds) >= LONG_RUN_CHARS and len(kinds) == len(value) and _long_run(kinds):
        return True
    # CamelCaseIdentifiersOfFourWords switch twice a word: about one in four or five.
    wanted = max(2, len(kinds) // (6 if b"0" in kinds else 3))
    if sum(map(kinds.count, _SWITCHES)) < wanted:
        return False
    return not is_wordy(value)


def _long_run(kinds: bytes) -> bool:
    """Tell whether one run holds many digits and many letters, in whatever order: no word does, keys that count up do."""
    digits = kinds.count(b"0")
    return min(digits, len(kinds) - digits) >= MIN_OF_EACH


def is_wordy(value: str) -> bool:
    """Tell whether a value is made of words, names in code and small numbers, joined by signs."""
    return all(_WORDY_PART.match(part) is not None for part in _SEPARATORS.split(value) if part)


def looks_issued(value: str) -> bool:
    """Tell whether a machine issued the value: one long run with letters and digits, such as hexadecimal, a UUID or base64."""
    return (
        _ISSUED.match(value[:MAX_JUDGED_CHARS]) is not None
        and any(character.isdigit() for character in value)
        and looks_random(value, at_least=MIN_ISSUED_CHARS)
        and not is_dull(value)
        and not is_path(value)
    )


def _kinds(value: str) -> bytes:
    """Write letters and digits as what they are: a digit, small or capital; signs are left out."""
    if value.isascii():
        return value.encode("ascii").translate(_KINDS, _SIGNS)
    return bytes(map(_kind, filter(str.isalnum, value[:MAX_FOREIGN_CHARS])))


def _kind(character: str) -> int:
    return ord("0" if character.isdigit() else "1" if character.islower() else "2")


_SIGNS: Final = bytes(byte for byte in range(256) if byte > 127 or not chr(byte).isalnum())
_KINDS: Final = bytes(_kind(chr(byte)) for byte in range(128)).ljust(256)
_SWITCHES: Final = (b"01", b"10", b"12", b"21", b"02", b"20")
