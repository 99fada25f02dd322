"""Claims about `herma.policy.command.assembly`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.assembly import assembled, assembles

MADE = {
    "'.'.join(map(str,[43,228,79,77]))": "'43.228.79.77'",
    "'.'.join(['43', '228'])": "'43.228'",
    "h=['43','228','79','77'].join('.')": "h='43.228.79.77'",
    "'%d.%d' % (43, 228)": "'43.228'",
    "'{}.{}'.format(43, 228)": "'43.228'",
    "'%s-%s-%s' % ('a', 'b')": "'a-b-'",
}


@pytest.mark.parametrize(("code", "made"), MADE.items())
def test_texts_out_of_lists_are_put_together(code: str, made: str) -> None:
    """Joined and filled, as far as there are values."""
    assert assembles(code)
    assert made in assembled(code)


@pytest.mark.parametrize("code", ["", "print(1)", "x.join(y)", "it's 10 % of all"])
def test_other_code_stays_as_it_is(code: str) -> None:
    """Nothing is made up."""
    assert assembled(code) == code


def test_plain_arguments_put_nothing_together() -> None:
    """Most entries are not read once more."""
    assert not assembles("npx -y some-server --root /srv/data")


@given(st.text("'\"[](),.%{}djoinfrmat0 1", max_size=80))
def test_any_code_can_be_read(code: str) -> None:
    """No text makes it fail."""
    assert isinstance(assembled(code), str)
