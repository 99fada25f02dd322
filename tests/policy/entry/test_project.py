"""Claims about `herma.policy.entry.project`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.project import Project, project_effects

NPM = Project.of("project", ["start|run", "!dlx", "--prefix|-C"])
MAKE = Project.of("project", ["-C|-f"])
DENO = Project.of("script", ["run|task"])
NPX = Project.of("option", ["--prefix"])
JAVA = Project.of("option", ["-cp"])
KUBE = Project.of("setting", ["--kubeconfig"])
PROXY = Project.of("setting", ["-s|--scripts"])
ROTATE = Project.of("file", ["!-s|--state"])

PLACES = {
    "an option before the order": (NPM, ("--prefix", "/tmp/x", "start"), "", {"runs:project"}),
    "an option behind what it runs": (NPM, ("run", "mcp", "--prefix", "/tmp/x"), "", {"runs:project"}),
    "an option with its value": (NPM, ("run", "mcp", "--prefix=/tmp/x"), "", {"runs:project"}),
    "an option that is glued": (MAKE, ("-C/tmp/x",), "", {"runs:project"}),
    "a directory itself": (MAKE, ("-C", "/tmp"), "", {"runs:project"}),
    "a first operand": (DENO, ("run", "/tmp/x.ts"), "", {"runs:scratch"}),
    "a hidden one": (DENO, ("run", "/dev/shm/x.ts"), "", {"runs:temporary"}),
    "behind a flag": (DENO, ("run", "-A", "/tmp/x.ts"), "", {"runs:scratch"}),
    "where it begins": (NPM, ("start",), "/tmp/x/", {"runs:project"}),
    "seen from where it begins": (MAKE, ("-f", "../tmp/Makefile"), "/srv/", {"runs:project"}),
    "a mark before it": (DENO, ("run", "file:///tmp/x.ts"), "", {"runs:scratch"}),
    "what others sent": (MAKE, ("-C", "/root/.hermes/uploads/x"), "", {"runs:project"}),
    "an option of what has no project": (NPX, ("--prefix", "/tmp/x", "server"), "", {"runs:project"}),
    "what it built itself": (MAKE, ("-C", "/tmp/own/x"), "", {"runs:scratch"}),
    "no order": (NPM, ("--prefix", "/tmp/x", "install"), "", set()),
    "another order": (NPM, ("dlx", "server"), "/tmp/", set()),
    "arguments of what it runs": (NPM, ("run", "mcp", "--root", "/tmp/x"), "", set()),
    "behind the end of its own": (NPM, ("run", "mcp", "--", "--prefix", "/tmp/x"), "", set()),
    "a file is the end of its own": (DENO, ("run", "-A", "server.ts", "/tmp/x"), "", set()),
    "a cache": (MAKE, ("--cache", "/tmp/x", "all"), "", set()),
    "told to be elsewhere": (MAKE, ("-C", "/srv/x", "all"), "/tmp/", set()),
    "an option of what it runs": (NPX, ("-y", "server", "--prefix", "/tmp/x"), "", set()),
    "started where all may write": (NPX, ("-y", "server"), "/tmp/", set()),
    "one of several places": (JAVA, ("-cp", "/srv/x.jar:/tmp/lib", "Main"), "", {"runs:project"}),
    "places of no consequence": (JAVA, ("-cp", "/srv/x.jar:lib", "Main"), "/tmp/", set()),
    "a setting behind the operands": (KUBE, ("get", "x", "--kubeconfig", "/tmp/k"), "", {"runs:project"}),
    "a setting that is a flag elsewhere": (PROXY, ("-s", "/tmp/x.py"), "", {"runs:project"}),
    "a setting of what it runs": (KUBE, ("exec", "x", "--", "y", "--kubeconfig", "/tmp/k"), "", set()),
    "a file that it is given": (ROTATE, ("-f", "/tmp/x.conf"), "", {"runs:project"}),
    "a file there": (ROTATE, ("x.conf",), "/tmp/", {"runs:project"}),
    "a file elsewhere": (ROTATE, ("/etc/x.conf",), "/tmp/", set()),
    "a file that it keeps": (ROTATE, ("-s", "/tmp/state", "--state=/tmp/x", "/etc/x.conf"), "", set()),
    "another place": (MAKE, ("-C", "/srv/x"), "", set()),
}


@pytest.mark.parametrize(("line", "words", "where", "effects"), PLACES.values(), ids=PLACES.keys())
def test_a_tool_runs_the_project_it_is_pointed_at(
    line: Project, words: tuple[str, ...], where: str, effects: set[str]
) -> None:
    """By an option, an operand or where it begins; what it passes on and what it keeps for itself is none."""
    assert set(project_effects([line], words, where, ["/tmp/own"])) == effects


@given(words=st.lists(st.text(max_size=12), max_size=8), where=st.text(max_size=12))
def test_any_words_are_read(words: list[str], where: str) -> None:
    """Whatever the arguments are, there is an answer."""
    for line in (NPM, MAKE, DENO, NPX, JAVA, KUBE, PROXY, ROTATE):
        assert set(project_effects([line], words, where, [])) <= {
            "runs:project",
            "runs:scratch",
            "runs:temporary",
        }
