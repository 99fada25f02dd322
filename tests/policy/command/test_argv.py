"""Claims about `herma.policy.command.argv`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.argv import basename, contained, looks_like_script, programs, script_of

NAMES = {
    "a path": ("/usr/bin/../bin/bash", "bash"),
    "Windows": ("C:\\WINDOWS\\System32\\CMD.EXE", "cmd"),
    "a version": ("python3.12", "python"),
    "a name with a digit that is its own": ("pip3", "pip3"),
    "quotes": ("'sh'", "sh"),
}


@pytest.mark.parametrize(("word", "name"), NAMES.values(), ids=NAMES.keys())
def test_a_program_has_one_name(word: str, name: str) -> None:
    """Directory, extension, case and version do not matter."""
    assert basename(word) == name


def test_programs_behind_launchers_are_found() -> None:
    """Every known program begins a vector, whatever launches it; others do not."""
    assert list(programs(["odd-launcher", "--x", "env", "A=b", "sh", "-c", "y"])) == [
        ("odd-launcher", "--x", "env", "A=b", "sh", "-c", "y"),
        ("env", "A=b", "sh", "-c", "y"),
        ("sh", "-c", "y"),
    ]
    assert len(list(programs(["sh"] * 100))) == 100


def test_values_of_options_do_not_hide_what_a_launcher_launches() -> None:
    """Each of them is tried, and none takes the turn of an operand."""
    assert ("x", "y") in list(
        programs(["sudo", "-u", "a", "-g", "b", "-h", "c", "-p", "d", "-r", "e", "x", "y"])
    )
    assert ("x", "y") in list(programs(["docker", "compose", "-f", "z", "exec", "web", "x", "y"]))


def test_a_folder_that_is_called_like_a_tool_is_none() -> None:
    """What stands behind it is looked at as before."""
    found = list(programs(["uv", "run", "--cache-dir", "/tmp/uv", "bash", "-c", "x"]))
    assert [vector[0] for vector in found] == ["uv", "bash"]
    assert ("uvx", "y") in list(programs(["x", "--cache-dir", "uvx", "y"]))
    assert ("uvx", "y") in list(programs(["uv", "run", "bash", "-c", '"$@"', "--cache-dir", "uvx", "y"]))
    assert ("bash", "y") in list(programs(["uv", "run", "x", "--cache-dir", "bash", "y"]))


def test_a_file_that_a_launcher_takes_is_no_program() -> None:
    """What follows an option for files is passed over, what follows another is tried."""
    assert ("/tmp/x", "y") not in list(programs(["strace", "-o", "/tmp/x", "y"]))
    assert ("y",) in list(programs(["strace", "-o", "/tmp/x", "y"]))
    assert ("/tmp/x", "y") in list(programs(["env", "-i", "/tmp/x", "y"]))


SCRIPTS = {
    "plain": (["bash", "-c", "x", "a", "b"], ("x", ("a", "b"))),
    "a long cluster": (["dash", "-eeeeeeeeeeeeec", "x"], ("x", ())),
    "clustered": (["dash", "-ec", "x"], ("x", ())),
    "an option with a value first": (["sh", "-o", "errexit", "-c", "x"], ("x", ())),
    "cmd": (["cmd", "/v:on", "/c", "a", "b"], ("a b", ())),
    "PowerShell": (["pwsh", "-NoLogo", "-Command", "a", "b"], ("a b", ())),
    "no script": (["bash", "server.sh", "-c", "x"], None),
    "nothing behind the option": (["bash", "-c"], None),
    "only options": (["bash", "-i"], None),
    "another program": (["python", "-c", "x"], None),
    "nothing": ([], None),
}


@pytest.mark.parametrize(("argv", "script"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_the_script_of_a_shell_is_found(argv: list[str], script: tuple[str, tuple[str, ...]] | None) -> None:
    """The script and its parameters are told apart from options and their values."""
    assert script_of(argv) == script


def test_plain_values_are_no_scripts() -> None:
    """Blanks, operators and expansions make a script; names, paths and options do not."""
    assert looks_like_script("a b")
    assert looks_like_script("$(x)")
    assert not looks_like_script("--port=8000")


@given(st.lists(st.text(max_size=20), max_size=10))
def test_any_vector_is_taken_apart(argv: list[str]) -> None:
    """No vector makes the search fail."""
    assert len(list(programs(argv))) <= len(argv)
    assert script_of(argv) is None or argv


CONTAINED = {
    "an image": ("docker run x y", 3),
    "options with values": ("docker -H x --context=y compose -f z run web y", 3),
    "an option of a launcher": ("sudo -E docker run x", 2),
    "no order": ("docker ps", 0),
    "no more": ("docker", 0),
    "options to the end": ("docker -H", 0),
    "a user": ("sudo -u docker -n poetry run x", 0),
    "a lock": ("flock docker npm exec x", 0),
    "a program of the host": ("podman unshare x", 0),
}


@pytest.mark.parametrize(("line", "count"), CONTAINED.values(), ids=CONTAINED.keys())
def test_what_stands_behind_an_order_of_a_container_runs_inside(line: str, count: int) -> None:
    """A word that is only called like its program takes nothing away from this host."""
    assert contained(line.split()) == count
