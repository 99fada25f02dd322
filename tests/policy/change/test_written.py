"""What is sent and what is judged of a write."""

import json
from typing import Any

import pytest

from herma.policy.change.written import Standing, compared, completed, hidden, paired
from herma.policy.routing.route import Current

MERGE = Current("/c", "", "/config", merges=True)
REPLACE = Current("/c", "/s", "/servers")
TEXT = Current("/c", "/yaml", "/yaml_text")
MASK = "[password:7f3a91c2]"
HELD = {"model": "m", "key": "s3cret", "servers": {"bad": {"command": "bash"}, "good": {"command": "npx"}}}
SHOWN = {**HELD, "key": MASK}


def standing(held: Any = HELD, shown: Any = SHOWN) -> Standing:
    return Standing(held, shown)


def test_a_page_that_is_saved_unchanged_changes_nothing() -> None:
    """What is sent has the secret in it, and there is nothing to judge."""
    write = compared({"config": SHOWN, "profile": None}, MERGE, standing())
    assert write is not None
    assert write.body == {"config": HELD, "profile": None}
    assert write.news == {"config": {}, "profile": None}
    assert write.places == ("/config",)
    assert "s3cret" not in repr(write) + repr(standing())


def test_what_is_merged_is_judged_with_what_it_meets() -> None:
    """One member of an entry, written alone, makes a new entry of the one that is there."""
    body = {"config": {"servers": {"bad": {"args": ["-c", "x"]}}}}
    write = compared(body, MERGE, standing())
    assert write is not None
    assert write.body is body
    assert write.news == {"config": {"servers": {"bad": {"command": "bash", "args": ["-c", "x"]}}}}


def test_what_is_replaced_is_not_mixed() -> None:
    """What is left out is gone, and an entry that stays is not new."""
    held = HELD["servers"]
    body = {"servers": {"bad": {"command": "bash"}, "more": {"command": "x"}}}
    write = compared(body, REPLACE, standing(held, held))
    assert write is not None
    assert write.news == {"servers": {"more": {"command": "x"}}}
    assert write.places == ()


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([{"key": "a", "value": 1, "label": "A"}, {"key": "b", "value": None}], {"a": 1, "b": None}),
        ([{"key": "a", "is_set": True}], {}),
        ([], {}),
        ({"key": "a", "value": 1}, None),
        ([{"key": "a", "value": 1}, "b"], None),
        ([{"value": 1}], None),
        ([{"key": "a", "value": 1}, {"key": "a", "value": 2}], None),
    ],
)
def test_a_list_of_named_values_is_read_as_what_it_lists(listed: Any, found: Any) -> None:
    """If it is one, and names each once."""
    assert paired(listed, ("key", "value")) == found


def test_a_text_is_judged_by_what_it_says() -> None:
    """Order and style are no changes."""
    held = "a: 1\nservers: {bad: {command: bash}}\n"
    body = {"yaml_text": "servers:\n  bad:\n    command: bash\n  new:\n    command: x\na: 1\n"}
    write = compared(body, TEXT, standing(held, held))
    assert write is not None
    assert write.body is body
    assert json.loads(write.news["yaml_text"]) == {"servers": {"new": {"command": "x"}}}


def test_a_masked_line_of_a_text_is_put_back() -> None:
    """And told by its number."""
    held, shown = "key: s3cret\nmodel: m\n", f"key: {MASK}\nmodel: m\n"
    write = compared({"yaml_text": shown.replace("m\n", "n\n")}, TEXT, standing(held, shown))
    assert write is not None
    assert write.body == {"yaml_text": "key: s3cret\nmodel: n\n"}
    assert json.loads(write.news["yaml_text"]) == {"model": "n"}
    assert write.places == ("/yaml_text:1",)


def test_a_text_that_cannot_be_read_is_judged_as_it_is() -> None:
    """So is one where everything is new, and one that is no mapping."""
    for held, text in (("a: 1", "b: [\n"), ("a: [\n", "b: 1\n"), ("- a", "a: 1\n"), ("a: 1\n", "b: 2\n")):
        write = compared({"yaml_text": text}, TEXT, standing(held, held))
        assert write is not None
        assert write.news == {"yaml_text": text}


def test_what_cannot_be_compared_is_not() -> None:
    """The body is judged whole."""
    assert compared({}, MERGE, standing()) is None
    assert compared({"config": [1]}, MERGE, standing()) is None
    assert compared({"config": {}}, MERGE, standing("text", "text")) is None
    assert compared({"yaml_text": "a: 1"}, TEXT, standing({}, {})) is None


def test_a_place_may_be_deep_or_the_whole() -> None:
    """Other members of the body stay."""
    deep = Current("/c", "", "/a~1b/c")
    write = compared({"a/b": {"c": {"k": MASK}, "d": 1}}, deep, standing({"k": "s3cret"}, {"k": MASK}))
    assert write is not None
    assert write.body == {"a/b": {"c": {"k": "s3cret"}, "d": 1}}
    whole = compared({"k": "new"}, Current("/c", "", ""), standing({"k": "x", "l": 1}, {"k": "x", "l": 1}))
    assert whole is not None
    assert whole.news == {"k": "new"}


TOLD = {"model": "m", "key": "s3cret"}
FILE = Standing("model: {provider: p, base_url: u}\nkey: other\n", "")


def test_what_is_told_in_short_is_hidden() -> None:
    """A mapping that is written where a name is told: there is more of it than that."""
    assert hidden({"config": {"model": {"a": 1}, "key": "x", "new": {}}}, MERGE, standing(TOLD)) == {
        "model",
        "new",
    }
    assert hidden({"config": []}, MERGE, standing(TOLD)) == frozenset()
    assert hidden({}, MERGE, standing(TOLD)) == frozenset()
    assert hidden({"config": {"model": {}}}, MERGE, standing("x")) == frozenset()


def test_what_is_hidden_is_judged_with_what_is_written() -> None:
    """An address, written alone, goes beside the provider that the file names; nothing is put back from there."""
    whole = completed(standing(TOLD, {**TOLD, "key": MASK}), FILE, frozenset({"model", "new"}))
    write = compared({"config": {"model": {"base_url": "v"}, "key": MASK}}, MERGE, whole)
    assert write is not None
    assert write.news == {"config": {"model": {"provider": "p", "base_url": "v"}}}
    assert write.body == {"config": {"model": {"base_url": "v"}, "key": "s3cret"}}


@pytest.mark.parametrize("file", ["a: [", "- a", 5, ""])
def test_a_file_that_cannot_be_read_adds_nothing(file: Any) -> None:
    """What is told stands then."""
    told = standing(TOLD, TOLD)
    assert completed(told, Standing(file, file), frozenset({"model"})) == told
    assert completed(standing("x", "x"), FILE, frozenset({"model"})) == standing("x", "x")
