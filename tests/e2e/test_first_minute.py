"""What a newcomer does: start the gate, copy the three lines, look."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tree import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]

# The third line follows a run that waits for an answer; curl is told to stop looking.
LOOK_S = 3

_SERVING = "serving on"


@pytest.fixture(scope="module")
def address() -> str:
    """A loopback address that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(scope="module")
def printed(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `make run` prints until it serves; the gate and its echo agent go on running."""
    command = "import sys; from herma.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", command, "run", "--demo", "--listen", address],
        cwd=tmp_path_factory.mktemp("newcomer"),
        env={**os.environ, "PYTHONPATH": str(ROOT / "proxy")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as gate:
        lines = []
        assert gate.stderr
        for line in gate.stderr:
            lines.append(line)
            if _SERVING in line:
                break
        try:
            yield "".join(lines)
        finally:
            gate.send_signal(signal.SIGTERM)
            gate.stderr.read()


def _commands(text: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", "", text)
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("curl ")]


def _run(command: str, directory: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", command.replace("curl -N", f"curl -sS -N -m {LOOK_S}", 1)],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def answers(printed: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the three lines give, copied as they stand."""
    directory = tmp_path_factory.getbasetemp() / "newcomer0"
    assert _SERVING in printed, printed
    return [_run(command, directory) for command in _commands(printed)]


def test_without_the_key_the_answer_is_401(answers: list[str]) -> None:
    """The first line."""
    assert "401 Unauthorized" in answers[0]


def test_with_the_key_an_answer_streams(answers: list[str]) -> None:
    """The second line."""
    assert "You " in answers[1]
    assert answers[1].rstrip().endswith("data: [DONE]")


def test_the_approval_prompt_shows_the_command_and_not_the_password(answers: list[str]) -> None:
    """The third line."""
    assert '"approval.request"' in answers[2]
    assert "rm -rf ./scratch" in answers[2]
    assert "DEPLOY_TOKEN=" in answers[2]
    assert "hunter2hunter2" not in answers[2]


def test_readme_shows_the_same_three_lines(printed: str, address: str) -> None:
    """But for the address, what README shows is what is printed."""
    shown = (ROOT / "README.md").read_text().split("```sh\n")[2].split("```")[0]
    expected = [command.replace(address, "127.0.0.1:8643") for command in _commands(printed)]
    assert [re.sub(r"\s+", " ", command) for command in _commands(shown)] == [
        re.sub(r"\s+", " ", command) for command in expected
    ]
