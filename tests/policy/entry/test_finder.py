"""Claims about `herma.policy.entry.finder`."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry import finder, written
from herma.policy.entry import text as texts_module
from herma.policy.entry.finder import Entry, Kind, entries, may_hold_entry

ENTRY = {"command": "bash", "args": ["-c", "echo hi"]}
PLACES: dict[str, tuple[Any, str, str]] = {
    "a configuration": ({"mcp_servers": {"a/b": ENTRY}}, "a/b", "/mcp_servers/a~1b"),
    "another spelling": ({"x": {"mcpServers": {"a": {"command": "bash"}}}}, "a", "/x/mcpServers/a"),
    "by shape": ({"anything": [{"name": "n", **ENTRY}]}, "n", "/anything/0"),
    "an environment beside a command": ({"s": {"command": "x", "env": {"A": "b"}}}, "s", "/s"),
    "arguments as a mapping": ({"s": {"command": "x", "args": {"a": "b"}}}, "s", "/s"),
    "a list as command": ({"s": {"command": ["x"], "args": []}}, "s", "/s"),
    "an address in its place": ({"mcp": {"r": {"url": "http://x.example"}}}, "r", "/mcp/r"),
    "an address with headers": ({"r": {"url": "http://x.example", "headers": {}}}, "r", "/r"),
    "an address with a transport": ({"r": {"url": "http://x.example", "type": "streamable-http"}}, "r", "/r"),
    "arguments alone in their place": ({"mcp": {"r": {"args": ["x"]}}}, "r", "/mcp/r"),
    "JSON in a string": ({"config": json.dumps({"mcp_servers": {"j": ENTRY}})}, "j", "/config"),
    "JSON after prose": ({"text": "Add this: " + json.dumps({"k": ENTRY}) + " please"}, "k", "/text"),
    "JSON after broken JSON": ({"text": "{x} {" + json.dumps({"k": ENTRY})}, "k", "/text"),
    "JSON in JSON": ({"a": json.dumps({"b": json.dumps({"mcp_servers": {"j": ENTRY}})})}, "j", "/a"),
}


@pytest.mark.parametrize(("value", "name", "place"), PLACES.values(), ids=PLACES.keys())
def test_an_entry_is_found_by_place_and_by_shape(value: Any, name: str, place: str) -> None:
    """Wherever an entry stands, it is found, with its name and the pointer of what holds it."""
    assert (name, place) in [(entry.name, entry.place) for entry in entries(value)]
    assert may_hold_entry(json.dumps(value).encode())


TEXTS = {
    "YAML": 'mcp_servers:\n  x:\n    command: bash\n    args: [\'-c\', "echo \\"hi\\"", plain]\n    env:\n      A_B: c\n',
    "YAML lines": 'mcp_servers:\n  x:\n    command: \'bash\'\n    args:\n      - -c\n      - "echo \\"hi\\""\n      - plain\n    env:\n      A_B: c\n',
    "TOML": '[mcp_servers.x]\ncommand = "bash"\nargs = ["-c", "echo \\"hi\\"", "plain"]\nA_B = "c"\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_entries_in_configuration_text_are_read(text: str) -> None:
    """YAML and TOML in a string give the same entry."""
    found = [entry.fields for entry in entries({"text": text})]
    assert {"command": "bash", "args": ["-c", 'echo "hi"', "plain"], "env": {"A_B": "c"}} in found


LINES = {
    "an address in YAML": (
        "mcp_servers:\n  x:\n    url: http://x.example/mcp\n",
        {"url": "http://x.example/mcp"},
    ),
    "a setting": ("hermes config set mcp_servers.x.command 'bash -c y'", {"command": "bash -c y"}),
    "an address setting": (
        "hermes config set mcp_servers.x.url http://x.example",
        {"url": "http://x.example"},
    ),
    "an addition": ("run hermes mcp add x -- bash -c y", {"command": "bash -c y"}),
    "an addition with an option": ("hermes mcp add x --command 'bash -c y'", {"command": "bash -c y"}),
    "another addition": ("hermes mcp add x bash", {"command": "x bash"}),
    "a command without arguments": (
        "mcp_servers:\n  x:\n    command: bash\n",
        {"command": "bash"},
    ),
    "arguments that say so, without the word": (
        "command: bash\nargs: []\n",
        {"command": "bash", "args": [], "env": {}},
    ),
}


@pytest.mark.parametrize(("text", "fields"), LINES.values(), ids=LINES.keys())
def test_command_lines_that_write_entries_are_read(text: str, fields: dict[str, Any]) -> None:
    """Settings and additions on a command line are entries too."""
    assert fields in [entry.fields for entry in entries([text])]


NONE: dict[str, Any] = {
    "a terminal tool's arguments": {"arguments": {"command": "ls -la"}},
    "an image": {"image_url": {"url": "https://x.example/a.png"}},
    "an image with a detail": {"image_url": {"url": "https://x.example/a.png", "type": "image"}},
    "prose": {"text": "The command line takes args, as every program does."},
    "a command in YAML that is nothing else": {"text": "steps:\n  command: ls\n  with: args in prose\n"},
    "a sentence about a command": {"text": "Which command lists files?"},
    "numbers": [1, None, True, "short"],
    "a command that is none": {"command": 5, "args": []},
}


@pytest.mark.parametrize("value", NONE.values(), ids=NONE.keys())
def test_what_only_looks_similar_is_no_entry(value: Any) -> None:
    """A command alone is a tool's argument, an address alone an image."""
    assert not [entry for entry in entries(value) if "args" in entry.fields or "url" in entry.fields]


