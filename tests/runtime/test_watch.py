"""A change of the configuration file, seen by its content."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from herma.runtime import watch as module
from herma.runtime.watch import MAX_CONFIG_BYTES, content_places, digest, files_state, look, watch
from support.config_text import parsed


class Watched:
    """A watched file; every look of the watcher happens when the test says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes = 0

    async def changed(self) -> None:
        self.changes += 1

    async def look(self, times: int = 1) -> None:
        """Let the watcher look; with an interval of zero, each turn of the loop is one look."""
        for _ in range(times):
            await asyncio.sleep(0)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    watched = Watched(tmp_path / "herma.yaml")
    watched.path.write_text("first")

    async def look() -> str:
        return digest(watched.path)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch(look, digest(watched.path), watched.changed, 0))
        await watched.look(2)
        yield watched
        task.cancel()


async def test_settled_change_is_taken_once(watched: Watched) -> None:
    """Two looks that see the same new content are one change, however long it stays."""
    watched.path.write_text("second")
    await watched.look(5)
    assert watched.changes == 1


async def test_file_that_is_still_being_written_is_not_taken(watched: Watched) -> None:
    """As long as each look sees something else, nothing is read."""
    for size in range(5):
        watched.path.write_text("second" * size)
        await watched.look()
        assert watched.changes == 0
    await watched.look(2)
    assert watched.changes == 1


async def test_removed_file_is_no_change(watched: Watched) -> None:
    """A file that is gone, and comes back as it was, changed nothing."""
    content = watched.path.read_bytes()
    watched.path.unlink()
    await watched.look(5)
    assert watched.changes == 0
    watched.path.write_bytes(content)
    await watched.look(5)
    assert watched.changes == 0


async def test_file_that_comes_back_with_another_content_is_a_change(watched: Watched) -> None:
    """A removal only postpones what follows it."""
    watched.path.unlink()
    await watched.look(3)
    watched.path.write_text("second")
    await watched.look(3)
    assert watched.changes == 1


async def test_new_date_alone_is_no_change(watched: Watched) -> None:
    """Touching the file or writing the same again reloads nothing."""
    os.utime(watched.path, (0, 0))
    await watched.look(3)
    watched.path.write_text("first")
    await watched.look(3)
    assert watched.changes == 0


async def test_file_that_is_replaced_by_a_link_is_a_change(watched: Watched, tmp_path: Path) -> None:
    """A mounted configuration that is swapped by renaming a link is noticed, with the same date or not."""
    (tmp_path / "other").write_text("second")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    (tmp_path / "link").replace(watched.path)
    await watched.look(3)
    assert watched.changes == 1


async def test_change_back_is_a_change(watched: Watched) -> None:
    """What is in force is the content last taken, so returning to an older one counts."""
    for content in ("second", "first"):
        watched.path.write_text(content)
        await watched.look(3)
    assert watched.changes == 2


def test_digest_is_of_the_content_and_empty_without_one(tmp_path: Path) -> None:
    """It is the SHA-256 that the configuration carries, and of no file it is empty."""
    path = tmp_path / "file"
    assert digest(path) == ""
    path.write_bytes(b"text")
    assert digest(path) == hashlib.sha256(b"text").hexdigest()


def test_digest_reads_a_bounded_part(tmp_path: Path) -> None:
    """Of a file that is too large to be a configuration, no more than that is read."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * (MAX_CONFIG_BYTES + 100))
    assert digest(path) == hashlib.sha256(b"x" * (MAX_CONFIG_BYTES + 1)).hexdigest()


def _tree(path: Path) -> Path:
    (path / "mcp/words").mkdir(parents=True)
    for name in ("a.yaml", "mcp/b.yaml", "mcp/words/c.yaml"):
        (path / name).write_text(name)
    return path


def test_the_state_of_files_differs_when_one_does(tmp_path: Path) -> None:
    """Written, added, removed, replaced: at any depth that content has."""
    tree = _tree(tmp_path / "tree")
    seen = [files_state([tree])]

    def now() -> bool:
        seen.append(files_state([tree]))
        return seen.count(seen[-1]) == 1

    assert not now()
    (tree / "mcp/words/c.yaml").write_text("other")
    assert now()
    (tree / "mcp/d.yaml").write_text("new")
    assert now()
    (tree / "a.yaml").unlink()
    assert now()
    (tree / "fresh").write_text("mcp/b.yaml")
    (tree / "fresh").replace(tree / "mcp/b.yaml")
    assert now()
    assert not now()


def test_a_turned_config_map_is_a_change(tmp_path: Path) -> None:
    """Though no name in the directory differs."""
    for name in ("..1", "..2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text("same")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    before = files_state([tmp_path])
    (tmp_path / "fresh").symlink_to("..2")
    (tmp_path / "fresh").replace(tmp_path / "..data")
    assert files_state([tmp_path]) != before


def test_what_is_not_there_has_a_state(tmp_path: Path) -> None:
    """A place that is gone or comes back is a change; no places are none."""
    assert files_state([]) == ""
    gone = files_state([tmp_path / "x"])
    (tmp_path / "x").write_text("")
    assert files_state([tmp_path / "x"]) != gone


def test_what_is_watched_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a directory put there by mistake a part is enough."""
    tree = _tree(tmp_path / "tree")
    whole = files_state([tree])
    monkeypatch.setattr(module, "MAX_FILES", 2)
    part = files_state([tree])
    assert part != whole
    (tree / "mcp/words/c.yaml").write_text("other")
    assert files_state([tree]) == part
    monkeypatch.setattr(module, "MAX_DEPTH", 0)
    assert files_state([tree]) != part


def test_a_look_sees_the_file_and_all_that_it_names(tmp_path: Path) -> None:
    """Each kind of content that is outside the package; nothing where the configuration is gone."""
    file = tmp_path / "herma.yaml"
    text = "content: {rules_dir: r, rules_dirs: [s], ioc_dir: i, ioc_dirs: [j], ioc_public_keys: [k]}\n"
    for name in "rsij":
        (tmp_path / name).mkdir()
    (tmp_path / "k").write_text("")
    settings = parsed(text, file=str(file))
    assert [path.name for path in content_places(settings)] == list("rsijk")
    assert look(settings) == ""
    file.write_text(text)
    before = look(settings)
    (tmp_path / "j/new.yaml").write_text("")
    assert look(settings) != before
