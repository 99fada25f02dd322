"""All rules behind one gate."""

import pytest

from herma.policy.redaction.finder import Finder
from herma.policy.redaction.sweep import SAME_COMMAND_CHARS
from support.redactor import GITHUB, redactor, rule

FINDER = redactor().finder


def test_text_without_a_keyword_has_no_hits() -> None:
    """The gate spares the rules."""
    assert FINDER.find("nothing to see here") == []


def test_a_placeholder_is_never_taken_apart() -> None:
    """What was masked stays masked, and its class is no keyword."""
    assert FINDER.find("[password:01234567] [token:01234567] x=[key:01234567]") == []
    hits = FINDER.find(f"[password:01234567] {GITHUB}")
    assert {hit.rule_id for hit in hits} == {"github-pat"}
    assert {hit.rule_id for hit in FINDER.find(f"{GITHUB} [password:01234567] {GITHUB}")} == {"github-pat"}


@pytest.mark.parametrize(
    ("grammar", "keywords"), [("unheard-of", ("a",)), ("format", ())], ids=["unknown grammar", "no keywords"]
)
def test_a_rule_that_could_never_apply_is_refused(grammar: str, keywords: tuple[str, ...]) -> None:
    """A silent rule is worse than none."""
    with pytest.raises(ValueError, match="made-up"):
        Finder([rule(pattern="a", keywords=keywords, grammar=grammar)])


def test_what_a_verb_covers_is_not_looked_at_again() -> None:
    """Up to the end of what the verb found: what comes behind it is another's."""
    hits = FINDER.find("curl -u a:F4keP4ss!x7 h; other -u b:F4keP4ss!x8")
    assert [(hit.rule_id, hit.value) for hit in hits if hit.value.startswith("F4ke")] == [
        ("curl-user", "F4keP4ss!x7"),
        ("user-and-password-option", "F4keP4ss!x8"),
    ]


def test_a_rule_covers_rules_that_there_are() -> None:
    """A name that is misspelt would cover nothing, in silence."""
    with pytest.raises(ValueError, match="unheard-of"):
        Finder([rule(pattern="a", keywords=("a",), grammar="command", covers=("unheard-of",))])


def test_a_repeated_verb_is_tried_once_a_stretch() -> None:
    """A hostile repetition costs no more than its length, and the next command is still seen."""
    assert FINDER.find("curl " * 500) == []
    assert FINDER.find("curl x;" * 50 + "curl -u a:F4keP4ss h")
    far = "curl " + "x" * SAME_COMMAND_CHARS + " curl -u a:F4keP4ss h"
    assert FINDER.find(far)
    assert FINDER.find("curl x; curl -u a:F4keP4ss h")


def test_a_line_is_searched_once_for_a_rule_of_whole_lines() -> None:
    """Two keywords of one rule in a line are one look."""
    hits = FINDER.find("echo root:F4keP4ss1 | chpasswd # chpasswd\necho root:F4keP4ss2 | chpasswd")
    assert len([hit for hit in hits if hit.rule_id == "piped-account"]) == 2
