"""Where the content of a configuration is, and how operators add to it."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from herma.config.settings import Content
from herma.config.values import FilePath
from herma.content.library import FAMILIES, Library
from herma.content.shipped import data_dir
from herma.errors import ContentError
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.secret import Secret
from support.rule_file import rule_text

SHIPPED = Library()
KEY = Secret(b"fake-fingerprint-key-of-the-suite")


def own(directory: Path, family: str, *ids: str) -> Library:
    place = directory / family
    place.mkdir(parents=True, exist_ok=True)
    for identifier in ids:
        (place / f"{identifier}.yaml").write_bytes(rule_text(id=identifier))
    return Library(Content(rules_dirs=(FilePath(str(directory)),)))


@pytest.mark.parametrize("family", FAMILIES)
def test_an_own_rule_is_added_to_the_shipped_ones(tmp_path: Path, family: str) -> None:
    """All rules are there, in the order of their ids; each knows its file."""
    library = own(tmp_path, family, "acme-own")
    found = library.rules(family)
    assert [rule.id for rule in found] == sorted([*(rule.id for rule in SHIPPED.rules(family)), "acme-own"])
    added = next(rule for rule in found if rule.id == "acme-own")
    assert library.file_of(added) == str(tmp_path / family / "acme-own.yaml")
    assert library.file_of(found[0] if found[0] is not added else found[1]).startswith(str(data_dir("rules")))


@pytest.mark.parametrize("family", FAMILIES)
def test_one_rule_is_read_by_its_id(tmp_path: Path, family: str) -> None:
    """Of what ships and of one's own; what is no id is looked for nowhere."""
    library = own(tmp_path, family, "acme-own")
    (first, *_) = SHIPPED.rules(family)
    for identifier in (first.id, "acme-own"):
        found = library.rule(identifier)
        assert found is not None
        assert (found.id, found.family) == (identifier, family)
    for unknown in ("none", "", "../mcp/" + first.id, f"{first.id}.yaml", "A", "a" * 65):
        assert library.rule(unknown) is None


def test_an_id_is_never_taken_twice(tmp_path: Path) -> None:
    """An own rule replaces none: the message names the file that has the id."""
    taken = SHIPPED.rules("mcp")[0]
    with pytest.raises(ContentError, match=f"{taken.id}.yaml; an id is never used twice") as caught:
        own(tmp_path, "mcp", taken.id).rules("mcp")
    assert caught.value.source.file == str(tmp_path / "mcp" / f"{taken.id}.yaml")


def test_rules_that_would_not_be_read_are_refused(tmp_path: Path) -> None:
    """A rule beside the families, a directory without one, and no directory at all."""
    named = Content(rules_dirs=(FilePath(str(tmp_path)),))
    with pytest.raises(ContentError, match="no rules here"):
        Library(named)
    (tmp_path / "acme-own.yaml").write_bytes(rule_text(id="acme-own"))
    with pytest.raises(ContentError, match="move it"):
        Library(named)
    with pytest.raises(ContentError, match="not a directory"):
        Library(Content(rules_dirs=(FilePath(str(tmp_path / "none")),)))


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("cron", {"combine": [{"all": ["no-such-concept"]}]}),
        ("cron", {"judge": ["metadata"]}),
        ("cron", {"like": {"floor": 1, "concepts": [["send"]]}}),
        ("mcp", {"programs": 3}),
        ("redaction", {"group": "none"}),
    ],
    ids=["concept", "judge", "model", "list", "group"],
)
@pytest.mark.parametrize("replaces", [False, True], ids=["added", "replacing"])
def test_options_that_mean_nothing_are_refused_when_rules_are_read(
    tmp_path: Path, family: str, options: dict[str, object], replaces: bool
) -> None:
    """Before anything is made of them: a gate that runs keeps what it has."""
    content = Content(rules_dirs=(FilePath(str(tmp_path)),))
    if replaces:
        shutil.copytree(Path(str(data_dir("rules"))), tmp_path, dirs_exist_ok=True)
        content = Content(rules_dir=FilePath(str(tmp_path)))
    (tmp_path / family).mkdir(exist_ok=True)
    (tmp_path / family / "acme-own.yaml").write_bytes(rule_text(options=options))
    library = Library(content)
    with pytest.raises(ContentError, match="the options of a rule cannot be used"):
        library.redactor(KEY) if family == "redaction" else library.rule_set()


