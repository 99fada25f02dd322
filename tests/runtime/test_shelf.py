"""What the console says about rules and indicators."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herma.config.load import parse
from herma.config.settings import Content, Settings
from herma.config.values import FilePath
from herma.content.library import Library
from herma.runtime.shelf import Shelf

NOW = datetime(2026, 12, 2, tzinfo=UTC)
SHIPPED = parse(b"upstream: {url: 'http://127.0.0.1:8642', profile: hermes-api}\n", "herma.yaml", {})


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


@pytest.mark.parametrize(("family", "exempts"), [("mcp", "server"), ("cron", "job"), ("redaction", "")])
async def test_a_rule_says_what_it_is(library: Library, family: str, exempts: str) -> None:
    """Title, description, file and text; and for whom it can be switched off, if for anybody."""
    rule = library.rules(family)[0]
    found = await Shelf(lambda: SHIPPED).rule(rule.id)
    assert found is not None
    assert (found.title, found.description, found.exempts) == (rule.title, rule.description, exempts)
    assert found.file == library.file_of(rule)
    assert found.text.startswith(f"id: {rule.id}")


async def test_an_indicator_says_where_it_was_published(library: Library) -> None:
    """It can be corrected, not exempted."""
    record = library.collection(NOW).records[0]
    found = await Shelf(lambda: SHIPPED, lambda: NOW).rule(f"ioc-{record.indicator.id}")
    assert found is not None
    assert record.indicator.campaign in found.title
    assert (found.file, found.references, found.exempts) == (record.file, record.references, "")


@pytest.mark.parametrize("name", ["auth-scope", "../../etc/passwd", "ioc-none", "", "x" * 5000])
async def test_what_is_no_rule_is_none(name: str) -> None:
    """A check of the gate itself, a path, nothing."""
    assert await Shelf(lambda: SHIPPED, lambda: NOW).rule(name) is None


async def test_feeds_tell_how_many_and_how_old() -> None:
    """Each directory by itself."""
    feeds, problem = await Shelf(lambda: SHIPPED, lambda: NOW).feeds()
    assert problem == ""
    assert sum(feed.indicators for feed in feeds) == len(Library().collection(NOW).records)
    assert [feed.place for feed in feeds] == ["shipped with Herma"]
    for feed in feeds:
        assert feed.age_days == (NOW - datetime.fromisoformat(f"{feed.newest}T00:00:00+00:00")).days


async def test_content_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A page is shown all the same."""
    broken = replace(
        SHIPPED, content=Content(ioc_dir=FilePath(str(tmp_path)), rules_dirs=(FilePath(str(tmp_path)),))
    )
    shelf = Shelf(lambda: broken, lambda: NOW)
    feeds, problem = await shelf.feeds()
    assert feeds == ()
    assert problem.startswith("The indicators cannot be read: ")
    assert await shelf.rule("mcp-tunnel") is None


async def test_indicators_are_read_once_for_each_configuration(tmp_path: Path) -> None:
    """A page that asks every other second costs nothing; a reload is seen."""
    current: list[Settings] = [SHIPPED]
    shelf = Shelf(lambda: current[0], lambda: NOW)
    first = await shelf.feeds()
    assert (await shelf.feeds())[0] is first[0]
    current[0] = replace(SHIPPED, content=Content(ioc_dir=FilePath(str(tmp_path))))
    assert (await shelf.feeds())[1]
