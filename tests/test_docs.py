"""The documents say what is there."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from herma.policy.checks import CHECKS
from support.tree import ROOT, tracked

DOCUMENTS = tuple(path for path in tracked() if path.suffix == ".md")
EXAMPLES = tuple(
    path for path in tracked() if path.is_relative_to("deploy/examples") and path.suffix == ".yaml"
)

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:proxy|rules|ioc|tests|docs|deploy|\.ci)/[\w./-]+)`")
_FENCE = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)

# Written here in pieces, so that this file does not hold them.
_UNWANTED = {
    "a path of one machine": (
        "/wo" + "rk/main",
        "/wo" + "rk/sha" + "red",
        "/op" + "t/wheels",
        "/op" + "t/pypi",
        ".py" + "env",
        "/tmp/" + "plan",
    ),
    "the host of a package index": (
        "py" + "pi.org",
        "python" + "hosted.org",
        "registry." + "npmjs",
        "deb." + "debian.org",
    ),
    "a document that is not here": ("BYP" + "ASS.md", "DES" + "IGN.md", "ST" + "YLE.md", "shared/" + "facts"),
}

# Where packages come from is what these are about.
_ABOUT = {"the host of a package index": ("rules/mcp/", "tests/policy/entry/")}


def _read(path: Path) -> str:
    return (ROOT / path).read_text()


def _headings(path: Path) -> set[str]:
    """Give the anchors that a Markdown renderer makes of the headings."""
    titles = re.findall(r"^#+ (.+)$", _read(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link names a file that exists, and a heading in it if it names one."""
    for link in _LINK.findall(_read(document)):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / document).parent / name if name else ROOT / document
        assert target.exists(), f"{document}: {link}"
        assert not anchor or anchor in _headings(target.resolve().relative_to(ROOT)), f"{document}: {link}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_files_that_are_named_exist(document: Path) -> None:
    """A path in backquotes that starts at the root of the checkout is there."""
    for name in _PATH.findall(_read(document)):
        assert (ROOT / name).exists(), f"{document}: {name}"


def _commands() -> Iterator[tuple[Path, str]]:
    for document in DOCUMENTS:
        for language, text in _FENCE.findall(_read(document)):
            if language == "sh":
                joined = text.replace("\\\n", " ")
                yield from ((document, line.strip()) for line in joined.splitlines() if line.strip())


def test_make_targets_that_are_named_exist() -> None:
    """Every `make <target>` in a document, also in running text, is in the Makefile."""
    targets = set(re.findall(r"^([a-z0-9-]+):", _read(Path("Makefile")), re.MULTILINE))
    named = {
        (str(document), target)
        for document in DOCUMENTS
        for target in re.findall(r"(?:^|`)make ([a-z][a-z0-9-]*)", _read(document), re.MULTILINE)
    }
    assert {"run", "test"} <= {target for _, target in named}
    assert not [(document, target) for document, target in sorted(named) if target not in targets]


@cache
def _help(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from herma.cli import main; sys.exit(main())",
            *command,
            "--help",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "proxy"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def _herma_commands() -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    found = set()
    for document, line in _commands():
        words = line.split()
        if words[0] == "herma":
            names = tuple(word for word in words[1:3] if re.fullmatch(r"[a-z]+", word))
            flags = tuple(word for word in words if word.startswith("--"))
            found.add((str(document), names, flags))
    return sorted(found)


@pytest.mark.parametrize(("document", "command", "flags"), _herma_commands(), ids=str)
def test_commands_that_are_named_exist(
    document: str, command: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    """Every `herma …` in a document is a command, with the options it is shown with."""
    shown = _help(*command)
    assert shown.returncode == 0, f"{document}: {shown.stderr}"
    assert not [flag for flag in flags if flag not in shown.stdout], document


def test_the_quickstart_is_two_commands() -> None:
    """README starts with what a newcomer types."""
    first = next(text for language, text in _FENCE.findall(_read(Path("README.md"))) if language == "sh")
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make run", "make test"]


def _listed(heading: str) -> set[str]:
    section = re.split(r"^## ", _read(Path("docs/dependencies.md")), flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(heading))
    return {row.split("|")[1].strip() for row in text.splitlines() if row.startswith("| ")} - {
        "Package",
        "---",
    }


def test_every_dependency_is_explained() -> None:
    """The page lists exactly what `pyproject.toml` asks for."""
    project = tomllib.loads(_read(Path("pyproject.toml")))

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[\[=<>;~! ]", requirement)[0] for requirement in requirements}

    groups = project["dependency-groups"]
    extras = [name for wanted in project["project"]["optional-dependencies"].values() for name in wanted]
    assert _listed("At run time") == names(project["project"]["dependencies"]) | names(extras)
    assert _listed("For development") == (names(groups["dev"]) | names(groups["build"])) - names(extras)
    assert _listed("The real upstream") == names(groups["hermes"])


@pytest.mark.parametrize("what", _UNWANTED)
def test_no_file_names(what: str) -> None:
    """The checkout is about the project, not about the machine it was written on."""
    found = []
    for path in tracked():
        if str(path).startswith(_ABOUT.get(what, ())):
            continue
        text = (ROOT / path).read_bytes().decode("utf-8", "replace")
        found += [f"{path}: {word}" for word in _UNWANTED[what] if word in text]
    assert not found


def test_the_room_table_is_complete() -> None:
    """ARCHITECTURE.md has a row for every room, and for nothing else."""
    rooms = {
        path.name.removesuffix(".py")
        for path in (ROOT / "proxy/herma").iterdir()
        if not path.name.startswith("_")
    }
    rows = set(re.findall(r"^\| `(\w+)` \|", _read(Path("proxy/ARCHITECTURE.md")), re.MULTILINE))
    assert rows == rooms - {"py.typed"}


def test_the_list_of_checks_is_complete_and_in_order() -> None:
    """The page that names the checks names each of them, in the order they are asked."""
    rows = re.findall(r"^\| `(\w+)` \|", _read(Path("docs/monitor-mode.md")), re.MULTILINE)
    assert rows == [check.id for check in CHECKS]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_codes_that_are_named_exist(document: Path) -> None:
    """A code such as `herma.limit.rate` stands in the source as it does in the document."""
    source = "\n".join(
        _read(path) for path in tracked() if path.is_relative_to("proxy/herma") and path.suffix == ".py"
    )
    modules = {
        ".".join(path.with_suffix("").parts[1:]) for path in tracked() if path.is_relative_to("proxy/herma")
    }
    packages = {module.rpartition(".")[0] for module in modules}
    for code in re.findall(r"`(herma\.[a-z_.]+[a-z])`", _read(document)):
        if code not in modules | packages | {"herma.yaml", "herma.key", "herma.rules"}:
            assert f'"{code}"' in source, f"{document}: {code}"
