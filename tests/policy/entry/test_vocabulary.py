"""Claims about `herma.policy.entry.vocabulary`."""

import pytest

from herma.policy.decision import Level
from herma.policy.entry.vocabulary import Vocabulary, Words
from herma.policy.rule import Examples, Rule, Status

WORDS = Words({"a": ["^id_rsa", ".bashrc$", "/etc/cron"], "b": ["/etc/cron"]})
FOUND = {
    "a prefix": ("/etc/cron.d/x", {"a", "b"}),
    "an end": ("~/.bashrc", {"a"}),
    "an end before a blank": ("~/.bashrc x", {"a"}),
    "no end": ("~/.bashrc.d", set()),
    "no end of a path": ("~/.bashrc/x", set()),
    "a beginning": ("id_rsa", {"a"}),
    "a beginning behind a quote": ("'id_rsa'", {"a"}),
    "no beginning": ("x/id_rsa", set()),
    "nothing": ("x", set()),
}


@pytest.mark.parametrize(("text", "classes"), FOUND.values(), ids=FOUND.keys())
def test_words_are_found_by_class_and_edge(text: str, classes: set[str]) -> None:
    """A word counts for each of its lists, and only where its edges allow."""
    assert WORDS.classes(text) == classes


def test_the_place_of_a_word_is_given() -> None:
    """Every occurrence has its place."""
    assert sorted(WORDS.find("/etc/cron /etc/cron")) == [("a", 0), ("a", 10), ("b", 0), ("b", 10)]


def _rule(rule_id: str, **options: object) -> Rule:
    return Rule(rule_id, "mcp", "t", Status.TEST, Level.HIGH, "d", Examples((), ()), options=options)


def test_rules_bring_their_lists_together() -> None:
    """Lists of the same name are one; a rule without lists brings none."""
    vocabulary = Vocabulary(
        [
            _rule("a", programs={"viewer": ["cat"]}, paths={"p": ["/x"]}),
            _rule("b", programs={"viewer": ["less"], "sender": ["cat"]}),
            _rule("c"),
        ]
    )
    assert vocabulary.kinds("cat") == {"viewer", "sender"}
    assert vocabulary.kinds("less") == {"viewer"}
    assert vocabulary.kinds("x") == frozenset()
    assert vocabulary.paths.classes("/x") == {"p"}
    assert vocabulary.code.classes("x") == set()


def test_an_invocation_is_all_its_words_in_any_order() -> None:
    """Words are alternatives with wildcards, some with an exception; case of an option counts only where it is written."""
    vocabulary = Vocabulary(
        [
            _rule(
                "a",
                invocations={
                    "k": ["run|go -v|--volume /:*!*:ro*"],
                    "m": ["go"],
                    "n": ["ssh -R*"],
                    "o": ["cp -[!o]R*!*x"],
                },
            )
        ]
    )
    assert set(vocabulary.invoked("go", ["/:/h", "x", "-V"])) == {"k", "m"}
    assert set(vocabulary.invoked("run", ["-v", "/:/h:ro"])) == set()
    assert set(vocabulary.invoked("ssh", ["-r"])) == set()
    assert set(vocabulary.invoked("cp", ["-aR", "y"])) == {"o"}
    assert set(vocabulary.invoked("cp", ["-aRx", "-oR"])) == set()
    assert set(vocabulary.invoked("x", ["-v"])) == set()
