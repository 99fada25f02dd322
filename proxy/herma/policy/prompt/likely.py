"""Rules that name what a prompt is like an attack in: the model raises the finding, the concepts it stands on choose the rule."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from herma.policy.prompt.likeness import Likeness, Mark
from herma.policy.prompt.reading import Reading
from herma.policy.prompt.vocabulary import Vocabulary
from herma.policy.rule import Rule

__all__ = ["LikelyRules", "marks", "senses"]

_OPTION: Final = "like"


class LikelyRules:
    """The rules with an option `like`: its `concepts`, and the `floor` that the model's score must reach."""

    def __init__(self, rules: Sequence[Rule], model: Likeness | None, vocabulary: Vocabulary) -> None:
        """Compile the rules.

        Raises:
            ValueError: a rule needs a model and there is none, has no floor, or names a concept that does not exist.
        """
        listed = [(rule, rule.options[_OPTION]) for rule in rules if _OPTION in rule.options]
        if listed and model is None:
            raise ValueError(f"rule {listed[0][0].id}: `like` needs weights, and there are none")
        self._model = model
        self._names = senses(concept.name for concept in vocabulary.concepts)
        self._rules = [(rule, *_read(rule, option, vocabulary)) for rule, option in listed]
        self._wanted = frozenset().union(*(concepts for _, _, concepts in self._rules))
        self._floor = min((floor for _, floor, _ in self._rules), default=0.0)

    def found(self, reading: Reading) -> Rule | None:
        """Give the rule that says best what makes a text like an attack; None where nothing does."""
        if self._model is None or not self._rules or not reading.present:
            return None
        reasons = self._model.reasons(reading.text, marks(reading, self._names), self._floor, self._wanted)
        best = max(self._rules, key=lambda one: len(one[2].intersection(reasons)))
        return best[0] if not best[2].isdisjoint(reasons) else None


def senses(names: Iterable[str]) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
    """Write each concept as the model knows it: as it is, only asked about, negated, and both."""
    return tuple(((name, f"{name}?"), (f"{name}-", f"{name}-?")) for name in names)


def marks(reading: Reading, names: Sequence[tuple[tuple[str, str], tuple[str, str]]]) -> list[Mark]:
    """Give the concepts of a text in its order, as the model knows them."""
    found = [
        (mention.start, names[concept][mention.negated][mention.reported])
        for concept, mentions in reading.mentions.items()
        for mention in mentions
    ]
    found.sort()
    return found


def _read(rule: Rule, option: Any, vocabulary: Vocabulary) -> tuple[float, frozenset[str]]:
    if not isinstance(option, Mapping) or set(option) != {"floor", "concepts"}:
        raise ValueError(f"rule {rule.id}: `like` is a mapping of `floor` and `concepts`")
    floor, concepts = option["floor"], option["concepts"]
    if not isinstance(floor, (int, float)) or not isinstance(concepts, list):
        raise ValueError(  # noqa: TRY004 - content that cannot be used, whatever its kind
            f"rule {rule.id}: `floor` is a number and `concepts` a list"
        )
    for name in concepts:
        # `tell-` is telling, negated.
        if str(name).removesuffix("-") not in vocabulary.index:
            raise ValueError(f"rule {rule.id}: there is no concept {name!r}")
    return float(floor), frozenset(concepts)
