"""Which check a decision belongs to."""

import re

import pytest

from herma.console.series import PASSED, REFUSALS, REPORTED, SERIES, series_of
from support.tree import ROOT, python_files


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("herma.cron.exfil", "cron"),
        ("herma.busy.connections", "limit"),
        ("herma.draining", "limit"),
        ("herma.rpc.unknown", "socket"),
        ("herma.internal.ValueError", "internal"),
        ("herma.passed", "other"),
        ("herma.nonsense.x", "other"),
        ("herma", "other"),
        ("", "other"),
    ],
)
def test_a_code_names_its_row(code: str, row: str) -> None:
    """A refusal is never counted as passed, whatever its code."""
    assert series_of(code) == row


def test_every_row_of_refusals_is_reached() -> None:
    """The codes in the source name each of them, and no more than one or two families are without a row."""
    text = "".join(
        (ROOT / path).read_text() for path in python_files("proxy/herma") if "policy" in path.parts
    )
    text += "".join(
        (ROOT / path).read_text() for path in python_files("proxy/herma") if "ingress" in path.parts
    )
    named = {series_of(code) for code in re.findall(r'"(herma\.[a-z_.]+)', text)}
    assert set(REFUSALS) - named <= {"other"}
    assert set(SERIES) == {PASSED, REPORTED, *REFUSALS}
