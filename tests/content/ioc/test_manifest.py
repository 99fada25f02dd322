"""Claims about `herma.content.ioc.manifest`."""

import json
from typing import Any

import pytest

from herma.content.ioc.manifest import digest_of, is_content_name, make_manifest, read_manifest
from herma.errors import ContentError
from support.ioc_files import NOW

FILES = {"a.yaml": digest_of(b"a")}


def test_a_manifest_is_read_as_it_was_written() -> None:
    """Files, serial, times and the very bytes."""
    raw = make_manifest(FILES, 7, NOW, NOW)
    made = read_manifest(raw, "m")
    assert (made.files, made.serial, made.created, made.expires, made.raw) == (FILES, 7, NOW, NOW, raw)
    assert read_manifest(make_manifest(FILES, 7, NOW, None), "m").expires is None
    assert make_manifest(FILES, 7, NOW, None) == make_manifest(FILES, 7, NOW, None)


def test_schema_1_has_no_serial() -> None:
    """It pins files and nothing else."""
    assert read_manifest(json.dumps({"schema": 1, "files": FILES}).encode(), "m").serial == 0


REFUSED: dict[str, Any] = {
    "no mapping": [],
    "no schema": {"files": FILES},
    "another schema": {"schema": 3, "files": FILES},
    "true for a schema": {"schema": True, "files": FILES},
    "no files": {"schema": 1},
    "an empty list": {"schema": 1, "files": {}},
    "many files": {"schema": 1, "files": {f"{n}.yaml": digest_of(b"") for n in range(70)}},
    "an unknown key": {"schema": 1, "files": FILES, "more": 1},
    "a serial in schema 1": {"schema": 1, "serial": 1, "files": FILES},
    "no serial": {"schema": 2, "created": "2026-01-01", "files": FILES},
    "serial 0": {"schema": 2, "serial": 0, "created": "2026-01-01", "files": FILES},
    "true for a serial": {"schema": 2, "serial": True, "created": "2026-01-01", "files": FILES},
    "a huge serial": {"schema": 2, "serial": 2**60, "created": "2026-01-01", "files": FILES},
    "no day": {"schema": 2, "serial": 1, "created": "now", "files": FILES},
    "no end": {"schema": 2, "serial": 1, "created": "2026-01-01", "expires": None, "files": FILES},
    "a short digest": {"schema": 1, "files": {"a.yaml": "ab"}},
    "a number for a digest": {"schema": 1, "files": {"a.yaml": 1}},
    "a path": {"schema": 1, "files": {"../a.yaml": digest_of(b"")}},
    "an absolute path": {"schema": 1, "files": {"/etc/a.yaml": digest_of(b"")}},
    "itself": {"schema": 1, "files": {"manifest.json": digest_of(b"")}},
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_other_forms_are_refused(value: Any) -> None:
    """Nothing is guessed, and no name leads out of the directory."""
    with pytest.raises(ContentError, match="no usable manifest"):
        read_manifest(json.dumps(value).encode(), "m")


@pytest.mark.parametrize("raw", [b"", b'{"schema":1,"schema":1}', b"x" * 70_000])
def test_bytes_that_mean_two_things_or_none_are_refused(raw: bytes) -> None:
    """Duplicate names, no JSON, a book."""
    with pytest.raises(ContentError, match="no usable manifest"):
        read_manifest(raw, "m")


@pytest.mark.parametrize(
    "name", ["a/b.yaml", "..yaml", ".a.yaml", "a.yml", "a\n.yaml", "manifest.json", "\u00fc.yaml", ""]
)
def test_names_that_are_no_plain_names_are_none(name: str) -> None:
    """What a shell, a terminal or a path would read otherwise."""
    assert not is_content_name(name)
    assert is_content_name("A-b_c.1.yaml")
