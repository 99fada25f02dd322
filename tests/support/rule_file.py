"""A rule of an operator, as a file holds it."""

from typing import Any

import yaml

__all__ = ["RULE", "rule_text"]

RULE: dict[str, Any] = {
    "id": "acme-own",
    "title": "Calls the tool acmectl with the option --wipe",
    "status": "test",
    "level": "high",
    "description": "For tests.",
    "tags": ["T1485"],
    "keywords": ["acmectl"],
    "pattern": r"\bacmectl\b[^\n]{0,80} --wipe\b",
    "examples": {
        "match": ["acmectl disks --wipe", "acmectl --wipe"],
        "no_match": ["acmectl disks", "wipe the table"],
    },
}


def rule_text(**changes: Any) -> bytes:
    """Write the rule with some keys changed; None leaves one out."""
    fields = {key: value for key, value in {**RULE, **changes}.items() if value is not None}
    return yaml.safe_dump(fields, sort_keys=False).encode()
