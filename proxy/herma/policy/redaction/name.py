"""Names that have a secret beside them: `OPENAI_API_KEY`, `db.password`, `--api-key`, `X-Vault-Token`, `clientSecret`.

A name is cut into words at `_`, `.`, `-` and changes of case. What counts is its last word: `password_file` and `token_count`
name something else. The words come from the rules.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from herma.policy.redaction.gate import Gate
from herma.policy.redaction.value import looks_random
from herma.policy.redaction.vocabulary import TRAILING
from herma.policy.rule import Rule

__all__ = ["BEHIND_NAME", "Name", "Names", "Strength", "is_property", "words_of"]

_WORDS: Final = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40}+|[A-Z]|\d{1,10}+|[^\W\d_a-zA-Z]{1,20}+")
# In names written as one word (`cachekey`): what makes the rest of it no secret.
_NEVER_BEFORE: Final = ("primary", "sort", "cache", "public", "idempotency", "foreign", "partition", "bypass")
# What stands behind the word of a secret when the name is that of something else.
_PROPERTIES: Final = frozenset(
    [
        "file",
        "files",
        "filename",
        "path",
        "paths",
        "dir",
        "url",
        "uri",
        "urls",
        "endpoint",
        "host",
        "id",
        "ids",
        "name",
        "names",
        "count",
        "counts",
        "type",
        "types",
        "size",
        "length",
        "len",
        "limit",
        "limits",
        "hash",
        "hashes",
        "digest",
        "sha",
        "sha1",
        "sha256",
        "md5",
        "checksum",
        "fingerprint",
        "expiry",
        "expires",
        "expired",
        "expiration",
        "ttl",
        "timeout",
        "interval",
        "attempts",
        "retries",
        "age",
        "header",
        "headers",
        "field",
        "fields",
        "prefix",
        "suffix",
        "format",
        "pattern",
        "regex",
        "version",
        "versions",
        "arn",
        "alg",
        "algorithm",
        "policy",
        "usage",
        "used",
        "index",
        "list",
        "map",
        "cache",
        "store",
        "manager",
        "provider",
        "resolver",
        "validator",
        "parser",
        "generator",
        "factory",
        "handler",
        "helper",
        "enabled",
        "required",
        "rotation",
        "address",
        "contract",
        "symbol",
        "mint",
        "program",
        "pair",
        "usd",
        "image",
        "logo",
        "icon",
        "label",
        "title",
        "description",
        "hint",
        "error",
        "errors",
        "message",
        "ref",
        "reference",
        "ring",
        "rings",
        "bits",
        "kid",
        "iv",
        "nonce",
        "public",
        "pub",
        "config",
        "response",
        "request",
        "scope",
        "scopes",
        "info",
        "status",
        "state",
        "at",
        "created",
        "updated",
        "link",
        "mode",
        "auth",
        "budget",
        "rate",
        "price",
        "cost",
        "class",
        "kind",
        "group",
        "set",
        "get",
        "is",
        "has",
        "bytes",
        "chars",
        "uuid",
        "guid",
        "etag",
        "revision",
        "commit",
        "owner",
        "user",
        "account",
        "table",
        "column",
        "row",
        "event",
        "events",
        "topic",
        "queue",
        "service",
        "chain",
        "network",
        "supply",
        "holder",
        "holders",
        "data",
        "meta",
        "metadata",
        "spec",
        "schema",
        "key",
        "keys",
        "token",
        "tokens",
        "signature",
        "sig",
        "cert",
        "certificate",
        "options",
        "option",
        "settings",
        "setting",
        "props",
        "hashers",
        "hasher",
        "s",
        "t",
    ]
)
# What makes even two words (`api key`, `auth token`) no secret.
_NEVER_COMPOUND: Final = frozenset(("public", "pub", "publishable", "no", "without", "is", "has"))
MAX_NAME_CHARS: Final = 96
# The last part of a name that is as long as this and looks drawn is the end of a digest; its few last letters (`…59pw`) name nothing.
MIN_DRAWN_CHARS: Final = 16
MAX_ENDING_CHARS: Final = 3
# Names that are remembered.
MAX_NAMES: Final = 4096
# With so many characters behind the found word, the plural of most names ends: `tokens=`.
BEHIND_NAME: Final = 2
# A name between two characters of which no name is made.
_WHOLE: Final = re.compile(r"[^A-Za-z0-9_.-][A-Za-z0-9_]+(?:[^A-Za-z0-9_.-].?)", re.ASCII | re.DOTALL)
# The signature of a document, which everybody may read.
_XML_SIGNATURE: Final = "SignatureValue"
# What stands in front of the last part of a name.
_LAST_PART: Final = re.compile(r".*[-_.]", re.DOTALL)
# What stands between words of a name.
_JOINED: Final = {code: None for code in range(128) if not chr(code).isalnum()}


class Strength:
    """How much the name alone proves."""

    STRONG = "strong"
    # The value must look drawn as well: `key`, `auth`, `pass` stand before much that is no secret.
    WEAK = "weak"
    # The word stands inside the name (`SECRET_STRIPE`, `tokenGithub`): the value must be one that a machine issued.
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Name:
    """What a name says of the value beside it."""

    rule_id: str
    strength: str
    password: bool


@dataclass(frozen=True, slots=True)
class _Word:
    rule_id: str
    strength: str
    password: bool
    qualifiers: frozenset[str]
    not_after: frozenset[str]


class Names:
    """Classifies names by the words of the assignment rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._words: dict[str, _Word] = {}
        self._endings: dict[str, _Word] = {}
        self._weak_endings: dict[str, _Word] = {}
        self._cache: dict[str, Name | None] = {}
        # Whole names that announce nothing, with the character before and `BEHIND_NAME` behind the word that was found in them.
        self.nameless: dict[str, str] = {}
        for rule in rules:
            self._take(rule.id, rule.options)
        self._suffixes = (*self._endings, *self._weak_endings)
        words = {*self._words, *self._suffixes}
        # Most names hold none of the words, and one pass tells; without words, no name does.
        self._gate = Gate(words) if words else None

    def _take(self, rule_id: str, options: Mapping[str, Any]) -> None:
        def word(strength: str) -> _Word:
            return _Word(
                rule_id,
                strength,
                bool(options.get("password", False)),
                frozenset(options.get("qualifiers", ())),
                frozenset(options.get("not_after", ())),
            )

        self._words.update(dict.fromkeys(options.get("words", ()), word(Strength.STRONG)))
        self._words.update(dict.fromkeys(options.get("weak_words", ()), word(Strength.WEAK)))
        self._endings.update(dict.fromkeys(options.get("endings", ()), word(Strength.STRONG)))
        self._weak_endings.update(dict.fromkeys(options.get("weak_endings", ()), word(Strength.WEAK)))

    def classify(self, name: str) -> Name | None:
        """Tell what kind of secret a name announces; None when it announces none."""
        try:
            return self._cache[name]
        except KeyError:
            found = self._classify(name)
            # Names repeat; the bound keeps a text made of new names from growing the process.
            if len(self._cache) >= MAX_NAMES:
                self._cache.clear()
            self._cache[name] = found
            return found

    def forget(self, seen: str, name: str) -> None:
        """Remember a name that announces nothing by its surroundings, if it lies wholly inside them."""
        if seen[1 : 1 + len(name)] == name and _WHOLE.fullmatch(seen):
            if len(self.nameless) >= MAX_NAMES:
                self.nameless.clear()
            self.nameless[seen] = name

    def _classify(self, name: str) -> Name | None:
        if len(name) > MAX_NAME_CHARS or name == _XML_SIGNATURE:
            return None
        if not name.isascii():
            # Names of other languages are looked up whole: cutting `mật khẩu` at its accents would leave no word.
            known = self._words.get("".join(name.lower().split()))
            if known is not None:
                return self._judge(known, [], name)
        elif self._gate is None or not self._gate.hits(name.lower().translate(_JOINED)):
            return None
        words = words_of(name)
        if _ends_digest(name, words):
            return None
        if words[:2] == ["tf", "token"]:
            words = words[:2]
        while len(words) > 1 and words[-1] in TRAILING:
            words.pop()
        if not words:
            return None
        for count in (3, 2, 1):
            joined = "".join(words[-count:])
            known = self._words.get(joined)
            if known is not None and len(words) >= count:
                return self._judge(known, words[:-count], joined, compound=count > 1)
        last = words[-1]
        if not last.endswith(self._suffixes):
            return self._hinted(words)
        endings = (*self._endings.items(), *self._weak_endings.items())
        ending, known = next(pair for pair in endings if last.endswith(pair[0]))
        return self._judge(known, [*words[:-1], last[: -len(ending)]], ending)

    def _hinted(self, words: list[str]) -> Name | None:
        """Judge a name with the word inside: what stands behind it is a product or a place, not a property."""
        for count in (1, 2):
            head, tail = words[:-count], words[-count:]
            if not head or not _PROPERTIES.isdisjoint(tail):
                return None
            known = self._words.get("".join(head[-2:])) or self._words.get(head[-1])
            if known is not None:
                found = self._judge(known, head[:-1], head[-1])
                return Name(found.rule_id, Strength.HINT, found.password) if found else None
        return None

    @staticmethod
    def _judge(known: _Word, before: list[str], word: str, *, compound: bool = False) -> Name | None:
        # In `config.api_key`, `s3a.secret.key` the two words say enough.
        if before and (
            before[-1] in (known.not_after if not compound else _NEVER_COMPOUND)
            or (not compound and "".join(before[-2:]) in known.not_after)
            or before[-1].endswith(_NEVER_BEFORE)
        ):
            return None
        strength = known.strength
        if strength == Strength.WEAK and before and word == "key":
            strength = Strength.WEAK if known.qualifiers.isdisjoint(before) else Strength.STRONG
        elif strength == Strength.WEAK and not before and word == "key":
            return None
        return Name(known.rule_id, strength, known.password)


def words_of(name: str) -> list[str]:
    """Cut a name into its lower-case words."""
    return [word.lower() for word in _WORDS.findall(name)]


def _ends_digest(name: str, words: list[str]) -> bool:
    return (
        len(name) > MIN_DRAWN_CHARS
        and bool(words)
        and len(words[-1]) <= MAX_ENDING_CHARS
        and looks_random(_LAST_PART.sub("", name), at_least=MIN_DRAWN_CHARS)
    )


def is_property(name: str) -> bool:
    """Tell whether a name ends in the word of a property: an identifier, a time, a path."""
    return not _PROPERTIES.isdisjoint(words_of(name)[-1:])
