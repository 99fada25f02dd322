"""Claims about `herma.content.ioc.directory`."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from herma.content.ioc import directory as module
from herma.content.ioc.directory import Trust, content_names, load_public_key, read_directory, read_file
from herma.content.ioc.publication import pin
from herma.content.ioc.signature import new_signing_key, sign
from herma.errors import ContentError
from support.ioc_files import NOW, directory

KEY = new_signing_key()
TRUST = Trust(NOW, (KEY.public,))


def _signed(path: Path, **options: object) -> Path:
    directory(path, pin=False)
    pin(path, NOW, **options)  # type: ignore[arg-type] - a test's keywords
    (path / "manifest.sig").write_bytes(sign((path / "manifest.json").read_bytes(), KEY))
    return path


def test_a_signed_directory_is_read(tmp_path: Path) -> None:
    """Its files, in order, and its manifest."""
    files, manifest = read_directory(_signed(tmp_path), TRUST, pinned=True)
    assert [name for name, _ in files] == ["some.yaml"]
    assert manifest is not None
    assert manifest.serial == 1


def _strip(path: Path) -> None:
    (path / "manifest.sig").unlink()


def _strip_all(path: Path) -> None:
    _strip(path)
    (path / "manifest.json").unlink()


def _downgrade(path: Path) -> None:
    facts = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({"schema": 1, "files": facts["files"]}))


def _resign(path: Path) -> None:
    (path / "manifest.sig").write_bytes(sign((path / "manifest.json").read_bytes(), new_signing_key()))


def _reformat(path: Path) -> None:
    facts = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(facts))


def _add(path: Path) -> None:
    (path / "more.yaml").write_text((path / "some.yaml").read_text())


def _add_bundle(path: Path) -> None:
    (path / "more.json").write_text("{}")


def _edit(path: Path) -> None:
    (path / "some.yaml").write_text((path / "some.yaml").read_text() + "\n")


def _break(path: Path) -> None:
    (path / "manifest.sig").write_text("{}")


def _link(path: Path) -> None:
    (path / "some.yaml").rename(path / "elsewhere")
    (path / "some.yaml").symlink_to(path / "elsewhere")


def _open(path: Path) -> None:
    (path / "some.yaml").chmod(0o666)


def _remove(path: Path) -> None:
    (path / "some.yaml").unlink()


ATTACKS = {
    "the signature is gone": (_strip, "cannot be read"),
    "signature and manifest are gone": (_strip_all, "cannot be read"),
    "an older schema": (_downgrade, "schema 2"),
    "another key": (_resign, "not signed by one"),
    "the same facts in other bytes": (_reformat, "not signed by one"),
    "one more file": (_add, "differ"),
    "one more bundle": (_add_bundle, "differ"),
    "a file less": (_remove, "differ"),
    "a file that was edited": (_edit, "digest"),
    "no signature file": (_break, "another form"),
    "a link": (_link, "symbolic link"),
    "a file that others may write": (_open, "other users"),
}


@pytest.mark.parametrize(("attack", "says"), ATTACKS.values(), ids=ATTACKS.keys())
def test_nothing_that_was_not_signed_is_used(tmp_path: Path, attack: object, says: str) -> None:
    """However the directory was changed, it is refused as a whole."""
    _signed(tmp_path)
    attack(tmp_path)  # type: ignore[operator] - one of the functions above
    with pytest.raises(ContentError, match=says):
        read_directory(tmp_path, TRUST, pinned=False)


def test_a_manifest_ends(tmp_path: Path) -> None:
    """On its day, signed or not."""
    _signed(tmp_path, expires=NOW + timedelta(days=1))
    read_directory(tmp_path, TRUST, pinned=True)
    for keys in ((KEY.public,), ()):
        with pytest.raises(ContentError, match="ended on 2026-12-02"):
            read_directory(tmp_path, Trust(NOW + timedelta(days=2), keys), pinned=True)


def test_an_older_serial_is_not_taken_back(tmp_path: Path) -> None:
    """Lower than what was seen for this directory, or than what is configured; the same again is fine."""
    _signed(tmp_path, serial=5)
    read_directory(tmp_path, Trust(NOW, (KEY.public,), {str(tmp_path): 5}, 5), pinned=True)
    for trust in (Trust(NOW, (KEY.public,), {str(tmp_path): 6}), Trust(NOW, (KEY.public,), None, 6)):
        with pytest.raises(ContentError, match="older state"):
            read_directory(tmp_path, trust, pinned=True)


def test_without_keys_a_manifest_is_asked_for_where_one_must_be(tmp_path: Path) -> None:
    """Where one is, it must be right."""
    directory(tmp_path, pin=False)
    files, manifest = read_directory(tmp_path, Trust(NOW), pinned=False)
    assert (len(files), manifest) == (1, None)
    with pytest.raises(ContentError, match="manifest"):
        read_directory(tmp_path, Trust(NOW), pinned=True)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ContentError, match="no usable manifest"):
        read_directory(tmp_path, Trust(NOW), pinned=False)


def test_a_mounted_config_map_is_read(tmp_path: Path) -> None:
    """Each file is a link through the one link that Kubernetes turns."""
    directory(tmp_path / "..2026", pin=True)
    (tmp_path / "..data").symlink_to("..2026")
    for name in ("some.yaml", "manifest.json"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    files, manifest = read_directory(tmp_path, Trust(NOW), pinned=True)
    assert [name for name, _ in files] == ["some.yaml"]
    assert manifest is not None


def test_directories_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files, in entries, in names and in bytes."""
    directory(tmp_path, pin=False)
    (tmp_path / "b.yaml").write_text("x")
    for name, value in (("MAX_FILES", 1), ("MAX_ENTRIES", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            with pytest.raises(ContentError, match="more than"):
                content_names(tmp_path)
    (tmp_path / "\u00fc.yaml").write_text("x")
    with pytest.raises(ContentError, match="other characters"):
        content_names(tmp_path)
    with pytest.raises(ContentError, match="cannot be listed"):
        content_names(tmp_path / "none")
    with pytest.raises(ContentError, match="more than 1 bytes"):
        read_file(tmp_path / "some.yaml", 1)


def test_what_came_with_the_program_belongs_to_its_installer(tmp_path: Path) -> None:
    """Its files may be links, and are bounded all the same."""
    (tmp_path / "real").write_text("text")
    (tmp_path / "link").symlink_to("real")
    assert read_file(tmp_path / "link", 9, guarded=False) == b"text"
    with pytest.raises(ContentError, match="larger"):
        read_file(tmp_path / "link", 1, guarded=False)
    with pytest.raises(ContentError, match="cannot be read"):
        read_file(tmp_path / "none", 1, guarded=False)


def test_a_public_key_is_a_file_like_the_others(tmp_path: Path) -> None:
    """A link, a wrong key or none is an error with its place."""
    (tmp_path / "key.pub").write_bytes(KEY.public.pem())
    assert load_public_key(str(tmp_path / "key.pub")) == KEY.public
    (tmp_path / "bad.pub").write_bytes(KEY.pem())
    (tmp_path / "link.pub").symlink_to("key.pub")
    for name in ("bad.pub", "link.pub", "none.pub"):
        with pytest.raises(ContentError, match=name):
            load_public_key(str(tmp_path / name))


@pytest.mark.parametrize("name", ["zz.yml", "zz.YAML", "zz.Json", "zz.csv", "zz.stix", "sub/zz.json"])
@pytest.mark.parametrize("signed", [True, False])
def test_what_looks_like_indicators_and_is_not_read_is_an_error(
    tmp_path: Path, name: str, signed: bool
) -> None:
    """Somebody put it there to be read."""
    place = _signed(tmp_path) if signed else directory(tmp_path, pin=False)
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text("{}")
    with pytest.raises(ContentError, match="would not be read"):
        read_directory(place, TRUST if signed else Trust(NOW), pinned=signed)


def test_notes_and_hidden_directories_beside_indicators_are_none_of_them(tmp_path: Path) -> None:
    """A text for people, and what a cluster mounts."""
    place = _signed(tmp_path)
    (place / "README.md").write_text("x")
    (place / "..2026_12_01").mkdir()
    assert read_directory(place, TRUST, pinned=True)[0]