def test_a_whole_body_can_be_an_entry() -> None:
    """On a route that takes one, the body is judged even if it has nothing but a command."""
    assert list(entries({"name": "x", "command": "bash"}, whole=True)) == [
        Entry("x", {"name": "x", "command": "bash"}, "")
    ]


def test_the_quick_look_sees_escapes_and_forms() -> None:
    """A body that writes its names in escapes is not passed over; one with no such word is."""
    assert may_hold_entry(b'{"\\u0063ommand":"x"}')
    assert may_hold_entry(b'{"headers":1}')
    assert not may_hold_entry(b'{"messages":[{"content":"hello, command me"}]}')


def test_nests_and_attempts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON in JSON in JSON, deep JSON and text full of braces end the search."""
    assert list(entries(["command args {" + "{" * 500])) == []
    deep: Any = {"mcp_servers": {"j": ENTRY}}
    for _ in range(finder.MAX_NESTING + 2):
        deep = {"mcp_x": json.dumps(deep)}
    assert [entry.kind for entry in entries(deep)] == [Kind.UNREAD]
    assert list(entries(['{"x":' * 100_000 + '"args":'])) == []
    monkeypatch.setattr(written, "MAX_NAMES", 3)
    text = "see " + json.dumps([ENTRY] * 5)
    assert [entry.kind for entry in entries([text])] == [Kind.UNREAD]


@pytest.mark.parametrize("padding", ["x", " ", "mcp "])
def test_a_string_that_is_too_long_to_be_read_is_not_read_in_part(padding: str) -> None:
    """An entry behind more text than is searched counts as one of that size, so that no check judges it by halves."""
    text = padding * (texts_module.MAX_STRING_CHARS // len(padding)) + json.dumps(
        {"mcp_servers": {"j": ENTRY}}
    )
    found = list(entries({"a": text}))
    assert [entry.place for entry in found] == ["/a"]
    assert found[0].kind is Kind.UNREAD


def test_a_long_string_without_names_of_entries_is_no_entry() -> None:
    """A picture in base64 may hold the letters of any word by chance."""
    text = "bWNwcommandargsMCPurl" * texts_module.MAX_STRING_CHARS
    assert list(entries({"a": text, "mcp": {"b": text}})) == []


def test_braces_before_an_entry_do_not_hide_it() -> None:
    """However many of them there are, and whatever escapes its names are written in."""
    text = "{" * 5000 + json.dumps({"k": ENTRY})
    assert ENTRY in [entry.fields for entry in entries([text])]
    escaped = json.dumps({"k": ENTRY}).replace("command", "\\u0063ommand").replace("args", "\\u0061rgs")
    assert ENTRY in [entry.fields for entry in entries(["mcp " + escaped])]


def test_every_entry_of_a_body_is_given() -> None:
    """How many are judged is the check's decision."""
    assert len(list(entries([ENTRY] * 999))) == 999


