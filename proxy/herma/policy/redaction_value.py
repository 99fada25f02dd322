"""Is this value a secret, or a reference, a placeholder, a number, a path, a word?

A value is judged without its surroundings here; the grammar knows the name beside it. Masking a `$VAR` leaks nothing but
misleads the person who approves, so references and placeholders are left alone.
"""

import re
from itertools import pairwise
from typing import Final

from herma.policy.fingerprint import without_placeholders

__all__ = [
    "is_code",
    "is_dull",
    "is_path",
    "is_placeholder",
    "is_prose",
    "is_reference",
    "looks_like_password",
    "looks_random",
]

_REFERENCE: Final = re.compile(
    r"""
      (?:\$\{?[A-Za-z_][\w:.?+/-]{0,200}+\}?){1,8}$      # $VAR ${VAR:-x} $env:VAR $A$B
    | \$\{ | \$\( | \$\w{1,64}+->              # ${…, $(…
    | \$[0-9@*\#?!]                            # $1 $@
    | ` | <[^>]{0,200}+>?$ | \{\{ | \#\{       # `…` <…> {{…}} \#{…}
    | \{[\w.$\[\]'"()! -]{0,80}+\}             # {name}
    | %[A-Za-z_]\w{0,64}+%$ | %(?:\(\w{0,32}\))?[sdr]$   # %VAR% %s %(x)s
    | !\w{1,16}+\s | @[\w./~-]{1,200}+$       # !Ref x, !secret x, @file
    | \( | \[\s? | &[a-z*]                     # a tuple, a list, a pointer
    """,
    re.VERBOSE | re.ASCII,
)
_CODE: Final = re.compile(
    r"""
      (?:os\.environ|os\.getenv|process\.env|import\.meta|env\.|System\.getenv|getenv|ENV\[|Deno\.env|std::env|viper\.)
    | (?:await|new|lambda|return|function|async|not|if|yield)(?:\s|$)
    | [A-Za-z_$][\w$]{0,64}+(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,64}+){0,8}+[!?]?\s?[(\[]   # f( a.b( a[
    | (?:self|this|cls|cfg|config|conf|settings|args|opts|options|params|var|local|data|secrets|env|vars|steps|user|request|req|
        res|resp|response|ctx|context|props|state|form|body|event|values|global|process|input|inputs|account|session|client|
        obj|object|row|item|credentials|creds|auth|token|tokens|key|e|i|r|t|n|o|a|s|db)
      (?:\??\.|::|->|\[)[A-Za-z_]
    | [a-z_]\w{0,40}+(?:\.[a-z_]\w{0,40}+){0,4}+\.(?:password|passwd|token|secret|key|value|current|text|data|get|env)\b
    """,
    re.VERBOSE | re.ASCII,
)
# Words that stand where a value would, in schemas, forms, type annotations, examples and logs.
_DULL: Final = frozenset(
    [
        "string",
        "str",
        "bytes",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "object",
        "array",
        "any",
        "unknown",
        "void",
        "never",
        "char",
        "text",
        "varchar",
        "optional",
        "required",
        "null",
        "none",
        "nil",
        "nan",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "ok",
        "empty",
        "unset",
        "missing",
        "invalid",
        "valid",
        "expired",
        "hidden",
        "masked",
        "redacted",
        "default",
        "auto",
        "disabled",
        "enabled",
        "never",
        "always",
        "prompt",
        "ask",
        "stdin",
        "env",
        "file",
        "keychain",
        "keyring",
        "vault",
        "basic",
        "bearer",
        "digest",
        "negotiate",
        "ntlm",
        "oauth",
        "oauth2",
        "oidc",
        "saml",
        "ldap",
        "jwt",
        "hmac",
        "rsa",
        "x509",
        "mtls",
        "tls",
        "ssl",
        "rbac",
        "apikey",
        "header",
        "cookie",
        "query",
        "plain",
        "md5",
        "sha1",
        "sha256",
        "sha512",
        "scram-sha-256",
        "bcrypt",
        "argon2",
        "login",
        "session",
        "local",
        "client_secret_basic",
        "client_secret_post",
        "private_key_jwt",
        "client_credentials",
        "authorization_code",
        "refresh_token",
        "password",
        "token",
        "secret",
        "key",
        "username",
        "user",
        "pass",
        "passwd",
        "pwd",
        "credentials",
        "credential",
        "passphrase",
        "passwort",
        "kennwort",
        "mot",
        "contraseña",
        "senha",
        "wachtwoord",
        "lösenord",
        "hasło",
        "пароль",
        "api-key",
        "api_key",
        "apitoken",
        "accesstoken",
        "credentialtype",
        "userpassword",
        "new-password",
        "current-password",
        "one-time-code",
        "foo",
        "bar",
        "baz",
        "foobar",
        "test",
        "testing",
        "tests",
        "example",
        "sample",
        "dummy",
        "demo",
        "changeme",
        "change-me",
        "change_me",
        "secret123",
        "s3cr3t",
        "strong",
        "weak",
        "medium",
        "error",
        "warning",
        "failed",
        "success",
        "self",
        "this",
        "the",
        "a",
        "an",
        "is",
        "was",
        "are",
        "not",
        "value",
        "values",
        "name",
        "id",
        "type",
        "here",
        "self.password",
        "self.token",
        "const",
        "let",
        "var",
        "final",
        "static",
        "public",
        "private",
        "protected",
        "fn",
        "def",
        "func",
        "function",
        "in",
        "at",
        "of",
        "and",
        "or",
        "for",
        "from",
        "to",
        "with",
        "by",
        "via",
        "as",
        "be",
        "has",
        "have",
        "must",
        "should",
        "can",
        "may",
        "will",
        "when",
        "where",
        "if",
        "then",
        "else",
        "it",
        "its",
        "your",
        "our",
        "my",
    ]
)
_PLACEHOLDER: Final = re.compile(
    r"your[-_ ]?|[-_]your|example|placeholder|change[-_]?me|redacted|replace[-_]?(?:me|with|this)|insert[-_]|<[a-z]|\.\.\.|…|\*{3}|x{4}"
    r"|fake[-_]?(?:key|token|secret)|dummy|\bfoo\b|todo\b|\bmy[-_](?:api|secret|token|key|pass)|some[-_]?(?:secret|token|key|password)"
    r"|(?:test|sample|demo)[-_]?(?:key|token|secret|password)s?$|(?:token|key|secret|password)[-_]?here|_here$|^put[-_]|^enter[-_]"
    r"|^(?:api|access|secret|auth|bot|user)[-_ ]?(?:key|token|secret|password|id)$|0123456789|^1234567890[a-z]{0,6}$",
    re.ASCII,
)
_PROSE_WORDS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "must",
        "should",
        "can",
        "may",
        "your",
        "you",
        "our",
        "my",
        "his",
        "her",
        "their",
        "its",
        "this",
        "that",
        "these",
        "those",
        "not",
        "no",
        "only",
        "please",
        "enter",
        "type",
        "choose",
        "forgot",
        "forgotten",
        "reset",
        "change",
        "new",
        "wrong",
        "invalid",
        "incorrect",
        "missing",
        "required",
        "optional",
        "field",
        "at",
        "least",
        "characters",
        "and",
        "or",
        "for",
        "from",
        "with",
        "without",
        "to",
        "of",
        "in",
        "on",
        "by",
        "be",
        "has",
        "have",
        "been",
        "it",
        "we",
        "they",
        "if",
        "when",
        "while",
        "before",
        "after",
        "use",
        "used",
        "using",
    ]
)
# What 512 characters look like, the rest looks like.
MAX_JUDGED_CHARS: Final = 512
_NUMBER: Final = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F]{1,8}|\d[\d_,.:]*+)(?:%|[smhdwy]|ms|kb|mb|gb|KB|MB|GB|px|em|rem|s)?$", re.ASCII
)
_PATH: Final = re.compile(
    r"(?:~|\.{1,2}|\$\w+)?/[\w.@%+~-]{1,80}+(?:/|$)|[A-Za-z]:\\|[\w.-]{1,64}\.(?:pem|key|crt|json|ya?ml|env|txt|py|js|ts|go|md|toml|cfg|conf|p12|pub|gpg|age)$",
    re.ASCII,
)
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}+://", re.IGNORECASE | re.ASCII)
_SEPARATORS: Final = re.compile(r"[-_.\s/:,]+", re.ASCII)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){1,4}[\w.+-]{0,20}+$", re.ASCII)
_WORDY_PART: Final = re.compile(
    r"(?:[a-z]{1,24}|[A-Z][a-z]{0,24}|[A-Z]{1,24}|v?\d{1,4}[a-z]?|[a-z]{1,12}\d{1,3}|[a-z]{0,20}(?:[A-Z][a-z]{1,20}){2,12}\d{0,2})$",
    re.ASCII,
)


