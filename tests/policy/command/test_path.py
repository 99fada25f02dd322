"""Claims about `herma.policy.command.path`."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.path import MAX_BRACES, BracesError, braces, glob_matches, resolve_path

PATHS = {
    "two slashes": ("//etc//crontab", "/etc/crontab"),
    "dots": ("/etc/../etc/./cron.d", "/etc/cron.d"),
    "above the root": ("/../../etc/shadow", "/etc/shadow"),
    "through the first process": ("/proc/1/root/etc/shadow", "/etc/shadow"),
    "through itself twice": ("/proc/self/root/proc/1/task/1/root/etc", "/etc"),
    "the root through a process": ("/proc/1/root", "/"),
    "root's home": ("/root/.ssh/x", "~/.ssh/x"),
    "root's home by name": ("~root/.ssh/x", "~/.ssh/x"),
    "a user's home": ("/home/alice/.ssh/x", "~/.ssh/x"),
    "a user's home by name": ("~alice/.ssh/x", "~/.ssh/x"),
    "a variable": ("$HOME/.bashrc", "~/.bashrc"),
    "a braced variable": ("${HOME}/../x", "~/x"),
    "Windows": ("%USERPROFILE%\\.hermes\\.env", "~/.hermes/.env"),
    "a drive": ("C:\\x", "C:\\x"),
    "relative": ("a/../b", "b"),
}


@pytest.mark.parametrize(("path", "resolved"), PATHS.values(), ids=PATHS.keys())
def test_a_path_is_written_in_one_way(path: str, resolved: str) -> None:
    """Spellings that name the same file become the same text."""
    assert resolve_path(path) == resolved


def test_braces_are_expanded_up_to_a_bound() -> None:
    """Every choice is given, nested ones too, and letters of a range; past the bound none is."""
    assert set(braces("~/.s{s,}h/{a,b{c,d}}")) == {
        "~/.ssh/a",
        "~/.ssh/bc",
        "~/.ssh/bd",
        "~/.sh/a",
        "~/.sh/bc",
        "~/.sh/bd",
    }
    assert braces("plain") == ("plain",)
    assert braces("{c..a}{1..3}") == ("c{1..3}", "b{1..3}", "a{1..3}")
    assert len(braces("{a,b}" * 6)) == MAX_BRACES
    with pytest.raises(BracesError):
        braces("{a,b}" * 7)


def test_wildcards_match_part_by_part() -> None:
    """A pattern names a path if every part does, and never reaches across a slash."""
    assert glob_matches("/root/.s*h/a*s", "~/.ssh/authorized_keys")
    assert not glob_matches("/root/*", "~/.ssh/authorized_keys")
    assert not glob_matches("/etc/x*", "/etc/crontab")


@given(st.text(alphabet="/.~ab$%{},*\\:", max_size=40))
def test_any_text_can_be_resolved(path: str) -> None:
    """Any text can be resolved and expanded."""
    assert isinstance(resolve_path(path), str)
    with suppress(BracesError):
        assert braces(path)
    assert glob_matches(path, path) in {True, False}
