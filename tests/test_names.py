"""Names: tests mirror the source, files have one idea, tests read as claims."""

import ast
from pathlib import Path

import pytest

from support.tree import ROOT, python_files

# Sources without a test file of their own, each with the reason.
NO_MIRROR = {
    Path("proxy/herma/__main__.py"): "only calls the command line, which tests run as a program",
    Path("proxy/herma/console/view.py"): "values without behaviour",
    Path("proxy/herma/policy/decision.py"): "values without behaviour",
    Path("proxy/herma/policy/exchange.py"): "values without behaviour",
}

MAX_LINES = 400
# A file of attacks is mostly tables; it is read row by row.
MAX_TEST_LINES = 800

SOURCES = python_files("proxy/herma")
TESTS = tuple(path for path in python_files("tests") if path.name.startswith("test_"))
PACKAGES = tuple(path for path in SOURCES if path.name == "__init__.py")
MODULES = tuple(path for path in SOURCES if path.name != "__init__.py" and path not in NO_MIRROR)

# What an `__init__.py` may hold: a docstring, imports, and these names.
_PUBLIC = {"__all__", "__version__", "CHECKS"}


def _mirror(source: Path) -> Path:
    below = source.relative_to("proxy/herma")
    return Path("tests") / below.parent / f"test_{below.name}"


def test_the_suite_sees_the_source() -> None:
    """An empty list would make every test here pass."""
    assert MODULES
    assert TESTS
    assert all((ROOT / path).is_file() for path in NO_MIRROR if path in SOURCES)


@pytest.mark.parametrize("source", MODULES, ids=str)
def test_every_module_has_its_test_file(source: Path) -> None:
    """`proxy/herma/policy/sse/parser.py` has `tests/policy/sse/test_parser.py`."""
    assert (ROOT / _mirror(source)).is_file(), f"write {_mirror(source)}"


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_packages_only_list_their_public_names(package: Path) -> None:
    """An `__init__.py` holds imports and public names, no logic."""
    for node in ast.parse((ROOT / package).read_text()).body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                assert name in _PUBLIC, f"{package}:{node.lineno}: move {name} into a module"
            case _:
                pytest.fail(f"{package}:{node.lineno}: logic belongs in a module")


@pytest.mark.parametrize("path", [*SOURCES, *python_files("tests")], ids=str)
def test_no_file_is_longer_than_one_idea(path: Path) -> None:
    """Four hundred lines is the end, for tests twice that."""
    limit = MAX_TEST_LINES if path.is_relative_to("tests") else MAX_LINES
    assert len((ROOT / path).read_text().splitlines()) <= limit


@pytest.mark.parametrize("path", TESTS, ids=str)
def test_every_test_says_what_it_claims(path: Path) -> None:
    """Each test has a docstring: the claim, in words that outlive the code."""
    silent = [
        f"{path}:{node.lineno}: {node.name}"
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert not silent


def test_directories_of_tests_are_no_packages() -> None:
    """Two packages called `tests` or `policy` would hide each other."""
    assert not [path for path in python_files("tests") if path.name == "__init__.py"]
