"""Claims about `herma.policy.entry.fields`."""

from herma.policy.entry.fields import Fields


def test_an_entry_is_taken_apart() -> None:
    """Command and arguments make one vector, whatever they are nested in; unknown fields are kept."""
    fields = Fields.of(
        {
            "command": "x",
            "args": ["a", ["b", {"k": "c"}], 5],
            "env": {"A": "1", "B": 2, "C": None},
            "url": "https://x",
            "headers": {"H": "v"},
            "postStart": ["y"],
            "description": "not a word of it runs",
        }
    )
    assert fields.words == ("x", "a", "b", "c", "5")
    assert fields.env == {"A": "1", "B": "2"}
    assert (fields.url, fields.headers, fields.others) == ("https://x", {"H": "v"}, ("y",))


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
