"""Claims about `herma.content.ioc.publication`."""

import json
from pathlib import Path

import pytest

from herma.content.ioc import publication as module
from herma.content.ioc.collection import IndicatorSources, collect
from herma.content.ioc.manifest import read_manifest
from herma.content.ioc.publication import pin, publish, replace_file, yaml_files
from herma.content.ioc.record import Record, read_record
from herma.errors import ContentError
from support.ioc_files import NOW, directory, item


def _records(count: int) -> list[Record]:
    return [
        read_record(
            item(
                id=f"c-{n}",
                value=f"h{n}.example",
                match="domain",
                type="domain",
                note="a: 'b' # \"c\" \\ \u00fc",
            ),
            "f",
        )
        for n in range(count)
    ]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Whatever stands in a note; also what ends or has no beginning."""
    records = [
        *_records(2),
        read_record(item(id="c-9", valid_from="unknown", valid_until="2027-01-01T00:00:00Z"), "f"),
    ]
    publish(tmp_path / "a/b", records, replace=False)
    serial, count = pin(tmp_path / "a/b", NOW)
    assert (serial, count) == (1, 3)
    again = collect(IndicatorSources(tmp_path / "a/b", shipped=False), NOW).records
    assert [one.indicator for one in again] == [one.indicator for one in records]
    assert again[0].note == records[0].note
    assert (again[2].valid_from, again[2].valid_until) == (None, records[2].valid_until)


def test_many_records_are_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None larger than one may be."""
    monkeypatch.setattr(module, "_FULL_BYTES", 1000)
    files = dict(yaml_files(_records(12)))
    assert len(files) > 2
    assert all(len(content) <= 1000 for content in files.values())
    publish(tmp_path, _records(12), replace=False)
    assert pin(tmp_path, NOW)[1] == 12


def test_indicators_are_replaced_only_when_asked_to(tmp_path: Path) -> None:
    """What is not part of the new ones goes."""
    directory(tmp_path)
    with pytest.raises(ContentError, match="--replace"):
        publish(tmp_path, _records(1), replace=False)
    publish(tmp_path, _records(1), replace=True)
    publish(tmp_path, _records(2), replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["imported-001.yaml", "manifest.json"]


def test_the_serial_only_grows(tmp_path: Path) -> None:
    """One above the last, or what is asked for if it is not lower; the old signature goes."""
    directory(tmp_path)
    (tmp_path / "manifest.sig").write_text("old")
    assert pin(tmp_path, NOW)[0] == 1
    assert not (tmp_path / "manifest.sig").exists()
    assert pin(tmp_path, NOW, serial=7)[0] == 7
    assert pin(tmp_path, NOW)[0] == 8
    with pytest.raises(ContentError, match="lower than the last one, 8"):
        pin(tmp_path, NOW, serial=7)
    assert read_manifest((tmp_path / "manifest.json").read_bytes(), "m").serial == 8


def test_what_a_gate_would_refuse_is_not_pinned(tmp_path: Path) -> None:
    """A wrong value, nothing at all, or a manifest that cannot be read."""
    with pytest.raises(ContentError, match="no indicators"):
        pin(tmp_path, NOW)
    directory(tmp_path, item(value="127.0.0.1"), pin=False)
    with pytest.raises(ContentError, match="loopback"):
        pin(tmp_path, NOW)
    directory(tmp_path, pin=False)
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 9}))
    with pytest.raises(ContentError, match="no usable manifest"):
        pin(tmp_path, NOW)


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    """A link of its name is replaced and not followed; of a failure nothing is left."""
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "file").symlink_to("target")
    replace_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "target").read_text() == "untouched"
    (tmp_path / "dir").mkdir()
    with pytest.raises(OSError, match="dir"):
        replace_file(tmp_path / "dir", b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dir", "file", "target"]
