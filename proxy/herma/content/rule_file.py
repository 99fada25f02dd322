"""One rule from one file, proved by its own examples before it is used.

Strict: an unknown key, a file name that is not the id, a pattern outside the linear subset or an example that proves the
opposite is a problem with its place. All problems of a file are found, not only the first.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from herma.errors import ConfigError, ContentError
from herma.policy.decision import Level
from herma.policy.pattern import PatternError, compile_pattern, examine_pattern
from herma.policy.rule import Examples, Rule, Status
from herma.yamlfile import Loaded, load

__all__ = ["load_rule", "matcher", "read_rule"]

# Two on each side: one example proves a pattern for one text, two begin to show its edge.
MIN_EXAMPLES: Final = 2

_REQUIRED: Final = ("id", "title", "status", "level", "description", "examples")
_OPTIONAL: Final = ("references", "falsepositives", "tags", "keywords", "pattern", "options")


def load_rule(text: bytes, file: str, family: str) -> Rule:
    """Read and prove one rule.

    Raises:
        ContentError: with the place of the first thing wrong.
    """
    read = read_rule(text, file, family)
    if isinstance(read, Rule):
        return read
    raise read[0]


def read_rule(text: bytes, file: str, family: str) -> Rule | tuple[ContentError, ...]:
    """Read and prove one rule; give everything that is wrong with it instead if anything is."""
    try:
        loaded = load(text, file)
    except ConfigError as error:
        return tuple(ContentError(problem.message, problem.source) for problem in error.problems)
    if not isinstance(loaded.value, dict):
        return (ContentError("a rule is a mapping of keys to values", loaded.at(())),)
    fields = _Fields(loaded)
    rule = Rule(
        id=fields.text("id"),
        family=family,
        title=fields.text("title"),
        status=fields.choice("status", Status, Status.EXPERIMENTAL),
        level=fields.choice("level", Level, Level.HIGH),
        description=fields.text("description"),
        examples=Examples(fields.examples("match"), fields.examples("no_match")),
        references=fields.texts("references"),
        falsepositives=fields.texts("falsepositives"),
        tags=fields.texts("tags"),
        keywords=fields.texts("keywords"),
        pattern=fields.text("pattern") if "pattern" in fields.value else "",
        options=fields.mapping("options"),
    )
    name = file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".yaml")
    if rule.id and rule.id != name:
        fields.wrong(f"the id must be the file's name, {name!r}", "id")
    for index, keyword in enumerate(rule.keywords):
        if keyword != keyword.lower():
            fields.wrong(
                "keywords are compared with lower-cased text; write them lower-case", "keywords", index
            )
    if rule.pattern:
        for message, path in _unproved(rule):
            fields.wrong(message, *path)
    return tuple(fields.problems) or rule


def _unproved(rule: Rule) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    try:
        examine_pattern(rule.pattern)
    except PatternError as error:
        yield f"pattern, character {error.column}: {error}", ("pattern",)
        return
    matches = matcher(rule)
    for index, example in enumerate(rule.examples.match):
        if not matches(example):
            yield "this example is not matched by keywords and pattern", ("examples", "match", index)
    for index, example in enumerate(rule.examples.no_match):
        if matches(example):
            yield "this example is matched, and must not be", ("examples", "no_match", index)


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
    """The keys of one file, read strictly; what is wrong is noted and replaced by something harmless."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.value: Mapping[str, Any] = loaded.value
        self.problems: list[ContentError] = []
        known = _REQUIRED + _OPTIONAL
        for key in self.value:
            if key not in known:
                self.wrong(f"unknown key; expected one of {', '.join(known)}", key)
        for key in _REQUIRED:
            if key not in self.value:
                self.wrong(f"the key {key!r} is missing")

    def wrong(self, message: str, *path: str | int) -> None:
        self.problems.append(ContentError(message, self._loaded.at(path)))

    def text(self, key: str) -> str:
        value = self.value.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if key in self.value:
            self.wrong(f"{key} must be text that is not empty", key)
        return ""

    def texts(self, key: str) -> tuple[str, ...]:
        return self._texts(self.value.get(key, []), key)

    def _texts(self, value: object, *path: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            self.wrong("expected a list of texts", *path)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item:
                self.wrong("expected text that is not empty", *path, index)
        return tuple(item for item in value if isinstance(item, str) and item)

    def choice[E: (Status, Level)](self, key: str, kind: type[E], otherwise: E) -> E:
        text = self.text(key)
        try:
            return kind(text) if text else otherwise
        except ValueError:
            self.wrong(f"expected one of {', '.join(item.value for item in kind)}", key)
            return otherwise

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.value.get(key, {})
        if isinstance(value, dict):
            return value
        self.wrong(f"{key} must be a mapping", key)
        return {}

    def examples(self, kind: str) -> tuple[str, ...]:
        if "examples" not in self.value:
            return ()
        examples = self.value["examples"]
        if not isinstance(examples, dict):
            if kind == "match":
                self.wrong("examples must be a mapping", "examples")
            return ()
        for key in examples:
            if kind == "match" and key not in {"match", "no_match"}:
                self.wrong("unknown key; expected match and no_match", "examples", key)
        found = self._texts(examples[kind], "examples", kind) if kind in examples else ()
        if len(found) < MIN_EXAMPLES:
            self.wrong(f"at least {MIN_EXAMPLES} {kind} examples are needed", "examples")
        return found
