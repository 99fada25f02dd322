"""The commands and their options."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

from herma import __version__
from herma.cli import main
from herma.cli.terminal import Terminal
from herma.config.schema import schema
from support.console import herma
from support.tree import ROOT


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["check", "--nonsense"], ["key"], ["key", "new", "a-key"], ["check", "--conf", "x"]],
)
def test_wrong_use_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Unknown commands, options and abbreviations are told; a key is never an argument."""
    assert main(arguments) == 2
    assert "usage: herma" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "--help"], ["key", "new", "--help"], ["--version"]]
)
def test_help_is_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help is an answer."""
    assert main(arguments) == 0
    assert "herma" in capsys.readouterr().out


def test_schema_is_printed() -> None:
    """As JSON on standard output."""
    said = herma(["schema"])
    assert said.code == 0
    assert said.json() == schema()


def test_run_hands_its_options_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that serves declares its own options, and its exit code is the program's."""
    seen: list[str] = []
    module = types.ModuleType("herma.cli.run")
    module.add_arguments = lambda parser: parser.add_argument("--config")
    module.run = lambda options: seen.append(options.config) or 78
    monkeypatch.setitem(sys.modules, "herma.cli.run", module)
    assert main(["run", "--config", "x.yaml"]) == 78
    assert seen == ["x.yaml"]
    assert main(["run", "--nonsense"]) == 2


def test_interrupted_command_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control-C at a question is no traceback."""

    def interrupted(self: Terminal, value: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Terminal, "json", interrupted)
    assert main(["schema"]) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_program_runs_as_a_module(tmp_path: Path) -> None:
    """`python -m herma` is the command, and its exit code that of the command."""
    environ = {"PYTHONPATH": str(ROOT / "proxy")}
    done = subprocess.run(
        [sys.executable, "-m", "herma", "check"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 78
    assert "herma.yaml: config.file:" in done.stdout
    shown = subprocess.run(
        [sys.executable, "-m", "herma", "--version"], env=environ, capture_output=True, check=False, text=True
    )
    assert shown.stdout == f"herma {__version__}\n"


def test_making_a_key_loads_no_server() -> None:
    """Commands are quick because each loads only what it needs."""
    script = "import sys; from herma.cli import main; main(['key', 'new']); print([m for m in ('aiohttp', 'httptools', 'uvloop') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "proxy")},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_missing_package_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser that cannot be loaded stops the command, with its name and no traceback."""
    monkeypatch.setitem(sys.modules, "herma.cli.check", None)
    said = herma(["check"])
    assert said.code == 1
    assert "herma.cli.check cannot be loaded" in said.err
