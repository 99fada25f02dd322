"""Claims about `herma.policy.entry.place`."""

import pytest

from herma.policy.entry.place import is_hidden_program, is_scratch, is_share, is_well_hidden, is_whole

SCRATCH = {
    "/tmp/x": (True, False),
    "/var/tmp/x": (True, False),
    "/tmp/.x": (True, True),
    "/tmp/a/.x": (True, True),
    "/dev/shm/x": (True, True),
    "/srv/../tmp/x": (True, False),
    "%temp%\\x.exe": (True, True),
    "c:\\users\\public\\x.exe": (True, True),
    "~/../../tmp/x": (True, True),
    "../../../tmp/x": (True, True),
    "/run/lock/x": (True, True),
    "/users/shared/x": (True, True),
    "${tmpdir}/x": (True, False),
    "../tmp/x": (False, False),
    "~/tmp/x": (False, False),
    "/srv/tmp/x": (False, False),
    "/tmpx/y": (False, False),
}


@pytest.mark.parametrize(("word", "places"), SCRATCH.items())
def test_places_where_everybody_may_write_are_known(word: str, places: tuple[bool, bool]) -> None:
    """A name with a dot hides there, and so does any place but the usual one."""
    assert (is_scratch(word), is_well_hidden(word)) == places


@pytest.mark.parametrize(
    ("word", "hidden"),
    [
        ("/srv/.a", True),
        ("/opt/x/.loader.so", True),
        ("/srv/.venv/bin/python", False),
        ("/srv/app/.env", False),
        ("~/.local/bin/x", False),
        ("./.a", False),
    ],
)
def test_a_hidden_program_lies_in_a_directory_of_the_system(word: str, hidden: bool) -> None:
    """Homes and projects are full of names with dots; settings are no programs."""
    assert is_hidden_program(word) is hidden


@pytest.mark.parametrize(
    ("word", "foreign"),
    [
        (r"\\198.51.100.7\s\a.exe", True),
        (r"\\drop.example.com@ssl\s\a", True),
        (r"\\fileserver\s\a.exe", False),
        (r"\\10.0.0.3\s\a", False),
        (r"c:\s\a.exe", False),
    ],
)
def test_a_share_is_one_of_a_foreign_host(word: str, foreign: bool) -> None:
    """Shares of the own network are how firms keep their files."""
    assert is_share(word) is foreign


@pytest.mark.parametrize(
    ("word", "whole"), [("/", True), ("~/", True), ("/home/*", True), ("'/root'", True), ("/srv/x", False)]
)
def test_homes_and_disks_are_whole(word: str, whole: bool) -> None:
    """What is in them is more than anybody means to name."""
    assert is_whole(word) is whole
