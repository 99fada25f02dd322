"""Indicators from YAML files by kind, pinned by a manifest.

Strict like rules: an unknown key, a file the manifest does not pin or that differs from it, a duplicate, a value that would
match loopback or private addresses or a whole registry, or an indicator without a public reference is an error.
"""

import hashlib
import re
from importlib.resources.abc import Traversable
from ipaddress import ip_network
from typing import Any, Final

from herma.errors import ConfigError, ContentError, Source
from herma.policy.indicator import Action, Indicator, IndicatorSet, Matching
from herma.policy.jsondoc import JsonError, parse
from herma.yamlfile import Loaded, load

__all__ = ["load_indicators"]

# The largest shipped file has 35 KiB; operators may mount bigger lists, not dumps.
MAX_FILE_BYTES: Final = 1024 * 1024
MAX_FILES: Final = 64

_ENTRY_TYPES: Final = frozenset(
    {"mcp_server_name", "mcp_server_name_regex", "env_name", "env_assignment", "config_key"}
)
_REQUIRED: Final = ("id", "value", "match", "type", "campaign", "action", "valid_from", "references")
_OPTIONAL: Final = ("ecosystem", "versions", "note", "valid_until")


def load_indicators(directory: Traversable) -> IndicatorSet:
    """Read every file that the manifest pins.

    Raises:
        ContentError: a file cannot be used, is not pinned, or differs from its digest.
    """
    indicators: dict[str, Indicator] = {}
    values: set[tuple[str, str, str, tuple[str, ...]]] = set()
    for name, text in _pinned(directory):
        if name == "campaigns.yaml":
            continue
        file = str(directory / name)
        loaded = _load(text, file)
        for index, item in enumerate(_list(loaded)):
            indicator = _indicator(loaded, index, item)
            key = (indicator.matching, indicator.ecosystem, indicator.value, indicator.versions)
            if indicator.id in indicators or key in values:
                raise ContentError("this indicator is listed twice", loaded.at(("indicators", index)))
            indicators[indicator.id] = indicator
            values.add(key)
    if not indicators:
        raise ContentError("no indicators here; without any nothing would be found", Source(str(directory)))
    try:
        return IndicatorSet(tuple(indicators.values()))
    except ValueError as error:
        raise ContentError(str(error), Source(str(directory))) from None


def _pinned(directory: Traversable) -> list[tuple[str, bytes]]:
    manifest = directory / "manifest.json"
    try:
        files = parse(manifest.read_bytes(), max_depth=4, max_keys=MAX_FILES + 4).value["files"]
        found = {entry.name for entry in directory.iterdir() if entry.name.endswith(".yaml")}
    except (OSError, JsonError, KeyError, TypeError):
        raise ContentError(
            'no usable manifest; expected {"files": {name: sha256}}', Source(str(manifest))
        ) from None
    if not isinstance(files, dict) or set(files) != found:
        raise ContentError(
            "the manifest and the files beside it differ; run `herma ioc pin`", Source(str(manifest))
        )
    pinned = []
    for name in sorted(files):
        text = (directory / name).read_bytes()
        if len(text) > MAX_FILE_BYTES:
            raise ContentError(f"larger than {MAX_FILE_BYTES} bytes", Source(str(directory / name)))
        if hashlib.sha256(text).hexdigest() != files[name]:
            raise ContentError("differs from its digest in the manifest", Source(str(directory / name)))
        pinned.append((name, text))
    return pinned


def _load(text: bytes, file: str) -> Loaded:
    try:
        return load(text, file)
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error


def _list(loaded: Loaded) -> list[Any]:
    value = loaded.value.get("indicators") if isinstance(loaded.value, dict) else None
    if not isinstance(value, list):
        raise ContentError("expected a list `indicators`", loaded.at(()))
    return value


def _indicator(loaded: Loaded, index: int, item: Any) -> Indicator:
    def wrong(message: str) -> ContentError:
        return ContentError(message, loaded.at(("indicators", index)))

    if not isinstance(item, dict):
        raise wrong("an indicator is a mapping")
    for key in item:
        if key not in _REQUIRED + _OPTIONAL:
            raise wrong(f"unknown key {key!r}")
    for key in _REQUIRED:
        if not item.get(key):
            raise wrong(f"the key {key!r} is missing; no evidence, no entry")
    try:
        indicator = Indicator(
            id=str(item["id"]),
            value=str(item["value"]),
            matching=Matching(item["match"]),
            action=Action(item["action"]),
            campaign=str(item["campaign"]),
            ecosystem=str(item.get("ecosystem", "")),
            versions=tuple(str(version) for version in item.get("versions", ())),
            entry_only=item["type"] in _ENTRY_TYPES,
        )
        _check_value(indicator)
    except (ValueError, re.error) as error:
        raise wrong(f"cannot be used: {error}") from None
    return indicator


def _check_value(indicator: Indicator) -> None:
    """Refuse values that would match what everybody uses."""
    match indicator.matching:
        case Matching.ADDRESS:
            network = ip_network(indicator.value.partition(":")[0])
            if network.is_private or network.is_loopback or network.is_link_local or network.prefixlen < 16:
                raise ValueError("the address is loopback, private, link-local or too wide")
        case Matching.DOMAIN:
            if "." not in indicator.value or indicator.value != indicator.value.lower():
                raise ValueError("a domain has two labels at least and is written lower-case")
        case Matching.REGEX:
            re.compile(indicator.value)
        case Matching.PACKAGE | Matching.SCOPE:
            if not indicator.ecosystem:
                raise ValueError("a package needs its ecosystem")
        case _:
            if len(indicator.value) < 4:
                raise ValueError("the value is too short to mean anything")
