"""Who imports whom."""

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tree import ROOT, python_files

SOURCES = python_files("proxy/herma")

# Which rooms may use which package. One that is not listed here may not be used at all.
USERS = {
    "ahocorasick_rs": {"policy"},
    "aiohttp": {"console", "drill", "identity", "runtime"},
    "argon2": {"identity"},
    "cryptography": {"content", "egress"},
    "httptools": {"wire"},
    "jwt": {"identity"},
    "websockets": {"wire"},
    "prometheus_client": {"runtime"},
    "regex": {"policy"},
    "tree_sitter": {"policy"},
    "tree_sitter_bash": {"policy"},
    "uvloop": {"wire"},
    "yaml": {"yamlfile"},
    "zxcvbn": {"config"},
}

# The same for what an extra brings.
EXTRAS = {
    "certifi": {"egress"},
    "h11": {"egress"},
    "mitmproxy": {"egress"},
    "redis": {"store"},
    "wsproto": {"egress"},
}

# The places where any exception at all is caught; each of them denies, or reports and goes on serving.
CATCHES_ALL = {
    "proxy/herma/policy/pipeline.py": "an error in a check denies",
    "proxy/herma/egress/fail_closed.py": "an error in a hook shuts what it was called for",
    "proxy/herma/ingress/gate.py": "an error in the gate denies",
    "proxy/herma/wire/connection.py": "an error in a handler answers 500 or aborts",
    "proxy/herma/wire/tunnel.py": "an error of the one between aborts both sides, and is raised where they were joined",
}


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module


def test_the_layers_hold() -> None:
    """Every contract of import-linter in `pyproject.toml` is kept."""
    linter = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "proxy")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert linter.returncode == 0, linter.stdout + linter.stderr
    assert "0 broken" in linter.stdout


@pytest.mark.parametrize("path", [*SOURCES, *python_files("tests")], ids=str)
def test_the_source_root_is_never_part_of_a_name(path: Path) -> None:
    """`proxy.herma` would be a second copy of every class."""
    assert not [line for line, name in _imports(path) if name.split(".")[0] == "proxy"]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_packages_of_others_stay_in_their_rooms(path: Path) -> None:
    """Whoever replaces a package has one room to look at."""
    room = path.relative_to("proxy/herma").parts[0].removesuffix(".py")
    for line, name in _imports(path):
        top = name.split(".")[0]
        if top != "herma" and top not in sys.stdlib_module_names:
            assert room in {**USERS, **EXTRAS}.get(top, ()), f"{path}:{line}: {room} may not use {top}"


def test_every_dependency_is_used() -> None:
    """A package that nothing imports is not a dependency."""
    used = {name.split(".")[0] for path in SOURCES for _, name in _imports(path)}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert len(declared) == len(USERS)
    assert used >= {**USERS, **EXTRAS}.keys()


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler catches everything and does not raise it again."""
    named = handler.type.id if isinstance(handler.type, ast.Name) else ""
    everything = handler.type is None or named in {"Exception", "BaseException"}
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_everything_is_caught_only_where_it_denies(path: Path) -> None:
    """What catches any exception raises it again, or is one of the places that this test lists."""
    tree = ast.parse((ROOT / path).read_text())
    caught = [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and _swallows(node)
    ]
    assert not caught or str(path) in CATCHES_ALL, f"{path}:{caught}"