def is_reference(value: str) -> bool:
    """Tell whether the value is filled in elsewhere: `$VAR`, `${{ x }}`, `$(cmd)`, `<name>`, `{name}`, `%s`."""
    # What was masked inside a reference leaves it one: masking twice is masking once.
    return any(_REFERENCE.match(written) for written in {value, without_placeholders(value)})


def is_code(value: str) -> bool:
    """Tell whether an unquoted value is an expression: a call, an attribute, an environment look-up."""
    return _CODE.match(value) is not None


def is_placeholder(value: str) -> bool:
    """Tell whether the value only marks where a secret would stand, or was masked already."""
    value = value[:MAX_JUDGED_CHARS]
    rest = without_placeholders(value)
    if rest != value and sum(character.isalnum() for character in rest) < 3:
        return True
    lowered = rest.lower()
    # Two distinct characters are a pattern (xxxx, 0000, ****), not a secret.
    return len(set(lowered)) <= 2 < len(lowered) or _PLACEHOLDER.search(lowered) is not None


def is_path(value: str) -> bool:
    """Tell whether the value is a file name or a URL without user info: where a secret is kept, not the secret."""
    return _PATH.match(value) is not None or (_URL.match(value) is not None and "@" not in value)


def is_dull(value: str) -> bool:
    """Tell whether the value is a common word, a number, a duration or a version."""
    return (
        value.lower().rstrip("?!;:,.") in _DULL
        or _NUMBER.match(value) is not None
        or _VERSION.match(value) is not None
    )


