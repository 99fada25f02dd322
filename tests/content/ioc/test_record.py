"""Claims about `herma.content.ioc.record`."""

from typing import Any

import pytest

from herma.content.ioc.record import read_record
from herma.policy.indicator import Action, Matching
from support.ioc_files import item


def test_an_item_is_read_whole() -> None:
    """Value, validity, sources and note arrive as written."""
    record = read_record(item(valid_until="2027-01", note="n", versions=["1"]), "f.yaml")
    assert (record.indicator.id, record.indicator.matching, record.indicator.action) == (
        "c-01",
        Matching.ADDRESS,
        Action.BLOCK,
    )
    assert record.indicator.versions == ("1",)
    assert (record.kind, record.note, record.file) == ("ipv4", "n", "f.yaml")
    assert record.valid_from is not None
    assert record.valid_until is not None
    assert record.valid_from < record.valid_until
    assert not record.indicator.entry_only


def test_a_source_without_a_date_is_a_source() -> None:
    """Its indicator has no beginning; names of servers mean something in entries only."""
    record = read_record(
        item(valid_from="unknown (a page)", type="env_name", match="exact", value="EVIL_ENV"), "f"
    )
    assert record.valid_from is None
    assert record.indicator.entry_only


REFUSED: dict[str, tuple[Any, str]] = {
    "no mapping": ([], "mapping"),
    "an unknown key": (item(levle=1), "unknown key"),
    "no evidence": (item(references=[]), "no evidence"),
    "an id with a path": (item(id="../x"), "an id"),
    "an id in capitals": (item(id="C-01"), "an id"),
    "a number": (item(id=7), "quotes"),
    "a text for a list": (item(versions="1.0"), "list of texts"),
    "an empty text in a list": (item(references=[""]), "list of texts"),
    "a long list": (item(versions=["1"] * 99), "at most 64"),
    "another way of matching": (item(match="fuzzy"), "one of"),
    "another action": (item(action="maybe"), "one of"),
    "a campaign with blanks": (item(campaign="my list"), "campaign"),
    "a long note": (item(note="x" * 900), "a note"),
    "no day": (item(valid_until="soon"), "valid_until"),
    "a bad value": (item(value="127.0.0.1"), "loopback"),
}


@pytest.mark.parametrize(("value", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_an_item_is_refused(value: Any, says: str) -> None:
    """With what is wrong, and no value in the message."""
    with pytest.raises(ValueError, match=says) as raised:
        read_record(value, "f")
    assert "127.0.0.1" not in str(raised.value)
