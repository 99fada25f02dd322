"""Claims about `herma.policy.command.glob`."""

import pytest

from herma.policy.command.glob import MAX_GLOB_CHARS, GlobError, unglob

READ = {
    "a sensitive file": ("~/.ss?/auth*_ke?s", "~/.ssh/authorized_keys"),
    "a program": ("/???/b??/c?rl", "curl"),
    "a program in one directory": ("/b??/s?", "sh"),
    "a program with one letter hidden": ("/usr/bin/cront?b", "crontab"),
    "a program with hardly a letter": ("/usr/bin/c*", "/usr/bin/c*"),
    "another file": ("/srv/*.txt", "/srv/*.txt"),
    "an unknown program": ("/???/x??/z?z?", "/???/x??/z?z?"),
    "only stars": ("/srv/*", "/srv/*"),
    "no path": ("*.py", "*.py"),
    "no wildcard": ("/etc/crontab", "/etc/crontab"),
    "a long way to a file": ("/root/" + "./" * MAX_GLOB_CHARS + ".bash?c", "~/.bashrc"),
    "a long text with signs": ("[" * 9 + "?" * MAX_GLOB_CHARS, "[" * 9 + "?" * MAX_GLOB_CHARS),
}


@pytest.mark.parametrize(("word", "read"), READ.values(), ids=READ.keys())
def test_wildcards_are_read_as_what_they_are_meant_for(word: str, read: str) -> None:
    """Patterns that can only mean a known program or sensitive file are that; others stay."""
    assert unglob(word) == read


def test_a_pattern_that_is_too_long_is_no_text() -> None:
    """It is told from those that mean nothing."""
    with pytest.raises(GlobError):
        unglob("/" + "?" * MAX_GLOB_CHARS)


def test_parts_of_a_path_are_read_by_what_they_are_meant_for() -> None:
    """A directory of the system with a letter left out is that directory; what has hardly any letters is not guessed."""
    assert unglob("/e?c/cron.?/x") == "/etc/cron.d/x"
    assert unglob("/srv/?/x") == "/srv/?/x"
    assert unglob("/etc/[ab]?/x") == "/etc/[ab]?/x"
