"""The glance at a document, which is never more lenient than the masking."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction import glance as module
from herma.policy.redaction.document import rewrites
from herma.policy.redaction.glance import MAX_LEVELS, Glance, Look, holds_json
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, OPENAI, PASSWORD, redactor

ANSWER = {
    "id": "chatcmpl-0",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "It's done."}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 3, "total_tokens": None},
}
WORDS = st.sampled_from(
    [
        "a",
        "the token",
        GITHUB,
        GITHUB[:20],
        PASSWORD,
        "password=",
        "--token",
        "x",
        "'",
        " ",
        "Bearer ",
        "é",
        "\n",
    ]
)
NAMES = st.sampled_from(
    [
        "a",
        "name",
        "value",
        "key",
        "password",
        "Password",
        "token",
        "authorization",
        "Cookie",
        "prompt_tokens",
        "",
    ]
)
VALUES = st.recursive(
    st.lists(WORDS, max_size=4).map("".join) | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3) | inner.map(json.dumps)
    ),
    max_leaves=8,
)


def masked_something(text: str) -> bool:
    return bool(rewrites(redactor(), text, Look(Work(len(text)), sure=False)))


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_what_is_clean_at_a_glance_the_masking_does_not_change(value: object) -> None:
    """For any document; the second look, with what the first remembers, says the same."""
    text, glance = json.dumps(value), Glance(redactor())
    clean = glance.clean(text)
    assert clean == glance.clean(text)
    assert clean is not masked_something(text)


def test_an_answer_is_clean_at_a_glance() -> None:
    """Names of members that hold a keyword and a number do no harm."""
    assert Glance(redactor()).clean(json.dumps(ANSWER))


@pytest.mark.parametrize(
    "text",
    [
        f'{{"a": "{GITHUB}", "a": "x"}}',
        '{"a": "x", "a": "x"}',
        f'{{"{GITHUB}": 1}}',
        f'["--token", "{PASSWORD}"]',
        f'{{"name": "TOKEN", "value": "{PASSWORD}"}}',
        f'{{"password": "{PASSWORD}"}}',
        f'{{"x": ["{OPENAI}"]}}',
        json.dumps({"arguments": json.dumps({"password": PASSWORD})}),
        json.dumps({"note": f"[not json {GITHUB}]"}),
        "[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1),
        '{"a":' * (MAX_LEVELS + 1) + "1" + "}" * (MAX_LEVELS + 1),
    ],
)
def test_what_is_not_sure_is_left_to_the_masking(text: str) -> None:
    """Secrets, and what the glance does not see whole."""
    assert not Glance(redactor()).clean(text)


def test_a_constant_is_judged_beside_every_key() -> None:
    """A word that was clean beside one key is a password beside another."""
    glance = Glance(redactor())
    assert glance.clean('{"state": "tulipanchor"}')
    assert not glance.clean('{"password": "tulipanchor"}')
    assert not glance.clean('{"authorization": "Bearer tulipanchor"}')


@pytest.mark.parametrize("value", [GITHUB, "x"])
def test_a_look_that_runs_out_of_work_is_not_sure(value: str) -> None:
    """Wherever it happens: nothing is called clean that was not looked at."""
    text = json.dumps({"env": [{"name": "TOKEN", "value": value}], "a": {"b": value}})
    whole = Glance(redactor()).look(text, 0, Work(len(text)))
    seen = [Glance(redactor()).look(text, 0, Work(0, base=units)) for units in range(200)]
    assert not any(look.clean for look in seen) or whole.clean
    assert [look.sure for look in seen] == sorted(look.sure for look in seen)
    assert not seen[0].sure


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """And holds nothing that looks drawn."""
    monkeypatch.setattr(module, "MAX_KNOWN", 2)
    glance = Glance(redactor())
    assert glance.clean('{"one": "F4ke", "two": 1, "three": 2, "four": "five"}')
    assert len(glance._known) <= 2
    assert "F4ke" not in glance._known


def test_text_that_is_no_json_is_refused() -> None:
    """The caller masks it as text."""
    with pytest.raises(ValueError, match="Expecting"):
        Glance(redactor()).clean("{nothing")


def test_a_string_may_hold_json() -> None:
    """By its first and its last sign."""
    assert holds_json('{"a": 1} \n')
    assert not holds_json("{a")
    assert not holds_json("")


def test_a_look_does_not_print_what_it_found() -> None:
    """A secret does not reach a log through repr."""
    look = redactor().glance.look(json.dumps([GITHUB]), 0, Work(100))
    assert set(look.found) == {GITHUB}
    assert GITHUB not in repr(look)
