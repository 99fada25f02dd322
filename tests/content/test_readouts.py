"""What a profile says of the places where an upstream tells something."""

import pytest

from herma.content.profiles import load_profile, parse_profile
from herma.content.readouts import is_template
from herma.errors import ContentError
from herma.policy.message.html import PageKey

TEXT = "name: x\ndescription: d\nmin_version: '1'\nenvelope: openai\nroutes:\n  - {method: GET, path: /a, operation: a.read, scope: read}\n"


def test_the_dashboard_has_a_page_with_its_key() -> None:
    """And a path that answers to that key alone."""
    profile = load_profile("hermes-dashboard")
    assert profile.page_key == PageKey("/", "__HERMES_SESSION_TOKEN__")
    assert profile.guarded == "/api/profiles/active"
    assert load_profile("hermes-api").page_key is None


def test_the_dashboard_tells_of_turns() -> None:
    """By events that name a session or a task."""
    events = load_profile("hermes-dashboard").turn_events
    assert events is not None
    assert events.names == ("/params/payload/task_id", "/params/session_id")
    assert events.begin == {"message.start"}
    assert load_profile("hermes-api").turn_events is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("page_key: {path: '/{a}', name: KEY}", "expected an exact path"),
        ("page_key: {path: /, name: 'a.b'}", "expected the name of a variable"),
        ("guarded: a", "expected an exact path"),
        ("turn_events: {kind: a, names: [/b], call: /c, end: [x]}", "expected a JSON Pointer"),
        ("turn_events: {kind: /a, names: [/b], call: /c, stops: [x]}", "unknown key"),
    ],
)
def test_what_is_none_is_refused(line: str, message: str) -> None:
    """With what was expected."""
    with pytest.raises(ContentError, match=message):
        parse_profile((TEXT + line + "\n").encode(), "x.yaml")


@pytest.mark.parametrize(("text", "expected"), [("/", True), ("/a/{b}", True), ("a", False), ("/a/", False)])
def test_a_template_is_a_path(text: str, expected: bool) -> None:
    """With or without parameters."""
    assert is_template(text) is expected