def test_own_words_are_refused(tmp_path: Path) -> None:
    """They would not be read: better said than silently left out."""
    (tmp_path / "cron/words").mkdir(parents=True)
    with pytest.raises(ContentError, match="own words are not read"):
        Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))


def test_an_empty_family_of_own_rules_adds_nothing(tmp_path: Path) -> None:
    """Only the first directory has to hold rules."""
    assert own(tmp_path, "mcp").rules("mcp") == SHIPPED.rules("mcp")


def test_a_directory_may_replace_what_ships(tmp_path: Path) -> None:
    """Then it alone is read."""
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron/only.yaml").write_bytes(rule_text(id="only"))
    library = Library(Content(rules_dir=FilePath(str(tmp_path))))
    assert [rule.id for rule in library.rules("cron")] == ["only"]
    with pytest.raises(ContentError, match="not a directory"):
        library.rules("mcp")


def test_indicators_come_from_the_named_directory(tmp_path: Path) -> None:
    """One without a manifest cannot be used."""
    assert SHIPPED.indicators().indicators
    with pytest.raises(ContentError):
        Library(Content(ioc_dir=FilePath(str(tmp_path)))).indicators()


def test_the_examples_of_this_file_are_rules() -> None:
    """What the tests write is what the loader reads."""
    assert yaml.safe_load(rule_text(id="acme-own"))["id"] == "acme-own"


def test_indicators_that_were_read_are_not_read_again() -> None:
    """What was judged is what is used, whatever became of the files."""
    read = SHIPPED.collection(datetime.now(UTC)).indicators()
    assert SHIPPED.rule_set(indicators=read).indicators is read


_PLATFORM = """\
id: acme
title: Acme
description: A platform of one's own.
references: ['https://docs.example.com/']
hosts: [chat.acme.example]
examples:
  - {method: POST, path: /a, body: 'export DEPLOY_TOKEN=F4keK3yF0rT3st', secret: F4keK3yF0rT3st, masked: true}
  - {message: hello, path: /a, masked: false}
"""


def test_own_platforms_and_models_are_added_to_the_shipped_ones(tmp_path: Path) -> None:
    """A directory of one's own may hold nothing else; hosts of a configuration come on top."""
    place = tmp_path / "egress"
    place.mkdir()
    (place / "acme.yaml").write_text(_PLATFORM)
    (place / "model-providers.yaml").write_text("providers: [{name: acme, hosts: [llm.acme.example]}]")
    library = Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))
    more = HostPattern("chat.example.com", port=8065)
    found = {one.id: one.hosts for one in library.platforms({"mattermost": (more,)})}
    assert found["acme"] == (HostPattern("chat.acme.example"),)
    assert found["mattermost"] == (more,)
    assert found.keys() - {one.id for one in SHIPPED.platforms()} == {"acme", "mattermost"}
    assert set(library.models()) - set(SHIPPED.models()) == {HostPattern("llm.acme.example")}
    (place / "services.yaml").write_text("services: [{name: acme, hosts: [api.acme.example]}]")
    assert [one.name for one in library.services()] == [*(one.name for one in SHIPPED.services()), "acme"]
    assert {"acme", "signal"} <= {file.platform.id for file in library.platform_files()}


def test_the_files_of_a_platform_and_of_models_are_found(tmp_path: Path) -> None:
    """By the id, which is never a path; hosts of models may stand in several."""
    (tmp_path / "egress").mkdir()
    (tmp_path / "egress/model-providers.yaml").write_text("providers: []\n")
    library = Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))
    assert [Path(str(file)).name for file in library.egress_files("telegram")] == ["telegram.yaml"]
    assert len(library.egress_files("model-providers")) == 2
    assert library.egress_files("none") == library.egress_files("../mcp/mcp-tunnel") == ()


def test_a_platform_outside_its_directory_is_told(tmp_path: Path) -> None:
    """It would not be read, and nothing that goes there would be masked."""
    (tmp_path / "egress").mkdir()
    (tmp_path / "acme.yaml").write_text(_PLATFORM)
    with pytest.raises(ContentError, match="or egress/ of its directory"):
        Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))