def is_prose(value: str) -> bool:
    """Tell whether a value of several words reads as a sentence."""
    words = value.lower().split()
    if len(words) < 2:
        return False
    # One mark ends a word of a sentence; `a::` is an argument, and its end may become a placeholder.
    return value.endswith(("?", "!", ".", "…", ":")) or any(
        (word[:-1] if word[-1] in ",.;:!?" else word) in _PROSE_WORDS for word in words
    )


def looks_like_password(value: str) -> bool:
    """Tell whether a value could be what a person or a generator chose: letters with digits or signs, no identifier."""
    if len(value) < 6:
        return False
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    return letters and (
        digits or any(not character.isalnum() and character not in "_-./:," for character in value)
    )


def looks_random(value: str, *, at_least: int = 8) -> bool:
    """Tell whether the characters look drawn, not written.

    Words joined by signs (`pplx-embed-context-v1-large`), identifiers and versions are written; a run in which digits, lower
    and upper case alternate is drawn.
    """
    if len(value) < at_least:
        return False
    value = value[:MAX_JUDGED_CHARS]
    if all(_WORDY_PART.match(part) for part in _SEPARATORS.split(value) if part):
        return False
    kinds = [_kind(character) for character in value if character.isalnum()]
    if len(kinds) < at_least or len(set(kinds)) < 2:
        return False
    switches = sum(first != second for first, second in pairwise(kinds))
    # CamelCaseIdentifiersOfFourWords switch twice a word: about one in four or five.
    return switches >= max(2, len(kinds) // (6 if 0 in kinds else 3))


def _kind(character: str) -> int:
    return 0 if character.isdigit() else 1 if character.islower() else 2
