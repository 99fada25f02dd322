"""Claims about `herma.policy.entry.told`, and of words of command lines in `written`."""

from herma.policy.entry.told import MAX_VALUE_CHARS, keys_told, variable, written_file
from herma.policy.entry.written import argv_sets


def test_a_key_that_is_told_has_its_value_as_it_is_and_as_it_reads() -> None:
    """JSON and YAML in a text are read; what is neither stays a text; keys that do not count are none."""
    path = ("approvals",)
    assert list(keys_told({"key": "approvals", "value": '{"mode": 1}'})) == [
        (path, '{"mode": 1}'),
        (path, {"mode": 1}),
    ]
    assert list(keys_told({"key": ["approvals"], "value": "{mode: 1}"})) == [
        (path, "{mode: 1}"),
        (path, {"mode": 1}),
    ]
    for value in ("{mode", "off", 5, "{" * (MAX_VALUE_CHARS + 1)):
        assert list(keys_told({"path": "approvals", "value": value})) == [(path, value)]
    assert list(keys_told({"key": "colour", "value": "red"})) == []
    assert list(keys_told({"key": ["approvals", 5], "value": 1})) == []
    assert list(keys_told({"key": "approvals"})) == []


def test_a_variable_is_a_name_and_a_text() -> None:
    """Other names and values are none."""
    assert variable({"key": " A_B ", "value": "c"}) == {"A_B": "c"}
    assert variable({"name": "A_B", "value": "c"}) == {"A_B": "c"}
    assert variable({"key": "a.b", "value": "c"}) is None
    assert variable({"key": "A", "value": 1}) is None


def test_a_file_counts_if_it_is_the_agents_own() -> None:
    """Whatever system its path is of; a text in base64 is given as it reads."""
    assert written_file({"path": "C:\\u\\.hermes\\x.sh", "content": "date"}) == (
        "C:\\u\\.hermes\\x.sh",
        "date",
    )
    assert written_file({"file": "config.yaml", "content": "ZGF0ZSA+IC90bXAveA==", "encoding": "base64"}) == (
        "config.yaml",
        "date > /tmp/x",
    )
    assert written_file({"path": "/srv/x.sh", "content": "date"}) is None
    assert written_file({"path": "/root/.hermes/x.sh"}) is None
    assert written_file({"path": ""}) is None


def test_words_that_set_a_key_or_add_a_server_are_read() -> None:
    """With the value as a word or behind a sign; other lists of words set nothing."""
    assert list(argv_sets(["hermes", "config", "set", "approvals.mode", "off"])) == [
        (("approvals", "mode"), "off")
    ]
    assert list(argv_sets(["config", "set", "approvals.mode=off"])) == [(("approvals", "mode"), "off")]
    assert list(argv_sets(["config", "set", "colour", "red"])) == []
    assert list(argv_sets(["mcp", "add"])) == [((), {"command": "", "args": []})]
    assert list(argv_sets(["mcp", "add", "x", "--url"])) == [((), {"url": ""})]
    assert list(argv_sets(["mcp", "list", "x", 5])) == []
    assert list(argv_sets(["ls", "mcp", "list", "x"])) == []
