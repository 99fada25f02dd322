"""Paths that callers name are judged on every route that says what its paths are."""

from typing import Any

import pytest

from herma.policy.checks.path_guard import MAX_PATHS, PathGuard
from herma.policy.decision import Allow, Decision, Deny
from herma.policy.exchange import Phase
from support.exchanges import exchange, head, match

READ = match("file.read", paths=("path", "file"))
WRITE = match("file.write", paths=("path", "file"))


def query(text: str, route: Any = READ) -> Decision:
    return PathGuard().decide(exchange(route=route, sent=head("GET", f"/x?{text}")), Phase.REQUEST_HEAD)


def body(value: Any, route: Any = WRITE, *, form: bool = False) -> Decision:
    return PathGuard().decide(exchange(value, route=route, form=form), Phase.REQUEST_BODY)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("path=/root/.hermes/.env", "herma.file.secret"),
        ("path=%2Froot%2F.hermes%2F%2Eenv", "herma.file.secret"),
        ("path=%252Eenv", "herma.file.secret"),
        ("p%61th=.env", "herma.file.secret"),
        ("path=notes.md&path=.env", "herma.file.secret"),
        ("path=/srv&file=.env", "herma.file.secret"),
        ("path=x%2500", "herma.file.unreadable"),
        ("a&" * 3000, "herma.file.unreadable"),
    ],
)
def test_a_query_does_not_read_a_secret(text: str, code: str) -> None:
    """Whichever of its values the upstream takes."""
    decision = query(text)
    assert isinstance(decision, Deny)
    assert (decision.status, decision.code) == (403, code)
    assert [finding.place for finding in decision.findings] == ["query"]
    assert "hermes/" not in decision.message


def test_reading_is_less_than_writing() -> None:
    """A log in the agent's home may be read by whoever may read files."""
    for path in ("/root/.hermes/logs/x.log", "/etc/hosts"):
        assert query(f"path={path}") == Allow()
        assert isinstance(query(f"path={path}", WRITE), Deny)
    assert query("other=.env") == Allow()
    assert query("path=.env", match("config.read")) == Allow()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"path": "/root/.hermes/scripts/x.sh", "content": "x"}, "herma.file.agent"),
        ({"path": "/etc/cron.d/x"}, "herma.file.system"),
        ({"path": "~/.ssh/authorized_keys"}, "herma.file.secret"),
        ({"path": 7}, "herma.file.unreadable"),
        ({"path": {"x": 1}}, "herma.file.unreadable"),
        ({"path": ["ok.md"] * MAX_PATHS + ["ok.md"]}, "herma.file.unreadable"),
        ({"path": ["ok.md", ".env"]}, "herma.file.secret"),
    ],
)
def test_a_body_does_not_write_what_runs(value: Any, code: str) -> None:
    """Nor something that is no path at all."""
    decision = body(value)
    assert isinstance(decision, Deny)
    assert decision.code == code
    assert [finding.place for finding in decision.findings] == ["/path"]


def test_a_form_has_fields_with_values() -> None:
    """Each of them counts."""
    assert body({"path": ["notes.md"], "file": ["text of it"]}, form=True) == Allow()
    assert isinstance(body({"path": ["notes.md", "x/.env"]}, form=True), Deny)


@pytest.mark.parametrize("value", [None, [1], {"path": None, "content": ".env"}, {"path": "notes.md"}])
def test_an_ordinary_write_passes(value: Any) -> None:
    """What a file says is no path."""
    assert body(value) == Allow()


def test_an_archive_writes_nothing_outside_of_the_home_that_runs_or_is_believed() -> None:
    """What it writes there otherwise passes; what it writes into the home is judged by what it says."""
    route = match("restore", archives=("file",))
    for path, code in (
        ("~/.ssh/authorized_keys", "secret"),
        ("~/.bashrc", "system"),
        ("~/.hermes/hooks/x", "agent"),
    ):
        decision = body({"file": ["backup.zip", {"path": path}]}, route, form=True)
        assert isinstance(decision, Deny), path
        assert decision.code == f"herma.file.{code}"
    passing = ["backup.zip", {"path": "~/.honcho/notes.md"}, {"path": "~/.hermes/.env", "content": "A=b"}]
    assert body({"file": passing}, route, form=True) == Allow()
    assert body({}, route, form=True) == Allow()
    # In JSON nobody sends an archive.
    assert body({"file": 5}, route) == Allow()
