"""The reference page of `herma.yaml`, made from the settings classes."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import EnumType
from typing import Any, get_args, get_origin

from herma.config.option import Option
from herma.config.reader import parts, settings_of
from herma.config.scalar import SCALARS
from herma.config.schema import default_of
from herma.config.settings import Settings
from herma.config.values import Bytes, Seconds

__all__ = ["reference"]

_HEAD = """# Configuration

`herma init` writes the file `herma.yaml`, `herma check` judges it and tells every problem at once, each with its line and its
fix. Unknown keys, keys given twice, aliases and tags are refused. The file is read again on SIGHUP and when it changes; one that
is wrong changes nothing.

A secret stands in a file of its own (`key_file: path`, mode 0600) or in an environment variable (`key: ${NAME}`); a variable
that is set and empty counts as not set. No environment variable overrides a setting. `--insecure` and `HERMA_INSECURE` change
nothing. Relative paths start at the directory of the file.

A listener that is not provably loopback needs a key in `auth.keys`; without one Herma does not start. Loopback is
127.0.0.0/8 and `::1`, a name that resolves to these only, and a Unix socket of mode 0600. Everything else is public: private
networks, link-local addresses, carrier-grade NAT, `0.0.0.0`, `::`, and every `::ffff:` form.

The JSON Schema for editors is printed by `herma schema`.

"""
_TABLE = "| key | value | default | meaning |\n| --- | --- | --- | --- |\n"


def reference() -> str:
    """Return the page as Markdown."""
    sections = (f"## {title}\n\n{_TABLE}" + "".join(rows) for title, rows in _sections(Settings, ""))
    return _HEAD + "\n".join(sections)


def _sections(kind: type, prefix: str) -> Iterator[tuple[str, list[str]]]:
    rows: list[str] = []
    below: list[tuple[type, str]] = []
    for name, hint, option in settings_of(kind):
        inner, suffix = _inner(hint)
        if inner is not None:
            rows.append(
                _row(
                    f"{name}{suffix}", "", "required" if option.required else option.default_text, option.doc
                )
            )
            below.append((inner, f"{prefix}{name}{suffix}."))
        else:
            shown = f"{name}, {name}_file" + (", hash" if option.hashed else "") if option.secret else name
            rows.append(_row(shown, _described(hint, option), _default(kind, name, option), option.doc))
    yield (f"`{prefix.removesuffix('.')}`" if prefix else "The file"), rows
    for inner, path in below:
        yield from _sections(inner, path)


def _inner(hint: Any) -> tuple[type | None, str]:
    """Return the settings class inside a type, and how its key shows that there are many."""
    kind = parts(hint)[0]
    suffix = ""
    if get_origin(kind) is tuple:
        kind, suffix = get_args(kind)[0], "[]"
    elif (origin := get_origin(kind)) is not None and issubclass(origin, Mapping):
        kind, suffix = get_args(kind)[1], ".<id>"
    if is_dataclass(kind) and isinstance(kind, type) and kind not in SCALARS:
        return kind, suffix
    return None, suffix


def _described(hint: Any, option: Option) -> str:
    kind = parts(hint)[0]
    if get_origin(kind) in {tuple, frozenset}:
        return "list: " + _described(get_args(kind)[0], option)
    if option.secret:
        return "secret"
    if isinstance(kind, EnumType):
        return ", ".join(f"`{choice}`" for choice in option.choices or map(str, kind.__members__.values()))
    if kind is bool:
        return "`true`, `false`"
    if kind in {int, Bytes, float, Seconds}:
        return f"{_number(option.minimum)} to {_number(option.maximum)}"
    return f"`{option.example}`" if option.example else SCALARS[kind].expected


def _default(kind: type, name: str, option: Option) -> str:
    if option.required:
        return "required"
    value = default_of(kind, name)
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{_number(value)}`" if isinstance(value, int | float) else f"`{value}`"


def _number(value: float | None) -> str:
    return f"{value:.15g}"


def _row(*cells: str) -> str:
    return (
        "| "
        + " | ".join((f"`{cells[0]}`" if "," not in cells[0] else _several(cells[0]), *cells[1:]))
        + " |\n"
    )


def _several(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))