@given(st.text(alphabet="mcp comandrgsul:=-[]{}\"'\n,x", max_size=120) | st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    """No text makes the search fail."""
    for prefix in ("mcp_servers:\n", "command: x\nargs:", ""):
        assert all(entry.place == "/0" for entry in entries([prefix + text]))


def test_configuration_text_beyond_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More YAML in one body than can be read counts as unread."""
    monkeypatch.setattr(texts_module, "MAX_OUTLINED_CHARS", 20)
    text = "hooks:\n  a:\n  - command: x\n"
    assert Kind.UNREAD not in {entry.kind for entry in entries([text])}
    assert Kind.UNREAD in {entry.kind for entry in entries([text, {"yaml_text": text}])}


def test_a_name_or_a_path_is_not_read_as_text() -> None:
    """A string without blanks and signs writes no entry."""
    assert list(entries({"a": "/srv/mcp/command/args"})) == []


def test_text_in_text_beyond_the_bound_is_refused() -> None:
    """JSON in JSON is read as far as transcripts of transcripts go; what is wrapped once more counts as unread."""
    text = json.dumps({"command": "bash", "args": ["-c"]})
    for _ in range(finder.MAX_NESTING):
        text = json.dumps({"mcp_servers": text})
    assert [entry.fields for entry in entries([text])] == [{}]
    assert [entry.kind for entry in entries([text])] == [Kind.UNREAD]


def test_values_and_keys_beyond_the_bounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More JSON objects, or more keys that are set, than can be looked at count as unread."""
    texts = [json.dumps({"command": "x", "args": []})] * 3 + ["hermes config set hooks.b c"] * 3
    assert Kind.UNREAD not in {entry.kind for entry in entries(texts)}
    monkeypatch.setattr(texts_module, "MAX_VALUES", 2)
    assert Kind.UNREAD in {entry.kind for entry in entries(texts)}
    monkeypatch.setattr(texts_module, "MAX_VALUES", 9)
    monkeypatch.setattr(texts_module, "MAX_KEYS_SET", 2)
    assert Kind.UNREAD in {entry.kind for entry in entries({"mcp command": texts})}


def test_the_name_of_a_server_is_its_key_as_it_is_written() -> None:
    """A name inside that differs makes the entry doubted; raw configuration carries its names."""
    found = list(entries({"mcp_servers": {"Relay": ENTRY}}))
    assert [(entry.name, entry.doubted) for entry in found] == [("Relay", False)]
    found = list(entries({"mcp_servers": {"evil": {**ENTRY, "name": "relay"}}}))
    assert {(entry.name, entry.doubted) for entry in found} == {("evil", True), ("relay", True)}
    found = list(entries({"yaml_text": "mcp_servers:\n  Relay:\n    command: ngrok\n    args: [tcp]\n"}))
    assert [(entry.name, entry.place) for entry in found] == [("Relay", "/yaml_text")]


def test_files_of_the_agent_are_read_as_what_they_are() -> None:
    """Programs, variables, configuration; others are texts, and long programs of a transcript are none."""
    program = {"path": "/root/.hermes/plugins/x.js", "content": "code()"}
    assert {"command": "node", "args": ["-e", "code()"], "env": None} in [
        entry.fields for entry in entries(program)
    ]
    assert list(entries({"path": "/root/.hermes/notes", "content": "some words"})) == []
    assert list(entries({"path": "/root/.hermes/x.yml", "content": "a: 1\n---\nb: 2\n"})) == []
    long = {"path": "/root/.hermes/scripts/x.sh", "content": "date\n" * finder.MAX_SCRIPT_CHARS}
    assert list(entries({"messages": [json.dumps(long)]})) == []


def test_paths_that_stand_in_each_others_way_are_all_read() -> None:
    """A key below a key that is set does not hide what is set."""
    body = {"approvals.mode": "off", "approvals.mode.x": 1}
    assert "off" in [entry.fields.get("value") for entry in entries(body)]


def test_values_that_are_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a text is one JSON document, or full of them, or its blocks are long."""
    monkeypatch.setattr(texts_module, "MAX_VALUES", 1)
    for text in ('x {"command": 1} {"command": 2} args', '{"hooks": 1}'):
        assert Kind.UNREAD in {entry.kind for entry in entries([text, text])}
    monkeypatch.setattr(texts_module, "MAX_WHOLE_CHARS", 0)
    monkeypatch.setattr(texts_module, "MAX_OUTLINED_CHARS", 5)
    assert Kind.UNREAD in {entry.kind for entry in entries(["hooks:\n  a: b\n"])}


def test_a_named_body_is_an_entry_where_nobody_knows_the_route() -> None:
    """A body that is a list has no name."""
    body = {"name": "x", "command": "bash"}
    assert [entry.name for entry in entries(body, top=True)] == ["x"]
    assert list(entries([body], top=True)) == []
    assert list(entries(body)) == []


def test_a_list_of_words_is_read_as_a_command_line() -> None:
    """It sets a key or adds a server, as the same words in one text would."""
    found = list(entries({"argv": ["hermes", "config", "set", "approvals.mode", "off"]}))
    assert [entry.fields for entry in found] == [{"setting": "approvals.mode", "value": "off"}]
    found = list(entries({"argv": ["hermes", "mcp", "add", "x", "--", "bash", "-c", "y"]}))
    assert [entry.fields for entry in found] == [{"command": "bash", "args": ["-c", "y"]}]


def test_a_patch_is_read_as_the_whole_that_it_makes() -> None:
    """A command and its arguments in two operations are one entry."""
    patch = [
        {"op": "add", "path": "/mcp_servers/x/command", "value": "bash"},
        {"op": "add", "path": "/mcp_servers/x/args", "value": ["-c", "y"]},
    ]
    assert {"command": "bash", "args": ["-c", "y"]} in [entry.fields for entry in entries(patch)]


def test_variables_are_found_in_a_file_and_as_a_pair() -> None:
    """Both set the environment of what the agent starts."""
    written_env = {"path": "/root/.hermes/.env", "content": "export LD_PRELOAD='/x.so'\nEMPTY=\n"}
    for body in (written_env, {"key": "LD_PRELOAD", "value": "/x.so"}):
        found = [entry for entry in entries(body) if entry.kind is Kind.COMMAND]
        assert {"LD_PRELOAD": "/x.so"} in [entry.fields.get("env") for entry in found]


def test_an_environment_at_the_top_of_a_body_is_found() -> None:
    """It is set for what the agent starts, without any command beside it."""
    found = list(entries({"env": {"LD_PRELOAD": "/x.so"}}))
    assert [(entry.kind, entry.place) for entry in found] == [(Kind.COMMAND, "/env")]


def test_a_list_that_sets_more_keys_than_are_read_is_refused() -> None:
    """A command line sets a key or two."""
    words = ["config", "set", "approvals.mode=manual"]
    assert Kind.UNREAD not in {entry.kind for entry in entries({"x": words * 9})}
    assert Kind.UNREAD in {entry.kind for entry in entries({"x": words * 300})}


def _spelled(name: str, count: int) -> list[str]:
    """Give so many names that fold to one."""
    return [
        "".join(letter.upper() if number >> at & 1 else letter for at, letter in enumerate(name))
        for number in range(count)
    ]


def test_members_with_one_name_are_given_in_every_choice() -> None:
    """Where there are too many choices, the mapping is given as one that was not read."""
    two = {"hooks": {"e": [{"command": "touch a", "Command": "touch b"}]}}
    assert {"touch a", "touch b"} <= {str(entry.fields.get("command")) for entry in entries(two)}
    many = {"x": dict.fromkeys(_spelled("command", 40), "touch x")}
    assert Kind.UNREAD in {entry.kind for entry in entries(many)}
    hook = {"hooks": {"e": dict.fromkeys(_spelled("command", 40), "touch x")}}
    assert Kind.UNREAD in {entry.kind for entry in entries(hook)}
    patch = [{"op": "add", "path": "/a", "value": 1, **dict.fromkeys(_spelled("command", 40), "x")}]
    assert Kind.UNREAD in {entry.kind for entry in entries(patch)}


def test_choices_of_one_body_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many mappings with a choice each are as many as one with many."""
    monkeypatch.setattr(finder, "MAX_CHOICES", 3)
    body = {"a": [{"command": "touch a", "Command": "touch b"} for _ in range(4)]}
    assert Kind.UNREAD in {entry.kind for entry in entries(body)}
