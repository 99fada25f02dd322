"""Claims about `herma.policy.entry.written`."""

import json

from herma.policy.entry.written import keys_set, on_command_lines, written_in_json, written_in_yaml


def test_json_is_found_inside_other_text() -> None:
    """From the braces around a name that entries have, each object once."""
    text = (
        "please add "
        + json.dumps({"a": {"command": "x"}})
        + " and "
        + json.dumps({"path": "/approvals/mode", "value": "off"})
    )
    assert written_in_json(text) == [{"a": {"command": "x"}}, {"path": "/approvals/mode", "value": "off"}]
    assert written_in_json('{"path": "/srv/x"}') == []
    assert written_in_json('{"command": ') == []
    assert written_in_json('"command": 1') == []


def test_yaml_is_found_inside_prose() -> None:
    """A command with its arguments and environment, and addresses where the text speaks of MCP."""
    text = "Try this:\n  command: bash\n  args:\n    - -c\n    - 'x y'\n  env:\n    A_B: c\n"
    (entry,) = written_in_yaml(text, "/p", mentions=False)
    assert entry.fields == {"command": "bash", "args": ["-c", "x y"], "env": {"A_B": "c"}}
    assert list(written_in_yaml("command: x", "", mentions=False)) == []
    assert [e.fields for e in written_in_yaml("url: https://x.example", "", mentions=True)] == [
        {"url": "https://x.example"}
    ]


def test_command_lines_that_add_servers_are_read() -> None:
    """What would run stands behind the name, behind `--`, or behind `--command`."""
    text = "hermes mcp add x -- npx y\nhermes mcp add z --command='sh -c q'\nhermes config set mcp_servers.a.url https://x.example"
    found = [entry.fields for entry in on_command_lines(text, "")]
    assert found == [{"url": "https://x.example"}, {"command": "npx y"}, {"command": "sh -c q"}]


def test_command_lines_that_set_keys_are_read() -> None:
    """Quoted values are whole; others end where the command does."""
    text = 'hermes config set a.b \'c | d\'; hermes config set e.f g && x; hermes config set "h.i" "j;k"'
    assert list(keys_set(text)) == [("a.b", "c | d"), ("e.f", "g"), ("h.i", "j;k")]
