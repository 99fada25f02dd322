"""Claims about `herma.policy.entry.fields`."""

from herma.policy.entry.fields import Fields


def test_an_entry_is_taken_apart() -> None:
    """Command and arguments make one vector, whatever they are nested in; unknown fields are kept."""
    fields = Fields.of(
        {
            "command": "x",
            "args": ["a", ["b", {"k": "c"}], 5],
            "env": {"A": "1", "B": 2, "C": None, "D": ["p", {"k": "q"}]},
            "cwd": "/srv",
            "Work_Dir": "/tmp",
            "url": "https://x",
            "headers": {"H": "v"},
            "postStart": ["y"],
            "description": "not a word of it runs",
        }
    )
    assert fields.words == ("x", "a", "b", "c", "5")
    assert fields.env == {"A": "1", "B": "2", "D": "p q"}
    assert fields.directories == ("/srv", "/tmp")
    assert (fields.url, fields.headers, fields.others) == ("https://x", {"H": "v"}, ("/srv", "/tmp", "y"))


def test_other_shapes_are_read_too() -> None:
    """An environment as a list of assignments is read; what is no text is none."""
    assert Fields.of({"env": ["A=b=c", 5]}).env == {"A": "b=c"}
    empty = Fields.of({"url": 5, "env": 7, "command": None})
    assert (empty.words, empty.url, empty.env) == ((), "", {})


def test_look_alike_letters_are_read_as_what_they_imitate() -> None:
    """A second reading is made only where it differs."""
    plain = Fields.of({"command": "x", "env": {"A": "b"}})
    assert plain.read() is plain
    disguised = Fields.of({"command": "сurl", "env": {"А": "с"}, "x": "с"}).read()
    assert (disguised.words, disguised.env, disguised.others) == (("curl",), {"a": "c"}, ("c",))


def test_what_a_server_must_not_do_is_left_out() -> None:
    """Lists of forbidden commands in options and variables are no commands."""
    fields = Fields.of(
        {
            "command": "npx",
            "args": ["server", "--deny", "rm -rf /", "--block=x", "--allow", "y"],
            "env": {"BLOCKED_COMMANDS": "rm -rf /", "A": "b"},
        }
    )
    assert fields.words == ("npx", "server", "--deny", "--allow", "y")
    assert fields.env == {"A": "b"}


def test_what_a_shell_or_a_program_could_run_is_never_left_out() -> None:
    """Whoever has a script has also its parameters and its environment."""
    for command, script in (("sh", "eval $2"), ("python3", "import os; os.system(x)")):
        entry = {"command": command, "args": ["-c", script, "--deny", "x"], "env": {"DENY": "y"}}
        fields = Fields.of(entry)
        assert fields.words == (command, "-c", script, "--deny", "x")
        assert fields.env == {"DENY": "y"}
