"""The JSON Schema (2020-12) of `herma.yaml`, made from the settings classes, for editors.

It accepts everything the reader accepts. It cannot know everything the reader knows: `herma check` has the last word.
"""

from collections.abc import Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass
from enum import EnumType, StrEnum
from typing import Any, get_args, get_origin

from herma.config.option import Option
from herma.config.reader import MAX_ITEMS, parts, settings_of
from herma.config.scalar import SCALARS
from herma.config.settings import Settings
from herma.config.values import MAX_SALT_BYTES, MIN_SALT_BYTES, Bytes, Seconds

__all__ = ["SCHEMA_FILE", "default_of", "schema"]

SCHEMA_FILE = "herma.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema as plain JSON values."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "herma.yaml",
        **_object(Settings),
    }


def default_of(kind: type, name: str) -> Any:
    """Return the default of a scalar setting as it is written in the file; None where there is none to show."""
    field = next(item for item in fields(kind) if item.name == name)
    value = None if field.default is NO_DEFAULT else field.default
    match value:
        case StrEnum():
            return str(value)
        case bool() | int() | float() | None:
            return f"{value:04o}" if name == "mode" and isinstance(value, int) else value
        case tuple() | Mapping():
            return None
        case _:
            return str(value) or None


def _object(kind: type) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    rules: list[dict[str, Any]] = []
    for name, hint, option in settings_of(kind):
        if option.secret:
            properties.update(_secret(name, option))
            rules.append(_one_of(name, option))
            continue
        properties[name] = {"description": option.doc, **_value(hint, option)}
        default = default_of(kind, name)
        if default is not None:
            properties[name]["default"] = default
        if option.required:
            required.append(name)
    made: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        made["required"] = required
    if rules:
        made["allOf"] = rules
    return made


def _value(kind: Any, option: Option) -> dict[str, Any]:
    (kind,) = parts(kind)
    origin = get_origin(kind)
    if kind in SCALARS:
        return dict(SCALARS[kind].schema)
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind)
    if origin in {tuple, frozenset}:
        items = _value(get_args(kind)[0], option)
        return {"type": "array", "items": items, "minItems": option.min_items, "maxItems": MAX_ITEMS}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _object(get_args(kind)[1])}
    if isinstance(kind, EnumType):
        return {"enum": list(option.choices) or list(map(str, kind.__members__.values()))}
    return _plain(kind, option)


def _plain(kind: Any, option: Option) -> dict[str, Any]:
    if kind is bool:
        return {"type": "boolean"}
    assert kind in {int, Bytes, float, Seconds}, kind  # noqa: S101 - a new type of setting needs its schema here
    made: dict[str, Any] = {"type": "integer" if kind in {int, Bytes} else "number"}
    for name in ("minimum", "maximum"):
        bound = getattr(option, name)
        if bound is not None:
            made[name] = bound
    return made


def _secret(name: str, option: Option) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    made = {
        name: {"description": f"{option.doc} Here: `${{NAME}}`, an environment variable.", **text},
        f"{name}_file": {"description": f"{option.doc} Here: a file that holds it, mode 0600.", **text},
    }
    if option.hashed:
        salt = f"[0-9a-f]{{{2 * MIN_SALT_BYTES},{2 * MAX_SALT_BYTES}}}"
        pattern = f"^sha256:{salt}:[0-9a-f]{{64}}$"
        made["hash"] = {"description": "What `herma key hash` prints.", "type": "string", "pattern": pattern}
    return made


def _one_of(name: str, option: Option) -> dict[str, Any]:
    """Return the rule that the key is given one way (or not at all, where it may be absent)."""
    ways = list(_secret(name, option))
    given: list[dict[str, Any]] = [{"required": [way]} for way in ways]
    if option.required:
        return {"oneOf": given}
    return {"not": {"required": ways}}
