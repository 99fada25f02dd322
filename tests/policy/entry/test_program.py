"""Claims about `herma.policy.entry.program`."""

import pytest

from herma.policy.command.shell import read_script
from herma.policy.entry.effect import effects
from herma.policy.entry.vocabulary import Vocabulary
from support.guard_content import rules

VOCABULARY = Vocabulary(rules("mcp"))

SCRIPTS: dict[str, tuple[str, set[str], set[str]]] = {
    "a program that was built there": (
        "go build -o /tmp/x . && exec /tmp/x",
        {"runs:scratch"},
        {"runs:temporary"},
    ),
    "an environment that was made there": (
        "python -m venv /tmp/v && /tmp/v/bin/x",
        {"runs:scratch"},
        {"runs:temporary"},
    ),
    "a hidden program that was built there": ("go build -o /tmp/.x . && /tmp/.x", {"runs:temporary"}, set()),
    "a main program of a directory": ("python /tmp", {"runs:scratch"}, {"runs:temporary"}),
    "a hidden program": ("find . -exec /srv/.a ;", {"runs:temporary"}, set()),
    "input": ("x | sh", {"runs:input"}, set()),
    "input that is known": ("echo true | sh", set(), {"runs:input"}),
    "a line that is evaluated": ('x | while read l; do eval "$l"; done', {"runs:input"}, set()),
    "output": ("bash <(x)", {"runs:output"}, set()),
    "a temporary file": ("sh /tmp/x", {"runs:temporary"}, {"runs:scratch"}),
    "a temporary program": ("/dev/shm/x", {"runs:temporary"}, set()),
    "a program of a language": ("python /tmp/x/server.py", {"runs:scratch"}, {"runs:temporary"}),
    "a hidden program of a language": ("python /tmp/.x.py", {"runs:temporary"}, set()),
    "a mode": ("chmod 755 x; chmod +x y", {"makes:executable"}, set()),
    "another mode": ("chmod 600 x", set(), {"makes:executable"}),
}


@pytest.mark.parametrize(("script", "has", "lacks"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_what_runs_is_told_by_the_part_each_word_plays(script: str, has: set[str], lacks: set[str]) -> None:
    """A file, what is piped into a program, what another one prints."""
    found = effects(read_script(script), VOCABULARY)
    assert has <= found
    assert not lacks & found


IN_TURN = {
    "a container's program, then the same one": "docker run x bin/s; bin/s",
    "the same, in another order": "bin/s; docker run x bin/s",
    "a shell in a container": "docker run x sh -c bin/s; bin/s",
    "a change that fails": "cd /nowhere; bin/s",
    "a change that ends": "(cd /srv); bin/s",
    "a change of another program": "env -C /srv true; bin/s",
    "a user of that name": "sudo -u docker bin/s",
    "a user of that name, and its runner": "sudo -u docker -n poetry run bin/s",
    "a long walk": "; ".join(f"cd d{number}" for number in range(9)) + "; bin/s",
}


@pytest.mark.parametrize("script", IN_TURN.values(), ids=IN_TURN.keys())
def test_no_other_command_takes_a_program_out_of_its_directory(script: str) -> None:
    """What runs in a container, in parentheses or elsewhere says nothing of what runs here."""
    assert "runs:temporary" in effects(read_script(script), VOCABULARY, "/tmp")


INNOCENT = {
    "a container's program": "docker run x bin/s",
    "a container's program behind options": "docker -H x compose -f /srv/c.yml run web bin/s",
    "a shell in a container": "docker run x sh -c 'cd y; bin/s'",
    "a program behind a change that was made": "cd /srv && bin/s",
    "a program behind the last of two changes": "cd /tmp && cd /srv && bin/s",
    "a script that is no file": "sh -c 'npx -y server'",
    "code that is no file": "node -e 'console.log(1)'; npx -y server",
}


@pytest.mark.parametrize("script", INNOCENT.values(), ids=INNOCENT.keys())
def test_what_is_no_file_here_lies_in_no_directory_here(script: str) -> None:
    """Images have files of their own, and a text is not one."""
    found = effects(read_script(script), VOCABULARY, "/tmp")
    assert not {"runs:temporary", "runs:scratch"} & found
