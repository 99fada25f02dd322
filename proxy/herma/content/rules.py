"""Rules from YAML, one a file, each proved by its own examples before it is used.

Strict: an unknown key, a duplicate id, a file name that is not the id, a pattern outside the linear subset, an example
that proves the opposite, or a directory without rules is an error with its place. Nothing is skipped.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any, Final

from herma.errors import ConfigError, ContentError, Source
from herma.policy.decision import Level
from herma.policy.pattern import PatternError, compile_pattern, examine_pattern
from herma.policy.rule import Examples, Rule, Status
from herma.yamlfile import Loaded, load

__all__ = ["load_rule", "load_rules", "matcher", "read_rule_file", "rule_files"]

# Two on each side: one example proves a pattern for one text, two begin to show its edge.
MIN_EXAMPLES: Final = 2
# A rule file is a page of text. Larger ones are not rules, and are not parsed.
MAX_RULE_BYTES: Final = 64 * 1024
# More files than this in one family is a directory put there by mistake (node_modules, a home directory).
MAX_RULES: Final = 2000

_REQUIRED: Final = ("id", "title", "status", "level", "description", "examples")
_OPTIONAL: Final = ("references", "falsepositives", "tags", "keywords", "pattern", "options")


def load_rules(directory: Traversable, family: str, own: Sequence[Traversable] = ()) -> tuple[Rule, ...]:
    """Read every rule of a family, ordered by id; those of the `own` directories are added to the first one's.

    Raises:
        ContentError: a file cannot be used, an id occurs twice, or there is no rule at all.
    """
    entries = rule_files(directory)
    if not entries:
        raise ContentError(
            f"no {family} rules here; without rules nothing would be found", Source(str(directory))
        )
    entries += [entry for place in own for entry in rule_files(place)]
    rules: dict[str, Rule] = {}
    files: dict[str, Traversable] = {}
    for entry in entries:
        rule = load_rule(read_rule_file(entry), str(entry), family)
        # File systems that fold case can hold one id under two spellings.
        key = rule.id.casefold()
        if key in rules:
            raise ContentError(
                f"the id {rule.id!r} is taken by {files[key]}; an id is never used twice, choose another",
                Source(str(entry)),
            )
        rules[key], files[key] = rule, entry
    return tuple(rules[key] for key in sorted(rules))


def rule_files(directory: Traversable) -> list[Traversable]:
    """List the rule files of one directory, by name.

    Raises:
        ContentError: it is no directory, or holds more files than rules can be.
    """
    if not directory.is_dir():
        raise ContentError("not a directory; rules were expected here", Source(str(directory)))
    entries = [entry for entry in directory.iterdir() if entry.name.endswith(".yaml")]
    if len(entries) > MAX_RULES:
        raise ContentError(f"more than {MAX_RULES} rule files", Source(str(directory)))
    return sorted(entries, key=lambda entry: entry.name)


def read_rule_file(entry: Traversable) -> bytes:
    """Read the text of one rule.

    Raises:
        ContentError: it cannot be read, or is no page of text.
    """
    try:
        text = entry.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror}", Source(str(entry))) from error
    if len(text) > MAX_RULE_BYTES:
        raise ContentError(
            f"larger than {MAX_RULE_BYTES} bytes; a rule is a page of text", Source(str(entry))
        )
    return text


def load_rule(text: bytes, file: str, family: str) -> Rule:
    """Read and prove one rule.

    Raises:
        ContentError: with the place of the first thing wrong.
    """
    try:
        loaded = load(text, file)
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error
    fields = _Fields(loaded)
    fields.check_keys()
    name = file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".yaml")
    rule = Rule(
        id=fields.text("id"),
        family=family,
        title=fields.text("title"),
        status=fields.choice("status", Status),
        level=fields.choice("level", Level),
        description=fields.text("description"),
        examples=Examples(fields.examples("match"), fields.examples("no_match")),
        references=fields.texts("references"),
        falsepositives=fields.texts("falsepositives"),
        tags=fields.texts("tags"),
        keywords=fields.texts("keywords"),
        pattern=fields.text("pattern") if "pattern" in fields.value else "",
        options=fields.mapping("options"),
    )
    if rule.id != name:
        raise fields.error(f"the id must be the file's name, {name!r}", "id")
    _prove(rule, fields)
    return rule


def _prove(rule: Rule, fields: "_Fields") -> None:
    for index, keyword in enumerate(rule.keywords):
        if keyword != keyword.lower():
            raise fields.error(
                "keywords are compared with lower-cased text; write them lower-case", "keywords", index
            )
    if not rule.pattern:
        return
    try:
        examine_pattern(rule.pattern)
    except PatternError as error:
        raise fields.error(f"pattern, character {error.column}: {error}", "pattern") from error
    matches = matcher(rule)
    for kind, expected in (("match", True), ("no_match", False)):
        for index, example in enumerate(getattr(rule.examples, kind)):
            if matches(example) is not expected:
                wrong = (
                    "is not matched by keywords and pattern" if expected else "is matched, and must not be"
                )
                raise fields.error(f"this example {wrong}", "examples", kind, index)


def matcher(rule: Rule) -> Callable[[str], bool]:
    """Build the plain test of a rule: one of its keywords is there, and the pattern is found."""
    pattern = compile_pattern(rule.pattern)

    def matches(text: str) -> bool:
        lowered = text.lower()
        return (not rule.keywords or any(word in lowered for word in rule.keywords)) and pattern.search(
            text
        ) is not None

    return matches


class _Fields:
    """The keys of one file, read strictly."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        if not isinstance(loaded.value, dict):
            raise ContentError("a rule is a mapping of keys to values", loaded.at(()))
        self.value: Mapping[str, Any] = loaded.value

    def error(self, message: str, *path: str | int) -> ContentError:
        return ContentError(message, self._loaded.at(path))

    def check_keys(self) -> None:
        known = _REQUIRED + _OPTIONAL
        for key in self.value:
            if key not in known:
                raise self.error(f"unknown key; expected one of {', '.join(known)}", key)
        for key in _REQUIRED:
            if key not in self.value:
                raise ContentError(f"the key {key!r} is missing", self._loaded.at(()))

    def text(self, key: str) -> str:
        value = self.value[key]
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{key} must be text that is not empty", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return self._texts(self.value.get(key, []), key)

    def _texts(self, value: object, *path: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self.error("expected a list of texts", *path)
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item:
                raise self.error("expected text that is not empty", *path, index)
        return tuple(value)

    def choice[E: (Status, Level)](self, key: str, kind: type[E]) -> E:
        try:
            return kind(self.text(key))
        except ValueError:
            raise self.error(f"expected one of {', '.join(item.value for item in kind)}", key) from None

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.value.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{key} must be a mapping", key)
        return value

    def examples(self, kind: str) -> tuple[str, ...]:
        examples = self.mapping("examples")
        for key in examples:
            if key not in {"match", "no_match"}:
                raise self.error("unknown key; expected match and no_match", "examples", key)
        if (
            len(found := self._texts(examples.get(kind, []), "examples", kind) if kind in examples else ())
            < MIN_EXAMPLES
        ):
            raise self.error(f"at least {MIN_EXAMPLES} {kind} examples are needed", "examples")
        return found
