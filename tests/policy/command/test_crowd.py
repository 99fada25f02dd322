"""Claims about `herma.policy.command.crowd`."""

import pytest

from herma.policy.command.crowd import MAX_CROWD, crowd, unmatched
from herma.policy.command.shell import read_script

# As dense as the densest real scripts are: a case in each line, substitutions, redirections.
DENSE = 'case "$(uname -m)" in x86_64) arch=$(echo amd64 | tr a-z a-z);; esac >>"$HOME/log" 2>&1; mail ops@a.example </dev/null\n'
HOSTILE = {
    "brackets that nothing opens": ")",
    "the same behind words": "b)",
    "brackets that nothing closes": "a=(",
    "at signs in one word": "a@",
    "pipes into blocks": "|{",
    "ways out and in": "<>",
    "ways in": "<<<",
    "ends of cases where none begins": "&#97;",
    "redirections behind empty assignments": "<a href=",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_the_grammar_stumbles_over_is_not_read(unit: str) -> None:
    """A script that is made to be slow counts as not read, which refuses its entry."""
    script = unit * (8000 // len(unit))
    assert crowd(script) > MAX_CROWD
    assert not read_script(script).whole


def test_the_scripts_of_one_entry_count_together() -> None:
    """Work that one script may cost cannot be had many times over."""
    inner = "echo " + "a) " * 200
    assert read_script(f"sh -c '{inner}'").whole
    assert not read_script("; ".join(f"sh -c '{inner}{at}'" for at in range(9))).whole


def test_a_dense_script_of_a_page_stays_far_inside() -> None:
    """Four times the work of the densest real scripts is allowed, for a script of two thousand characters."""
    script = DENSE * (2000 // len(DENSE))
    assert 4 * crowd(script) < MAX_CROWD
    assert read_script(script).whole


def test_addresses_cost_nothing() -> None:
    """An at sign in a word of ordinary length starts no long look."""
    assert crowd("mail ops@a.example dev@b.example " * 100) == 0


def test_brackets_without_their_other_half_are_counted() -> None:
    """Of either kind."""
    assert [unmatched(script) for script in ("b)b)", "a=(a=(", "$(a) (b)", "")] == [2, 2, 0, 0]
