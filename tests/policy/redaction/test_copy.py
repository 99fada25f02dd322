"""Copies of a value that was masked in the same text."""

import json

import pytest

from herma.policy.redaction.copy import MAX_COPIES, MAX_VALUES, Known, copies, is_repeatable, note
from herma.policy.redaction.hit import UNJUDGED_ID
from support.redactor import masked, redactor

VALUE = "Zk7pQ2vW9sXe"
OTHER = "Yd4rT8nB1cLm"


@pytest.mark.parametrize(
    "text",
    [
        f"export DB_PASSWORD={VALUE}\n./connect.sh app {VALUE} db",
        f"./connect.sh app {VALUE} db\nexport DB_PASSWORD={VALUE}",
        f"API_TOKEN={VALUE}\nGET /v1/x/{VALUE}/y 200",
        f"password: {VALUE}\n# tried '{VALUE}', \"{VALUE}\" and ({VALUE})",
    ],
)
def test_a_copy_without_a_name_is_masked_with_the_same_placeholder(text: str) -> None:
    """Behind its name or in front of it; what stands around it stays."""
    out = masked(text)
    (stand_in,) = {word for word in out.replace(VALUE, "").split("[")[1:] for word in [word.split("]")[0]]}
    assert out == text.replace(VALUE, f"[{stand_in}]")
    assert masked(out) == out


def test_a_copy_in_another_string_of_a_document_is_masked() -> None:
    """Escaped twice or not at all, and in a string that holds a secret of its own; the document stays one."""
    document = {
        "password": VALUE,
        "note": f"sent\n{VALUE} to jo",
        "both": f"export TOKEN={OTHER}; echo {VALUE}",
        "inner": json.dumps({"text": f"line\n{VALUE}", "n": 1}),
        "id": "Zk7pQ2vW9sXe1",
    }
    raw, findings = redactor().json(json.dumps(document).encode())
    out = json.loads(raw)
    assert VALUE not in raw.decode().replace("Zk7pQ2vW9sXe1", "")
    assert out["id"] == "Zk7pQ2vW9sXe1"
    assert out["note"].startswith("sent\n[")
    assert out["note"].endswith("] to jo")
    assert json.loads(out["inner"])["n"] == 1
    assert len(findings) >= 3


LONG = "hvs.CAESIvaultTOKEN1234567890"


@pytest.mark.parametrize("end", ["", "…", "...", '"'])
@pytest.mark.parametrize("shown", [LONG[:10], LONG[:12]])
def test_a_copy_that_is_cut_short_is_masked(shown: str, end: str) -> None:
    """A line that shows the begin of a command ends inside its secret, which stands whole below."""
    text = f"TOKEN={LONG}\nrun -H x:{shown}{end}"
    out = masked(text)
    assert out.endswith(f"]{end}")
    assert shown not in out
    document = json.loads(redactor().json(json.dumps({"a": f"run -H x:{shown}", "token": LONG}).encode())[0])
    assert document["a"] == f"run -H x:{document['token']}"


@pytest.mark.parametrize(
    "text",
    [
        "see Zk7pQ2vW9",
        "see Zk7pQ2vW9s and more",
        "see Zk7pQ2vW9sXY",
        "xZk7pQ2vW9s",
    ],
)
def test_what_only_begins_like_a_value_is_no_copy(text: str) -> None:
    """Too short, not where a text ends, another word, part of a longer word."""
    assert masked(f"DB_PASSWORD={VALUE} {text}").endswith(f" {text}")


def test_the_words_that_a_value_begins_with_are_no_copy() -> None:
    """A text that ends with a word of a password does not end inside it."""
    assert not list(copies("the violet-anchor-maple", ["violet-anchor-maple-42"], ()))
    assert list(copies("the violet-anchor-mapl", ["violet-anchor-maple-42"], ()))


@pytest.mark.parametrize(
    "value", ["hunter2", "production", "us-east-1", "/srv/Zk7pQ2vW9sXe", "a b c d e f 1", "café1234567"]
)
def test_what_texts_repeat_for_other_reasons_is_no_copy(value: str) -> None:
    """Short values, words, paths and what is not written in one word stay where nothing tells of them."""
    assert not is_repeatable(value)


@pytest.mark.parametrize("value", [VALUE, "violet-anchor-maple-42", "PebbleGarnetDune"])
def test_what_nobody_writes_twice_by_chance_is_a_copy(value: str) -> None:
    """Drawn values, words with a number, and long words that change their case."""
    assert is_repeatable(value)


def test_part_of_a_longer_word_is_another_word() -> None:
    """So is a place that is masked already, or overlaps one."""
    assert list(copies(f"x{VALUE} {VALUE}9 {VALUE}", [VALUE], [])) == [(28, 40, VALUE)]
    assert list(copies(f"{VALUE} {VALUE} {VALUE}", [VALUE], [(0, 12), (20, 22)])) == [(26, 38, VALUE)]
    glued = f"{VALUE}.{OTHER}"
    assert [place[:2] for place in copies(glued, [VALUE, glued], [])] == [(0, 12)]


def test_the_search_for_copies_is_bounded() -> None:
    """So many values, so many copies of one and of all."""
    known: Known = {}
    for number in range(MAX_VALUES + 3):
        note(known, f"{VALUE}{number}", "[x]", "password")
    note(known, VALUE, "[x]", UNJUDGED_ID)
    assert len(known) == MAX_VALUES
    text = f"{VALUE} {OTHER} " * (MAX_COPIES + 9)
    assert len(list(copies(text, [VALUE], []))) == MAX_COPIES
    assert len(list(copies(text, [VALUE, OTHER, "none-of-these-42"], []))) == MAX_COPIES


def test_what_only_begins_like_a_value_uses_up_no_place_of_a_copy() -> None:
    """However often it stands there."""
    text = f"{LONG[:12]} " * (MAX_COPIES + 1) + LONG
    assert list(copies(text, [LONG], ())) == [(len(text) - len(LONG), len(text), LONG)]
