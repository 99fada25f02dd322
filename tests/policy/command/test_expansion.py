"""Claims about `herma.policy.command.expansion`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.expansion import expand

VALUES = {"a": "curl", "n": "a", "p": "/x/y.tar.gz", "w": "aXbXc"}
EXPANDED = {
    "a value": ("$a", "curl"),
    "in braces": ("${a}", "curl"),
    "an element": ("${a[0]}", "curl"),
    "the length": ("${#a}", "4"),
    "another's value": ("${!n}", "curl"),
    "another's value that is not known": ("${!a}", "${!a}"),
    "unknown": ("$zz", "$zz"),
    "a parameter that is not set": ("$1", ""),
    "all parameters": ("$@", ""),
    "a default": ("${zz:-curl}", "curl"),
    "a quoted default": ("${zz-'curl'}", "curl"),
    "a default that is not needed": ("${a:-x}", "curl"),
    "the rest": ("${a:1}", "url"),
    "a part": ("${a:1:2}", "ur"),
    "a part from the end": ("${a: -2}", "rl"),
    "the first one replaced": ("${w/X/-}", "a-bXc"),
    "all replaced": ("${w//X/-}", "a-b-c"),
    "nothing to replace": ("${w//}", "aXbXc"),
    "the start cut": ("${p#*/}", "x/y.tar.gz"),
    "a start that is not there": ("${p#z}", "/x/y.tar.gz"),
    "all of the start cut": ("${p##/x}", "/y.tar.gz"),
    "the end cut": ("${p%.gz}", "/x/y.tar"),
    "all of the end cut": ("${p%%z}", "/x/y.tar.g"),
    "an end that is not there": ("${p%q}", "/x/y.tar.gz"),
    "lower case": ("${w,,}", "axbxc"),
    "upper case": ("${a^^}", "CURL"),
    "a capital": ("${a^}", "Curl"),
    "an operation that is not known": ("${a@Q}", "curl"),
    "what every host has": ("${PATH:0:1}", "/"),
    "what every host has, as a whole": ("$HOME", "$HOME"),
    "separators": ("${IFS%x}", " "),
    "no expansion": ("$(x)", "$(x)"),
}


@pytest.mark.parametrize(("text", "value"), EXPANDED.values(), ids=EXPANDED.keys())
def test_an_expansion_is_worked_out(text: str, value: str) -> None:
    """What the shell would make of a parameter is known, or it stays as it is."""
    assert expand(text, VALUES) == value


@given(st.text(alphabet="ab*?[]/#%:,^-1{}", max_size=24), st.text(alphabet="ab/.", max_size=40))
def test_any_operation_gives_text(operation: str, value: str) -> None:
    """No operation makes the reader fail."""
    assert isinstance(expand("${a" + operation + "}", {"a": value}), str)
