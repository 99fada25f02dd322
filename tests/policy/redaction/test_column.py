"""Columns of tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.assignment import assigned
from herma.policy.redaction.column import MAX_TABLE_CHARS
from support.redactor import masked, redactor

S = "F4keP4ss-68x"
TABLES = {
    "markdown": f"| user | password |\n|---|---|\n| bob | {S} |\n",
    "markdown, first column": f"| `token` | host |\n|:--|--:|\n| {S}y7 | h1 |\n",
    "markdown, later row": f"| user | password |\n|---|---|\n| bob | - |\n| eve | {S} |\n",
    "comma-separated": f"user,password,role\nbob,{S},admin\n",
    "comma-separated, last column": f"user,password\nbob,{S}",
    "comma-separated, quoted": f'"user","password"\n"bob","{S}"\n',
    "tabs": f"user\tpassword\nbob\t{S}\n",
    "semicolons": f"user;password\nbob;{S}\n",
    "blanks": f"USER    PASSWORD      AGE\nbob     {S}  3d\n",
    "client of a database": f" user | password \n------+----------\n bob  | {S}\n",
}
INNOCENT = {
    "words": "| user | password |\n|---|---|\n| bob | required |\n",
    "reference": "user,password\nbob,$PASSWORD\n",
    "other number of cells": f"user,password\nbob,{S},x\n",
    "prose": "Name, password and token\nwere lost, 4gain and again\n",
    "no rows": "user,password",
    "head with a value": f"8080,password\nbob,{S}\n",
    "other column": f"password,commit\nnone,{S}\n",
    "one blank": "the password field\nhas a v4lid-value inside\n",
    "several words": "| user | password |\n|---|---|\n| bob | see page 12b |\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_value_below_its_name_is_masked(text: str) -> None:
    """Bars, commas, tabs, semicolons, blanks; the rest of the table stays."""
    out = masked(text)
    assert S not in out
    assert out.count("\n") == text.count("\n")
    before, after = text.split(S, 1)
    assert out.startswith(before)
    assert out.endswith(after.removeprefix("y7"))


def test_below_a_secret_a_row_of_letters_is_one_too() -> None:
    """By itself, such a value reads as a name in code."""
    letters = "ppCAilGNtTETs98"
    assert letters not in masked(f"user  password\nbob   {S}\neve   {letters}\n")
    assert letters in masked(f"user  password\neve   {letters}\n")


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_what_is_no_table_or_no_secret_stays(text: str) -> None:
    """A head is a line of names, a row has as many cells, a value is drawn."""
    assert masked(text) == text


def test_a_row_far_below_its_head_stays() -> None:
    """Whole texts and streams tell the same rows."""
    rows = "bob,none\n" * (MAX_TABLE_CHARS // 9 + 1)
    text = f"user,password\n{rows}eve,{S}\n"
    assert masked(text) == text


@given(st.text(alphabet='ab1,|\t;- \n"`x', max_size=80))
def test_any_lines_below_a_name_are_read(text: str) -> None:
    """Hits lie inside the text."""
    whole = "user,password" + text
    for hit in assigned(whole, 5, 13, redactor().finder.names):
        assert 13 <= hit.start < hit.end <= len(whole)
