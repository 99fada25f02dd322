"""Directories of indicators, bundles and events, made for one test."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["GOOD", "NOW", "attribute", "bundle", "directory", "event", "indicator", "item"]

NOW = datetime(2026, 12, 1, tzinfo=UTC)

GOOD = """\
indicators:
  - id: c-01
    value: "203.113.5.7"
    match: address
    type: ipv4
    campaign: c
    action: block
    valid_from: "2026-01-01"
    references: ["https://example.com/report"]
"""


def item(**fields: Any) -> dict[str, Any]:
    """One item of a file of indicators."""
    base = {
        "id": "c-01",
        "value": "203.113.5.7",
        "match": "address",
        "type": "ipv4",
        "campaign": "c",
        "action": "block",
        "valid_from": "2026-01-01",
        "references": ["https://example.com/report"],
    }
    return base | fields


def directory(path: Path, *items: dict[str, Any], pin: bool = True, name: str = "some.yaml") -> Path:
    """Write a directory of indicators; JSON is YAML."""
    path.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"indicators": list(items or (item(),))})
    (path / name).write_text(text)
    if pin:
        files = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in path.iterdir()
            if file.suffix == ".yaml"
        }
        (path / "manifest.json").write_text(json.dumps({"schema": 1, "files": files}))
    return path


def indicator(pattern: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """One STIX indicator."""
    base = {
        "type": "indicator",
        "spec_version": "2.1",
        "id": f"indicator--00000000-0000-4000-8000-{number:012d}",
        "created": "2026-01-01T00:00:00.000Z",
        "modified": "2026-01-01T00:00:00.000Z",
        "pattern": pattern,
        "pattern_type": "stix",
        "valid_from": "2026-01-01T00:00:00Z",
    }
    return base | fields


def bundle(*objects: Any) -> dict[str, Any]:
    """A STIX bundle."""
    return {"type": "bundle", "id": "bundle--00000000-0000-4000-8000-000000000000", "objects": list(objects)}


def attribute(kind: str, value: Any, number: int = 1, **fields: Any) -> dict[str, Any]:
    """One MISP attribute that is marked for detection."""
    base = {"uuid": f"00000000-0000-4000-8000-{number:012d}", "type": kind, "value": value, "to_ids": True}
    return base | {"timestamp": "1767225600"} | fields


def event(*attributes: Any, **fields: Any) -> dict[str, Any]:
    """A MISP event."""
    return {"Event": {"uuid": "e", "info": "Evil campaign", "Attribute": list(attributes)} | fields}
