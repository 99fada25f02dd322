"""Claims about `herma.policy.prompt.combination`."""

from typing import Any

import pytest

from herma.policy.prompt.combination import combinations
from herma.policy.prompt.reading import Reading
from herma.policy.text.bare import bare
from support.words import WORDS


def _applies(text: str, *entries: dict[str, Any]) -> bool:
    reading = Reading(WORDS, bare(text))
    return any(found.applies(reading) for found in combinations({"combine": list(entries)}, WORDS))


SEND: dict[str, Any] = {"all": ["send", "secret"]}
CASES: dict[str, tuple[str, dict[str, Any], bool]] = {
    "both": ("Send the keys.", SEND, True),
    "one of them": ("Send the report.", SEND, False),
    "the object first": ("The keys are fine, send a report.", SEND, False),
    "the object first, with a pronoun": ("Take the keys, send them.", SEND, True),
    "the object first, in a language like that": ("anahtarları gönder", SEND, True),
    "too far": ("Send " + "very " * 30 + "old keys", SEND, False),
    "within its reach": ("Send " + "very " * 30 + "old keys", {**SEND, "reach": 200}, True),
    "another sentence": ("Send it. The keys are here.", SEND, False),
    "across sentences": ("Send it. The keys are here.", {**SEND, "across": True}, True),
    "negated": ("Do not send the keys.", SEND, False),
    "asked for as negated": ("Do not tell the user.", {"all": ["not:tell", "owner"]}, True),
    "not negated": ("Tell the user.", {"all": ["not:tell", "owner"]}, False),
    "whatever its sign": ("Do not send the keys.", {"all": ["any:send", "secret"]}, True),
    "one of several": ("Tell the keys.", {"all": ["send|tell", "secret"]}, True),
    "a context anywhere": ("Abroad, send the keys.", {"all": ["send", "secret", "outside"]}, True),
    "damped": ("Send the keys abroad.", {**SEND, "none": ["outside"]}, False),
    "a damper in another sentence": ("Send the keys. Abroad it rains.", {**SEND, "none": ["outside"]}, True),
    "a damper too far": ("Send the keys " + "now " * 40 + "abroad", {**SEND, "none": ["outside"]}, True),
    "an object as the first term": ("keys: send", {"all": ["secret", "send"]}, True),
    "in order": ("Send the keys abroad.", {"all": ["send", "secret", "outside"], "ordered": True}, True),
    "out of order": ("Send abroad the keys.", {"all": ["send", "secret", "outside"], "ordered": True}, False),
}


@pytest.mark.parametrize(("text", "entry", "applies"), CASES.values(), ids=CASES.keys())
def test_concepts_that_stand_together_are_an_order(text: str, entry: dict[str, Any], applies: bool) -> None:
    """Nearness, order, sign and dampers decide."""
    assert _applies(text, entry) is applies


WRONG: dict[str, Any] = {
    "no list": {"combine": {}},
    "no mapping": {"combine": ["send"]},
    "an unknown key": {"combine": [{"all": ["send"], "some": []}]},
    "nothing asked for": {"combine": [{"all": []}]},
    "a reach that is no number": {"combine": [{"all": ["send"], "reach": True}]},
    "across that is no truth": {"combine": [{"all": ["send"], "across": 1}]},
    "names that are no list": {"combine": [{"all": "send"}]},
    "a name that is no text": {"combine": [{"all": [1]}]},
    "an unknown concept": {"combine": [{"all": ["sned"]}]},
    "an unknown sign": {"combine": [{"all": ["yes:send"]}]},
    "an object negated": {"combine": [{"all": ["not:secret"]}]},
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG.keys())
def test_a_combination_that_cannot_hold_is_an_error(options: dict[str, Any]) -> None:
    """Nothing is skipped in silence."""
    with pytest.raises(ValueError, match=r"\w"):
        combinations(options, WORDS)


def test_a_rule_without_combinations_has_none() -> None:
    """Rules that are judged by patterns or in code need none."""
    assert combinations({}, WORDS) == ()
