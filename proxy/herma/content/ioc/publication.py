"""Writes directories of indicators: the files, and the manifest that pins them."""

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from herma.content.ioc.collection import records_of
from herma.content.ioc.directory import MAX_FILE_BYTES, content_limit, content_names, read_file
from herma.content.ioc.manifest import MANIFEST, MAX_MANIFEST_BYTES, digest_of, make_manifest, read_manifest
from herma.content.ioc.moment import written
from herma.content.ioc.record import Record
from herma.content.ioc.signature import SIGNATURE
from herma.errors import ContentError, Source

__all__ = ["pin", "publish", "replace_file", "yaml_files"]

_HEAD: Final = "# Published indicators of compromise. Detection data only: never fetch, install or run a value.\nindicators:\n"
# Room for the head and one more item below the bound that a file is read with.
_FULL_BYTES: Final = MAX_FILE_BYTES - 16 * 1024


def yaml_files(records: Sequence[Record]) -> Iterator[tuple[str, bytes]]:
    """Write records as files of indicators, as many as their bound needs."""
    part, number = [_HEAD], 1
    size = len(_HEAD)
    for record in records:
        text = "".join(_lines(_item(record)))
        if size + len(text.encode()) > _FULL_BYTES:
            yield f"imported-{number:03d}.yaml", "".join(part).encode()
            part, number, size = [_HEAD], number + 1, len(_HEAD)
        part.append(text)
        size += len(text.encode())
    yield f"imported-{number:03d}.yaml", "".join(part).encode()


def _item(record: Record) -> dict[str, Any]:
    one = record.indicator
    item: dict[str, Any] = {
        "id": one.id,
        "value": one.value,
        "match": one.matching.value,
        "type": record.kind,
        "campaign": one.campaign,
        "action": one.action.value,
        "valid_from": written(record.valid_from) if record.valid_from else "unknown",
    }
    if record.valid_until is not None:
        item["valid_until"] = written(record.valid_until)
    if record.note:
        item["note"] = record.note
    return item | {"references": list(record.references)}


def _lines(item: dict[str, Any]) -> Iterator[str]:
    # JSON strings of printable characters are YAML strings: nothing in a value can end one.
    for index, (key, value) in enumerate(item.items()):
        yield f"{'  - ' if index == 0 else '    '}{key}: {json.dumps(value, ensure_ascii=False)}\n"


def publish(directory: Path, records: Sequence[Record], *, replace: bool) -> None:
    """Write records into a directory of their own; `replace` takes away the indicators that are there.

    Raises:
        ContentError: there are indicators already.
    """
    directory.mkdir(parents=True, exist_ok=True)
    old = content_names(directory)
    if old and not replace:
        message = "there are indicators here already; name another directory, or use --replace"
        raise ContentError(message, Source(str(directory)))
    made = dict(yaml_files(records))
    for name, content in made.items():
        replace_file(directory / name, content)
    for name in old:
        if name not in made:
            (directory / name).unlink()


def pin(
    directory: Path, now: datetime, expires: datetime | None = None, serial: int | None = None
) -> tuple[int, int]:
    """Write the manifest of a directory as it is; its serial is one above the last if none is given.

    What is pinned was read like a gate reads it: nothing wrong is pinned here and refused there. A signature of the last
    manifest is taken away: it says nothing about this one.

    Returns:
        The serial, and the number of indicators.

    Raises:
        ContentError: the directory cannot be used, or the serial would go back.
    """
    files = [(name, read_file(directory / name, content_limit(name))) for name in content_names(directory)]
    records, _ = records_of(files, directory, now)
    last = _last_serial(directory)
    made = last + 1 if serial is None else serial
    if made < max(last, 1):
        raise ContentError(
            f"serial {made} is lower than the last one, {last}", Source(str(directory / MANIFEST))
        )
    digests = {name: digest_of(content) for name, content in files}
    replace_file(directory / MANIFEST, make_manifest(digests, made, now, expires))
    (directory / SIGNATURE).unlink(missing_ok=True)
    return made, len(records)


def _last_serial(directory: Path) -> int:
    manifest = directory / MANIFEST
    if not manifest.exists():
        return 0
    return read_manifest(read_file(manifest, MAX_MANIFEST_BYTES), str(manifest)).serial


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in the place of another at once; a link is replaced, not followed."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
