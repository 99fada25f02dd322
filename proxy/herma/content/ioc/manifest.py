"""The manifest of a directory of indicators: which files belong to it, in which state, since when and until when.

Schema 1 pins the files only. Schema 2 adds a serial that only grows, the day it was made and, if wanted, the day it ends;
what is signed has schema 2.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from herma.content.ioc.moment import parse_moment, written
from herma.errors import ContentError, Source
from herma.policy.jsondoc import JsonError, parse

__all__ = [
    "MANIFEST",
    "MAX_FILES",
    "Manifest",
    "digest_of",
    "is_content_name",
    "make_manifest",
    "read_manifest",
]

MANIFEST: Final = "manifest.json"
MAX_FILES: Final = 64
MAX_MANIFEST_BYTES: Final = 64 * 1024
# Larger numbers are not the same in every JSON reader.
MAX_SERIAL: Final = 2**53 - 1

# One file of this directory: no path, no hidden file, nothing that a shell or a terminal would obey.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}\.(?:yaml|json)")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_KEYS: Final = {1: {"schema", "files"}, 2: {"schema", "serial", "created", "expires", "files"}}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says; `raw` are the bytes that say it, which is what a signature is about."""

    files: Mapping[str, str]
    raw: bytes
    serial: int = 0
    created: datetime | None = None
    expires: datetime | None = None


def is_content_name(name: str) -> bool:
    """Tell whether a file can hold indicators."""
    return name != MANIFEST and _NAME.fullmatch(name) is not None


def digest_of(content: bytes) -> str:
    """Give the digest that a manifest pins."""
    return hashlib.sha256(content).hexdigest()


def make_manifest(
    files: Mapping[str, str], serial: int, created: datetime, expires: datetime | None
) -> bytes:
    """Write a manifest of schema 2; the same facts give the same bytes."""
    facts: dict[str, Any] = {"schema": 2, "serial": serial, "created": written(created)}
    if expires is not None:
        facts["expires"] = written(expires)
    facts["files"] = dict(sorted(files.items()))
    return (json.dumps(facts, indent=2) + "\n").encode()


def read_manifest(raw: bytes, file: str) -> Manifest:
    """Read a manifest strictly.

    Raises:
        ContentError: it has another form than the two.
    """
    try:
        return _read(raw)
    except ValueError as error:
        message = (
            f'no usable manifest: {error}; expected {{"schema": 2, "serial": …, "files": {{name: sha256}}}}'
        )
        raise ContentError(message, Source(file)) from None


def _read(raw: bytes) -> Manifest:
    if len(raw) > MAX_MANIFEST_BYTES:
        raise ValueError(f"more than {MAX_MANIFEST_BYTES} bytes")
    try:
        value = parse(raw, max_depth=4, max_keys=MAX_FILES + 8).value
    except JsonError as error:
        raise ValueError(error.code) from None
    schema = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema not in _KEYS:
        raise ValueError("found another schema than 1 or 2")
    if unknown := value.keys() - _KEYS[schema]:
        raise ValueError(f"found {len(unknown)} unknown keys")
    files = _files(value.get("files"))
    if schema == 1:
        return Manifest(files, raw)
    serial = value.get("serial")
    if not isinstance(serial, int) or isinstance(serial, bool) or not 0 < serial <= MAX_SERIAL:
        raise ValueError("serial must be a whole number from 1")
    expires = parse_moment(value["expires"], end=True) if "expires" in value else None
    return Manifest(files, raw, serial, parse_moment(value.get("created")), expires)


def _files(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or not 0 < len(value) <= MAX_FILES:
        raise ValueError(f"files must name 1 to {MAX_FILES} files")
    for name, digest in value.items():
        if not is_content_name(name):
            raise ValueError("a file is named by its plain name, ending in .yaml or .json")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise ValueError("a digest is a SHA-256 in lower-case hexadecimal digits")
    return value
