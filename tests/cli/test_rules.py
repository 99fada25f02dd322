"""`herma rules`."""

from pathlib import Path

import pytest

from herma.content.library import FAMILIES, Library
from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import herma
from support.platform_file import PLATFORM
from support.rule_file import rule_text

SHIPPED = [rule for family in FAMILIES for rule in Library().rules(family)]
PLATFORMS = Library().platform_files()


def test_every_rule_is_listed_on_a_line() -> None:
    """Family, id, level, status and title, and behind them the platforms; the count stands apart."""
    said = herma(["rules", "list"])
    assert said.code == 0
    ids = [*(rule.id for rule in SHIPPED), *(file.platform.id for file in PLATFORMS)]
    ids += ["model-providers", "services"]
    assert [line.split()[1] for line in said.out.splitlines()] == ids
    counted = f"{len(SHIPPED)} rules, {len(PLATFORMS)} platforms, {len(Library().models())} hosts of models"
    assert said.err == f"herma: {counted}, {len(Library().services())} services\n"


def test_a_list_can_be_narrowed() -> None:
    """By family, level and technique; one technique has those below it."""
    assert {one["family"] for one in herma(["rules", "list", "--family", "cron", "--json"]).json()} == {
        "cron"
    }
    grave = herma(["rules", "list", "--level", "critical", "--json"]).json()
    assert {one["id"] for one in grave} == {rule.id for rule in SHIPPED if rule.level == "critical"}
    tagged = {one["id"] for one in herma(["rules", "list", "--tag", "T1053", "--json"]).json()}
    assert tagged == {rule.id for rule in SHIPPED if any(tag.startswith("T1053") for tag in rule.tags)}
    assert tagged
    assert not herma(["rules", "list", "--tag", "T105", "--json"]).json()
    known = herma(["rules", "list", "--family", "egress", "--json"]).json()
    ids = [*(file.platform.id for file in PLATFORMS), "model-providers", "services"]
    assert [one["id"] for one in known] == ids
    assert {one["kind"] for one in known} == {"platform", "models", "services"}
    assert herma(["rules", "list", "--tag", "T9"]).err == "herma: 0 rules\n"


def test_a_listed_rule_names_its_file() -> None:
    """So that whoever reads it finds the whole rule."""
    for one in herma(["rules", "list", "--json"]).json():
        assert Path(one["file"]).name == f"{one['id']}.yaml"
        assert Path(one["file"]).is_file()


def test_a_rule_is_shown_whole() -> None:
    """The text of its file, and which file that is."""
    rule = SHIPPED[0]
    said = herma(["rules", "show", rule.id])
    file = Library().file_of(rule)
    assert said.code == 0
    assert said.out.startswith(f"# {file}\nid: {rule.id}\n")
    assert "examples:" in said.out
    shown = herma(["rules", "show", rule.id, "--json"]).json()
    assert (shown["id"], shown["file"], shown["description"]) == (rule.id, file, rule.description)


def test_a_platform_is_shown_whole() -> None:
    """As a rule is; the hosts of models, too."""
    said = herma(["rules", "show", "telegram"])
    assert said.code == 0
    assert said.out.splitlines()[0].endswith("rules/egress/telegram.yaml")
    assert "\nhosts: [api.telegram.org]\n" in said.out
    shown = herma(["rules", "show", "model-providers", "--json"]).json()
    assert shown["family"] == "egress"
    assert {"name": "openrouter", "hosts": ["openrouter.ai"]} in shown["providers"]


def test_a_rule_that_is_not_there_is_1() -> None:
    """No pattern, no beginning of an id."""
    said = herma(["rules", "show", "mcp-*"])
    assert (said.code, said.out) == (1, "")
    assert "herma rules list" in said.err


@pytest.mark.parametrize("arguments", [[], ["list", "--family", "x"], ["show"], ["test", "a", "b"]])
def test_wrong_use_is_2(arguments: list[str]) -> None:
    """As everywhere."""
    assert herma(["rules", *arguments]).code == 2


def test_the_shipped_rules_are_right() -> None:
    """Those that the gate would load are proved by loading them."""
    said = herma(["rules", "test"])
    assert (said.code, said.out) == (0, "")
    assert said.err == f"herma: {len(SHIPPED)} rules, {len(PLATFORMS)} platforms proved, 0 problems\n"


def test_problems_of_own_rules_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    """Each is what an editor jumps to; in JSON for a script."""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp/acme-own.yaml").write_bytes(rule_text(level="grave", title=None))
    said = herma(["rules", "test", tmp_path])
    assert said.code == 1
    assert said.out.splitlines()[0].startswith(f"{tmp_path}/mcp/acme-own.yaml:1:1: rule.invalid: ")
    assert said.err == "herma: 0 rules proved, 2 problems\n"
    answer = herma(["rules", "test", tmp_path, "--json"])
    assert answer.code == 1
    assert not answer.json()["ok"]
    assert [problem["code"] for problem in answer.json()["problems"]] == ["rule.invalid"] * 2


def test_platforms_of_a_directory_are_proved(tmp_path: Path) -> None:
    """With its rules, or by themselves."""
    (tmp_path / "egress").mkdir()
    (tmp_path / "egress/tiny.yaml").write_text(PLATFORM)
    for place in (tmp_path, tmp_path / "egress"):
        said = herma(["rules", "test", place])
        assert (said.code, said.out, said.err) == (0, "", "herma: 1 platform proved, 0 problems\n")
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp/acme-own.yaml").write_bytes(rule_text())
    (tmp_path / "egress/tiny.yaml").write_text(PLATFORM.replace("masked: false", "masked: true"))
    said = herma(["rules", "test", tmp_path, "--json"])
    assert (said.code, said.json()["rules"], said.json()["platforms"]) == (1, 1, 0)
    assert [problem["code"] for problem in said.json()["problems"]] == ["platform.invalid"]


def test_own_rules_of_a_configuration_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a configuration whose rules cannot be read is 78."""
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    (tmp_path / "own/mcp").mkdir(parents=True)
    (tmp_path / "own/mcp/acme-own.yaml").write_bytes(rule_text())
    config = tmp_path / "herma.yaml"
    config.write_text(UPSTREAM + KEYS + "content: {rules_dirs: [own]}\n")
    assert "acme-own" in herma(["rules", "list", "--config", config]).out
    assert herma(["rules", "show", "acme-own", "--config", config]).out.startswith(f"# {tmp_path}/own/mcp/")
    (tmp_path / "own/mcp/acme-own.yaml").write_bytes(rule_text(level="grave"))
    broken = herma(["rules", "list", "--json", "--config", config])
    assert broken.code == 78
    assert broken.json()["problems"][0]["code"] == "content.invalid"
