"""Hits."""

from herma.policy.redaction.hit import Certainty, Hit


def test_a_hit_does_not_print_its_value() -> None:
    """A secret does not reach a log through repr."""
    assert "hunter2" not in repr(Hit(0, 7, "password", "hunter2"))


def test_a_format_says_more_than_a_name_and_a_block_more_than_both() -> None:
    """The class of overlapping hits is the most specific one."""
    assert Certainty.CONTEXT < Certainty.CONVENTION < Certainty.FORMAT < Certainty.BLOCK
