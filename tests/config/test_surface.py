"""Scopes of operations in the configuration."""

import pytest

from herma.config.surface import SurfaceScope
from herma.policy.grant import Scope
from support.config_text import problems


def test_every_scope_can_be_named() -> None:
    """And `off`, which is none."""
    assert [choice.scope for choice in SurfaceScope] == [None, *Scope]


@pytest.mark.parametrize(
    "text", ["surfaces: {shell: {scope: root}}\n", "surfaces: {shell: {}}\n", "surfaces: {shell: off}\n"]
)
def test_what_says_no_scope_is_an_error(text: str) -> None:
    """Nothing is switched on or off by guessing."""
    assert len(problems(text)) == 1
