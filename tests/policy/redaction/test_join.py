"""How names and values are joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.join import Join, joint_at

CASES = {
    "sign": ("=v", Join.SIGN, "="),
    "colon": (": v", Join.SIGN, ":"),
    "quoted name": ('": "v"', Join.SIGN, ":"),
    "go": (' := "v"', Join.SIGN, ":="),
    "make": (" ::= v", Join.SIGN, "::="),
    "ruby": (" ||= 'v'", Join.SIGN, "||="),
    "null coalescing": (' ??= "v"', Join.SIGN, "??="),
    "append": ('.= "v"', Join.SIGN, ".="),
    "typed": (": str = 'v'", Join.SIGN, "="),
    "wrapped behind its sign": (' =\n    "v"', Join.SIGN, "="),
    "wrapped in a bracket": (" = (\n    'v'", Join.SIGN, "="),
    "typed, of a statement": (" varchar(50) = 'v'", Join.SIGN, "="),
    "go, typed": (' string = "v"', Join.SIGN, "="),
    "yaml, text of several lines": (": |-\n  v", Join.SIGN, ":"),
    "cell between lines that are drawn": (" \u2502 v \u2502", Join.LOOSE, ""),
    "sentence with an account": (" for root@localhost: vvvvv1", Join.FAR_PROSE, ""),
    "yaml, value on the next line": ("\n  value: v", Join.SIGN, ":"),
    "sign below": ("\n= v", Join.SIGN, "="),
    "value below": ("\nvvvvvvvvvvvvvvvvvvvv1", Join.LOOSE, ""),
    "sign and value below": ("\n:\n  v", Join.SIGN, ":"),
    "pair": ('", "v")', Join.COMMA, ""),
    "default": ('", default="v")', Join.COMMA, ""),
    "binary": (', <<"v">>', Join.COMMA, ""),
    "attribute": (' value="v"', Join.COMMA, ""),
    "cell": (",v", Join.CELL, ""),
    "arrow": (" -> v", Join.LOOSE, ""),
    "assignment of R": (' <- "v"', Join.LOOSE, ""),
    "alternative": ("'] || 'v'", Join.LOOSE, ""),
    "or": (" or 'v'", Join.LOOSE, ""),
    "table": (" | `v` |", Join.LOOSE, ""),
    "call": ('("v")', Join.LOOSE, ""),
    "element": (">vvvv</x>", Join.ELEMENT, ""),
    "element with attributes": (' Type="t">vvvv</x>', Join.ELEMENT, ""),
    "property list": ("</key>\n\t<string>v</string>", Join.ELEMENT, ""),
    "sentence": (" is v1", Join.PROSE, ""),
    "sentence in Japanese": ("は v", Join.PROSE, ""),
    "long sentence": (" of the router is vvvvv1", Join.FAR_PROSE, ""),
    "long sentence in German": (" für den Drucker lautet vvvvv1", Join.FAR_PROSE, ""),
    "sentence with a colon": (" del database: vvvvv1", Join.FAR_PROSE, ""),
    "blank": (" v", Join.BLANK, ""),
    "blank before a sign of the shell": (" -v", Join.BLANK, ""),
}


@pytest.mark.parametrize(("text", "join", "sign"), CASES.values(), ids=CASES)
def test_a_joint_is_told_by_what_stands_behind_the_name(text: str, join: Join, sign: str) -> None:
    """Languages, markup and sentences."""
    joint = joint_at("name" + text, 4)
    assert joint is not None
    assert (joint.join, joint.sign) == (join, sign)
    value = text[joint.end - 4 :].lstrip("\"'`<")
    assert value.startswith("v") or join in {Join.BLANK, Join.COMMA}


@pytest.mark.parametrize("text", ["", ".", "\n", "s are", ";", "\nnext"])
def test_a_name_may_stand_alone(text: str) -> None:
    """Then there is nothing to judge."""
    assert joint_at("name" + text, 4) is None


def test_a_sentence_about_the_file_or_the_id_of_a_secret_is_not_about_its_value() -> None:
    """What is told is the file."""
    joint = joint_at("key id is a1b2c3d4", 3)
    assert joint is not None
    assert joint.join == Join.BLANK


@given(st.text(alphabet="=:|?+.,<>-( \t\n\"'`abis1é：は", max_size=40))
def test_any_text_behind_a_name_is_read(text: str) -> None:
    """A joint ends inside the text."""
    joint = joint_at("name" + text, 4)
    assert joint is None or 4 <= joint.end <= 4 + len(text)
