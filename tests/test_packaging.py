"""What is shipped: wheel, sdist and lock files."""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.hermes import OLDER
from support.tree import ROOT, python_files, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RELEASES = ROOT / "tests" / "e2e" / "releases"
LOCKS = tuple(sorted([*ROOT.glob("requirements*.lock"), *RELEASES.glob("*.lock")]))

# Two builds of the same files have to be the same bytes.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1800000000"}


def _build(source: Path, out: Path, *targets: str) -> None:
    options = [option for target in targets for option in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out), *options],
        cwd=source,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist of this checkout."""
    out = tmp_path_factory.mktemp("dist")
    _build(ROOT, out, "wheel", "sdist")
    return out


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def sdist(dist: Path) -> Path:
    (found,) = dist.glob("*.tar.gz")
    return found


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_source_and_the_data(wheel: Path) -> None:
    """Every module, rule and indicator is in it, under `herma/` and nowhere else."""
    names = _contents(wheel).keys()
    modules = {path.relative_to("proxy").as_posix() for path in python_files("proxy/herma")}
    data = {f"herma/_data/{path.as_posix()}" for path in tracked() if path.parts[0] in {"rules", "ioc"}}
    pages = {
        path.relative_to("proxy").as_posix()
        for path in tracked()
        if path.is_relative_to("proxy/herma") and path.suffix in {".css", ".js"}
    }
    assert pages
    assert any(name.endswith(".yaml") for name in data)
    assert modules | data | pages | {"herma/py.typed"} <= names
    assert {name.split("/")[0] for name in names} == {
        "herma",
        f"herma-{PROJECT['project']['version']}.dist-info",
    }


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    """Command, licence and supported versions are in its metadata."""
    info = {name.split("/", 1)[1]: data for name, data in _contents(wheel).items() if ".dist-info/" in name}
    metadata = email.message_from_bytes(info["METADATA"])
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.12"
    assert info["licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert b"herma = herma.cli:main" in info["entry_points.txt"]


def test_an_installed_wheel_finds_its_rules(wheel: Path, tmp_path: Path) -> None:
    """Away from the checkout, the package still has its data."""
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip"] if find_spec("pip") else ["uv", "pip"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), str(wheel)],
        check=True,
        capture_output=True,
    )
    program = (
        "import herma, herma.content.shipped as shipped\n"
        "print(herma.__file__)\n"
        "for kind in ('rules/redaction', 'rules/profiles'):\n"
        "    directory = shipped.data_dir(kind)\n"
        "    print(directory, sum(entry.name.endswith('.yaml') for entry in directory.iterdir()))\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert all(line.startswith(str(target)) for line in shown)
    assert all(int(line.rsplit(" ", 1)[1]) > 0 for line in shown[1:])


def test_the_wheel_of_the_sdist_is_the_same(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """Whoever builds from the sdist gets the very bytes that were published."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    _build(source, tmp_path / "out", "wheel")
    (again,) = (tmp_path / "out").glob("*.whl")
    assert _contents(again) == _contents(wheel)


def test_the_sdist_can_be_tested_and_read(sdist: Path) -> None:
    """Tests, documents, make targets and lock files travel with the source."""
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    for path in tracked():
        if path.parts[0] in {"tests", "docs", "deploy", "proxy", "rules", ".ci"} or path.suffix in {
            ".md",
            ".lock",
        }:
            assert path.as_posix() in names


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_locks_pin_everything_and_name_no_host(lock: Path) -> None:
    """Each requirement has one version and hashes; where it comes from is up to who installs it."""
    text = lock.read_text()
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text)
    pinned = [entry for entry in entries if not entry.startswith("#")]
    assert pinned
    for entry in pinned:
        assert re.match(r"[a-z0-9-]+==[^\s;]+( ; .+)? \\\n    --hash=sha256:[0-9a-f]{64}", entry), (
            entry.splitlines()[0]
        )


def _pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE))


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[=<>;~! ]", requirement)[0].lower() for requirement in requirements}


def test_locks_hold_what_is_declared() -> None:
    """Each group of requirements is in its lock, and all locks of one environment agree."""
    groups = PROJECT["dependency-groups"]
    run, dev, build = (_pins(f"requirements{kind}.lock") for kind in ("", "-dev", "-build"))
    assert _names(PROJECT["project"]["dependencies"]) <= run.keys()
    assert _names(groups["dev"]) <= dev.keys()
    assert _names(groups["build"]) <= build.keys()
    assert _names(groups["hermes"]) <= _pins("requirements-hermes.lock").keys()
    older = {release: _pins(f"tests/e2e/releases/hermes-{release}.lock") for release in OLDER}
    assert all(pins["hermes-agent"] == release for release, pins in older.items())
    assert f"OLDER_RELEASES := {' '.join(OLDER)}\n" in (ROOT / "Makefile").read_text()
    assert {lock.stem for lock in RELEASES.glob("*.lock")} == {f"hermes-{release}" for release in OLDER}
    assert run.items() <= dev.items()
    assert build.items() <= dev.items()
