"""`herma init`."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from herma.cli import init as module
from herma.config.egress import Egress
from herma.config.load import load
from herma.config.values import FilePath
from support.config_text import FAKE_KEY
from support.console import Said, answering, herma


@pytest.fixture(autouse=True)
def no_key_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_SERVER_KEY", raising=False)


def init(directory: Path, *options: object, stdin: str = "", person: bool = False) -> Said:
    return herma(["init", "--config", directory / "herma.yaml", *options], stdin, person=person)


def test_files_are_written_for_a_named_upstream(tmp_path: Path) -> None:
    """A configuration that starts, a private key, and the schema the modeline names."""
    with answering(b"ok") as port:
        said = init(tmp_path, "--upstream", f"http://127.0.0.1:{port}")
    assert said.code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "herma.key",
        "herma.schema.json",
        "herma.yaml",
    ]
    assert (tmp_path / "herma.key").stat().st_mode & 0o777 == 0o600
    settings = load(tmp_path / "herma.yaml", {})
    assert settings.upstream.url.address.port == port
    assert [key.name for key in settings.auth.keys] == ["main"]
    text = (tmp_path / "herma.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./herma.schema.json\n")
    schema = json.loads((tmp_path / "herma.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))


def test_the_way_out_is_one_line_to_uncomment(tmp_path: Path) -> None:
    """It needs another package, so it is not on by itself."""
    init(tmp_path, "--upstream", "http://127.0.0.1:1")
    config = tmp_path / "herma.yaml"
    assert load(config, {}).egress is None
    config.write_text(config.read_text().replace("# egress:", "egress:"))
    assert load(config, {}).egress == Egress(state_dir=FilePath(str(tmp_path / "egress")))


def test_key_is_never_shown(tmp_path: Path) -> None:
    """It stands in its file and nowhere else."""
    said = init(tmp_path, "--upstream", "http://127.0.0.1:1")
    key = (tmp_path / "herma.key").read_text().strip()
    assert key not in said.out + said.err + (tmp_path / "herma.yaml").read_text()


def test_upstream_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the port where the agent server usually is."""
    with answering(b"", 401) as port:
        monkeypatch.setattr(module, "USUAL_UPSTREAM", f"http://127.0.0.1:{port}")
        said = init(tmp_path, "--json")
    assert said.code == 0
    assert said.json()["upstream"] == f"http://127.0.0.1:{port}"
    assert said.json()["upstream_answers"] is True


def test_upstream_that_is_not_found_must_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written for a guess."""
    monkeypatch.setattr(module, "USUAL_UPSTREAM", "http://127.0.0.1:1")
    said = init(tmp_path)
    assert said.code == 1
    assert "--upstream" in said.err
    assert list(tmp_path.iterdir()) == []


def test_named_upstream_need_not_answer_yet(tmp_path: Path) -> None:
    """It is told, and the files are written."""
    said = init(tmp_path, "--upstream", "http://127.0.0.1:1")
    assert said.code == 0
    assert "does not answer yet" in said.err
    assert "+  url: 'http://127.0.0.1:1'" in said.err


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    """The key stays, the file stays."""
    init(tmp_path, "--upstream", "http://127.0.0.1:1")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    said = init(tmp_path, "--upstream", "http://127.0.0.1:1", "--json")
    assert said.code == 0
    assert said.json()["kept"] == [str(tmp_path / "herma.key"), str(tmp_path / "herma.yaml")]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("options", "stdin", "person", "replaced"), [
    ((), "", False, False),
    ((), "n\n", True, False),
    ((), "y\n", True, True),
    (("--yes",), "", False, True),
], ids=["script", "no", "yes", "--yes"])  # fmt: skip
def test_existing_file_is_replaced_only_on_a_yes(
    tmp_path: Path, options: tuple[str, ...], stdin: str, person: bool, replaced: bool
) -> None:
    """The difference is shown first, without the secrets of the old file; the key is kept either way."""
    (tmp_path / "herma.yaml").write_text(f"upstream:\n  key: {FAKE_KEY}\n")
    (tmp_path / "herma.key").touch(mode=0o600)
    (tmp_path / "herma.key").write_text(FAKE_KEY + "\n")
    said = init(tmp_path, "--upstream", "http://127.0.0.1:1", *options, stdin=stdin, person=person)
    assert said.code == (0 if replaced else 1)
    assert "-  key: ***" in said.err
    assert FAKE_KEY not in said.err
    assert (FAKE_KEY in (tmp_path / "herma.yaml").read_text()) is not replaced
    assert (tmp_path / "herma.key").read_text() == FAKE_KEY + "\n"


def test_upstream_key_is_taken_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key itself never enters the configuration."""
    key = tmp_path / "it's.key"
    key.touch(mode=0o600)
    key.write_text(FAKE_KEY)
    assert init(tmp_path, "--upstream", "http://127.0.0.1:1", "--upstream-key-file", key).code == 0
    assert load(tmp_path / "herma.yaml", {}).upstream.key.reveal() == FAKE_KEY.encode()
    monkeypatch.setenv("API_SERVER_KEY", FAKE_KEY)
    assert init(tmp_path, "--upstream", "http://127.0.0.1:1", "--yes").code == 0
    assert "key: ${API_SERVER_KEY}" in (tmp_path / "herma.yaml").read_text()


def test_configuration_that_would_not_start_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weak upstream key is told at once."""
    monkeypatch.setenv("API_SERVER_KEY", "aaaaaaaaaaaaaaaa")
    said = init(tmp_path, "--upstream", "http://127.0.0.1:1")
    assert said.code == 78
    assert "upstream.key.weak" in said.err
    assert not (tmp_path / "herma.yaml").exists()


def test_public_listener_with_names(tmp_path: Path) -> None:
    """What the options say stands in the file."""
    said = init(
        tmp_path,
        "--upstream",
        "http://127.0.0.1:1",
        "--listen",
        "0.0.0.0:8643",
        "--public-name",
        "agent.example.com",
    )
    assert said.code == 0
    assert "listen.cleartext" in said.err
    settings = load(tmp_path / "herma.yaml", {})
    assert settings.listen[0].public
    assert str(settings.listen[0].public_names[0]) == "agent.example.com"


@pytest.mark.parametrize(
    "options", [("--upstream", "ftp://x"), ("--listen", "127.1:80"), ("--public-name", "*")]
)
def test_wrong_address_is_2(tmp_path: Path, options: tuple[str, str]) -> None:
    """Nothing is written."""
    assert init(tmp_path, "--upstream", "http://127.0.0.1:1", *options).code == 2
    assert list(tmp_path.iterdir()) == []


def test_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A sentence with the file, not a traceback."""
    said = init(tmp_path / "missing", "--upstream", "http://127.0.0.1:1")
    assert said.code == 1
    assert "cannot write" in said.err
