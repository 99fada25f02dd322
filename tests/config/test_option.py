"""Descriptions of settings."""

from dataclasses import dataclass, fields

import pytest

from herma.config.option import derived, describe, option


@dataclass(frozen=True)
class Sample:
    required: int = option("A number.", minimum=1)
    optional: int = option("Another.", default=2)
    made: tuple[int, ...] = option("Some.", factory=tuple)
    worked_out: int = derived(default=3)


def test_field_without_a_default_is_required() -> None:
    """As in a dataclass, and described as such."""
    with pytest.raises(TypeError):
        Sample()
    assert Sample(required=1) == Sample(1, 2, (), 3)
    assert [found.required if (found := describe(item)) else None for item in fields(Sample)] == [
        True,
        False,
        False,
        None,
    ]


def test_description_keeps_its_bounds() -> None:
    """What the schema and the reader ask for."""
    found = describe(fields(Sample)[0])
    assert found is not None
    assert (found.doc, found.minimum, found.maximum) == ("A number.", 1, None)
