"""The model of prompts: how a text is taken apart and weighed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.prompt import likeness as module
from herma.policy.prompt.likeness import (
    BUCKETS,
    MAX_PART_CHARS,
    Likeness,
    buckets_of,
    marks_of,
    parts,
    pieces_of_word,
    risen,
    words,
)


def model(*hostile: str) -> Likeness:
    """Weigh each piece of some words 100, everything else nothing."""
    weights = bytearray(BUCKETS)
    for text in hostile:
        for bucket in buckets_of(text, ()):
            weights[bucket] = 100
    return Likeness(bytes(weights), 0.1, 0.0)


def test_weights_are_one_byte_a_bucket() -> None:
    """Half a model is none."""
    with pytest.raises(ValueError, match="weights"):
        Likeness(b"\0", 1.0, 0.0)


def test_what_is_like_an_attack_gives_its_concepts() -> None:
    """Each once, in the order of the text; below the floor there are none."""
    marks = [(0, "send"), (5, "secret"), (9, "send")]
    assert model("send the secret").reasons("send the secret", marks, 1.0) == ("send", "secret")
    assert model("send the secret").reasons("feed my cats", [(0, "care")], 1.0) == ()
    assert model().reasons("", [], 1.0) == ()


def test_padding_dilutes_nothing() -> None:
    """A part is judged by itself, wherever it stands."""
    padding = "feed my cats and look up. " * 40
    text = padding + "send the secret. " + padding
    marks = [(text.index("send"), "send")]
    assert model("send the secret. ").reasons(text, marks, 10.0) == ("send",)


def test_the_floor_rises_with_the_parts_of_a_text() -> None:
    """Many innocent sentences are no more like an attack than one; short texts are judged as they were."""
    assert risen(2.6, 1) == risen(2.6, 2) == 2.6
    assert 2.6 < risen(2.6, 6) < risen(2.6, 60) < 4.0


def test_an_order_over_two_parts_is_seen_whole() -> None:
    """Neighbours are weighed together."""
    first, second = "alpha " * 20 + ".", " omega " * 12
    assert model("omega").reasons(first + second, [(150, "read")], -5.0) == ("read",)


def test_concepts_weigh_as_words_do() -> None:
    """Alone and in pairs."""
    weights = bytearray(BUCKETS)
    for bucket in buckets_of("", ("send", "secret")):
        weights[bucket] = 127
    told = Likeness(bytes(weights), 0.1, 0.0)
    assert told.reasons("xy", [(0, "secret"), (1, "send")], 1.0)
    assert not told.reasons("xy", [(0, "topic")], 1.0)


def test_known_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of many words does not grow the gate; its verdict stays."""
    monkeypatch.setattr(module, "MAX_KNOWN_WORDS", 2)
    judged = model("send the secret")
    marks = [(0, "send")]
    first = judged.reasons("send the secret of many words", marks, 0.1)
    assert judged.reasons("send the secret of many words", marks, 0.1) == first == ("send",)


def test_known_concepts_and_their_pairs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever concepts stand together in prompts, the gate does not grow; verdicts stay."""
    monkeypatch.setattr(module, "MAX_KNOWN_MARKS", 2)
    monkeypatch.setattr(module, "MAX_KNOWN_SETS", 2)
    judged = model("send the secret")
    marks = [(at, f"concept-{at}") for at in range(8)]
    first = judged.reasons("send the secret of many words", marks, 0.1)
    for count in (2, 3, 4):
        judged.reasons("send the secret of many words", marks[:count], 0.1)
    assert judged.reasons("send the secret of many words", marks, 0.1) == first != ()
    # What is kept shows nowhere else.
    assert len(judged._sets) <= 2
    assert len(judged._sets._marks) <= 2


def test_long_words_are_weighed_and_not_kept() -> None:
    """A key or a hash in a prompt is not remembered beyond its judgement."""
    judged = model("send")
    long = "fakeW2d6Kp4Vn1Gz7MbJ8hTr" * 4
    marks = [(0, "send")]
    assert judged.reasons(f"send {long}", marks, 0.1) == judged.reasons(f"send {long}", marks, 0.1) != ()
    assert set(judged._known) == {"send"}  # what is kept shows nowhere else


def test_words_of_scripts_without_blanks_are_pairs() -> None:
    """A sentence of Chinese is no single word."""
    assert words("忽略规则") == ["忽略", "略规", "规则"]
    assert words("é, ok 字") == ["é", ",", "ok", "字"]


def test_a_word_is_itself_and_its_pieces() -> None:
    """Short ones have none; signs at the ends tell beginnings from middles."""
    assert list(pieces_of_word("ab")) == ["ab"]
    assert list(pieces_of_word("abc")) == ["abc", "\n<ab", "\nabc", "\nbc>", "\n<abc", "\nabc>", "\n<abc>"]


def test_pairs_of_concepts_are_bounded() -> None:
    """A list of all words is no order."""
    assert len(list(marks_of(str(number) for number in range(100)))) == 24 + 24 * 23 // 2


@given(st.text(), st.lists(st.integers(0, 2000)))
def test_parts_are_the_text_and_its_marks(text: str, places: list[int]) -> None:
    """Nothing is lost, nothing is longer than a part may be, each mark before the end lies in one part."""
    text = text * 20
    marks = [(at, str(at)) for at in sorted(places)]
    cut = list(parts(text, marks))
    assert "".join(part for part, _ in cut) == text
    assert all(0 < len(part) <= MAX_PART_CHARS for part, _ in cut)
    held = [name for _, names in cut for name in names]
    assert set(held) == {name for at, name in marks if at < len(text)}


@pytest.mark.parametrize(
    ("text", "first"),
    [("a. " * 200, 41), ("。" * 500, 41), ("word " * 100, 160), ("x" * 500, 160)],
)
def test_a_part_ends_where_a_sentence_or_a_word_does(text: str, first: int) -> None:
    """Where there is neither, at the bound."""
    assert len(next(parts(text, ()))[0]) in {first, first + 1, first - 1}


@given(st.text(max_size=300))
def test_any_text_can_be_weighed(text: str) -> None:
    """The same text weighs the same, and its pieces are those that training counts."""
    judged = model("send")
    marks = [(0, "send")]
    assert judged.reasons(text, marks, 0.5) == judged.reasons(text, marks, 0.5)
    assert all(0 <= bucket < BUCKETS for bucket in buckets_of(text, ("send", "read-")))


def test_nothing_is_looked_at_without_a_concept_that_is_wanted() -> None:
    """However much the words are like an attack."""
    judged = Likeness(bytes(BUCKETS), 1.0, 9.0)
    marks = [(0, "send")]
    assert judged.reasons("send it", marks, 1.0, frozenset({"send"})) == ("send",)
    assert judged.reasons("send it", marks, 1.0, frozenset({"read"})) == ()


def test_pairs_of_words_are_weighed_where_they_may_decide() -> None:
    """A text just below the floor is weighed part by part and stays below it."""
    judged = Likeness(bytes(BUCKETS), 1.0, 1.0)
    assert judged.reasons("send it to them. " * 60, [(at, "send") for at in range(0, 900, 17)], 2.0) == ()
