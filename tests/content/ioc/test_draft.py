"""Claims about `herma.content.ioc.draft`."""

from dataclasses import replace
from datetime import timedelta

import pytest

from herma.content.ioc import draft as module
from herma.content.ioc.draft import Draft, Origin, Terms, count_kinds, each_dict, plain, settle, slug
from herma.policy.indicator import Action, Matching
from support.ioc_files import NOW

ORIGIN = Origin("o-1", "https://example.com/report", "evil", NOW, notes=("a note",))
TERMS = Terms(NOW)


def _draft(value: str, matching: Matching = Matching.DOMAIN, kind: str = "domain", **fields: object) -> Draft:
    return Draft(ORIGIN, value, matching, kind, **fields)  # type: ignore[arg-type] - a test's keywords


def test_a_draft_becomes_a_record() -> None:
    """The id depends on campaign and value only: the next import gives the same."""
    (one,), skipped = settle([_draft("evil.example")], [], TERMS, "f")
    (again,), _ = settle([_draft("other.example"), _draft("evil.example")][1:], [], TERMS, "g")
    assert skipped == ()
    assert one.indicator.id == again.indicator.id
    assert one.indicator.id.startswith("evil-")
    assert (one.note, one.references, one.indicator.action) == ("a note", (ORIGIN.reference,), Action.BLOCK)


def test_a_bad_value_is_skipped_with_its_reason() -> None:
    """So is one that no first look could find."""
    drafts = [_draft("127.0.0.1", Matching.ADDRESS, "ipv4"), _draft("/a/.x", Matching.PATH, "path")]
    records, skipped = settle(drafts, [], TERMS, "f")
    assert records == ()
    assert ["loopback" in skipped[0].reason, "first look" in skipped[1].reason] == [True, True]


def test_what_ended_is_skipped() -> None:
    """With the day."""
    gone = replace(_draft("evil.example"), origin=replace(ORIGIN, valid_until=NOW - timedelta(days=1)))
    records, (left,) = settle([gone], [], TERMS, "f")
    assert records == ()
    assert "expired on 2026-11-30" in left.reason


def test_the_same_value_twice_is_one_with_the_stricter_action() -> None:
    """And with the longer validity."""
    until = NOW + timedelta(days=9)
    weak = replace(_draft("evil.example", weak="alert only: why"), origin=replace(ORIGIN, valid_until=until))
    later = replace(weak, origin=replace(ORIGIN, valid_until=until + timedelta(days=1)))
    (one,), _ = settle([weak, later], [], TERMS, "f")
    assert (one.indicator.action, one.valid_until) == (Action.ALERT, until + timedelta(days=1))
    (one,), _ = settle([weak, _draft("EVIL.example".lower())], [], TERMS, "f")
    assert (one.indicator.action, one.valid_until) == (Action.BLOCK, None)


EVERYBODYS = [
    ("github.com", Matching.DOMAIN, "domain"),
    ("api.github.com", Matching.DOMAIN, "domain"),
    ("8.8.8.8", Matching.ADDRESS, "ipv4"),
    ("https://github.com/", Matching.URL, "url"),
    ("python.exe", Matching.EXACT, "file_name"),
    ("evil.exe", Matching.EXACT, "file_name"),
]


@pytest.mark.parametrize(("value", "matching", "kind"), EVERYBODYS, ids=lambda part: str(part))
def test_what_everybody_uses_only_reports(value: str, matching: Matching, kind: str) -> None:
    """Unless the operator says otherwise; the note tells why."""
    (one,), _ = settle([_draft(value, matching, kind)], [], TERMS, "f")
    assert one.indicator.action is Action.ALERT
    assert "alert only" in one.note
    (forced,), _ = settle([_draft(value, matching, kind)], [], replace(TERMS, force=True), "f")
    assert forced.indicator.action is Action.BLOCK


@pytest.mark.parametrize(
    "value", ["https://github.com/evil/x", "https://evil.example/", "http://x.github.io/"]
)
def test_what_is_somebodys_own_may_refuse(value: str) -> None:
    """A page on a service that everybody uses is not the service."""
    (one,), _ = settle([_draft(value, Matching.URL, "url")], [], TERMS, "f")
    assert one.indicator.action is Action.BLOCK


def test_the_operator_chooses_action_and_campaign() -> None:
    """For all of an import."""
    (one,), _ = settle([_draft("evil.example")], [], Terms(NOW, Action.ALERT, "mine"), "f")
    assert (one.indicator.action, one.indicator.campaign) == (Action.ALERT, "mine")
    records, (left,) = settle([_draft("no url", Matching.URL, "url")], [], TERMS, "f")
    assert records == ()
    assert "scheme" in left.reason


def test_more_than_a_gate_should_carry_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a shorter list."""
    monkeypatch.setattr(module, "MAX_DRAFTS", 1)
    with pytest.raises(ValueError, match="more than 1"):
        settle([_draft("a.example"), _draft("b.example")], [], TERMS, "f")


def test_foreign_text_becomes_a_line() -> None:
    """Without what a terminal would obey; a campaign's name has letters, digits and dashes."""
    assert plain("a\x1b[2J\n b\u202e\t c") == "a[2J b c"
    assert plain({"a": 1}) == ""
    assert slug("  Op\u00e9ration \u201cEvil\u201d #7! ", "x") == "operation-evil-7"
    assert slug("\u5584", "x") == "x"
    assert count_kinds(["b", "a", "b"]) == {"a": 1, "b": 2}
    assert list(each_dict([1, {"a": 1}])) == [{"a": 1}]
    assert list(each_dict({"a": 1})) == []
