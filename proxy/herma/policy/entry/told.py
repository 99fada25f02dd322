"""Keys that a mapping tells as a value: `config.set`, JSON Patch, forms, variables of the environment, files that are written.

Mappings are given with their keys folded.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from herma.policy.entry.keys import steps
from herma.policy.entry.kin import told_by_key
from herma.policy.entry.notation import unwrapped
from herma.policy.entry.yamltext import YamlError, read_yaml

__all__ = ["MEMBERS", "Written", "keys_told", "variable", "written_file"]

# A text longer than this is not taken for a value of one key.
MAX_VALUE_CHARS = 64 * 1024

_TELLING = ("key", "path", "name", "field", "setting", "option", "param", "id")
_VALUES = ("value", "val", "newvalue")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,120}")
_PATHS = ("path", "file", "filepath", "filename", "target", "dest", "destination")
_CONTENTS = ("content", "contents", "dataurl", "data", "text", "body", "filetext", "newstring")
# The members that are read together, folded.
MEMBERS = frozenset({*_TELLING, *_VALUES, *_PATHS, *_CONTENTS, "encoding"})

type Written = tuple[str, str]


def keys_told(members: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give the paths that a mapping tells by a key and a value, with the value, and with what it says as JSON or YAML."""
    value = next((members[name] for name in _VALUES if name in members), _NONE)
    if value is _NONE:
        return
    for name in _TELLING:
        told = members.get(name)
        parts = (
            steps(told)
            if isinstance(told, str)
            else tuple(told)
            if isinstance(told, list) and all(isinstance(part, str) for part in told)
            else ()
        )
        if parts and told_by_key(parts):
            yield parts, value
            if (read := _read(value)) is not None:
                yield parts, read


_NONE = object()


def _read(value: Any) -> Any:
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["} or len(value) > MAX_VALUE_CHARS:
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return read_yaml(value)
    except YamlError:
        return None


def variable(members: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the variable that a mapping sets by a key and a value, if it does."""
    name, value = members.get("key", members.get("name")), members.get("value")
    if isinstance(name, str) and isinstance(value, str) and _VARIABLE.fullmatch(name.strip()) is not None:
        return {name.strip(): value}
    return None


def written_file(members: Mapping[str, Any]) -> Written | None:
    """Give the path and the text of a file of the agent's own that a mapping writes, if it does."""
    for name in _PATHS:
        path = members.get(name)
        if not isinstance(path, str) or not _is_own(path):
            continue
        for content in _CONTENTS:
            text = members.get(content)
            if isinstance(text, str) and content != name:
                plain = content == "content" and "base64" not in str(members.get("encoding", ""))
                return path, text if plain else unwrapped(text) or text
    return None


def _is_own(path: str) -> bool:
    parts = path.replace("\\", "/").lower().split("/")
    return ".hermes" in parts or parts[-1] in {"config.yaml", "config.yml"}
