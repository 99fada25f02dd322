"""Keys of the agent's configuration that run, load or trust something like a server entry does.

A key is known by its last parts, wherever a body has it: `hooks.on_session_start[].command` below `config`, as a JSON Patch path,
as a key of `config.set`. What stands there is turned into an entry of its kind; the judge judges it like any other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from herma.policy.command.argv import basename
from herma.policy.entry.certificate import unchecked_settings
from herma.policy.entry.endpoint import MEMBERS as ENDPOINT_MEMBERS
from herma.policy.entry.endpoint import WORDS as ENDPOINT_WORDS
from herma.policy.entry.endpoint import endpoint_variable, endpoints_of, is_endpoint
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.fields import DIRECTORIES
from herma.policy.entry.keys import SpellingsError, fold, spellings

__all__ = ["KEPT_KEYS", "KNOWN_NAMES", "MEMBERS", "WORDS", "WRAPPERS", "environment", "kin_of", "told_by_key"]

# How often list and mapping may alternate below a key: `hooks.<event>[].hooks[].command`.
MAX_LEVELS = 4
# Names of variables that hold what runs.
_HELD = re.compile(
    r"(?:HERMES_\w{0,60}|\w{0,60}(?:STT|TTS|HOOK)\w{0,40})_(?:COMMAND|CMD|SCRIPT|HOOK)", re.IGNORECASE
)
# Variables that name the image of the agent's terminal.
_IMAGE = re.compile(r"TERMINAL_(?:DOCKER|SINGULARITY|MODAL|DAYTONA)_IMAGE")
# Keys of the way to a value that tell what it is: `config.tts.providers.<name>.command`.
KEPT_KEYS = 4


def _folded(*keys: str) -> frozenset[str]:
    return frozenset(map(fold, keys))


_COMMANDS = _folded(
    "hooks",
    "quick_commands",
    "startup_hooks",
    "startup_commands",
    "startup_command",
    "startup_scripts",
    "startup",
    "shell_hooks",
    "pre_start",
    "post_start",
    "on_start",
    "statusline",
    "apikeyhelper",
    "shell_init_files",
    "prefill_messages_file",
    "env_file",
)
# Keys under which a command stands some levels below, as a member `command`.
_HOLDING = _folded("tts", "stt", "lsp")
# The part before the last key, and the key.
_BELOW = {
    (fold(before), fold(last)): kind
    for (before, last), kind in {
        ("plugins", "enabled"): Kind.SOURCE,
        ("plugins", "sources"): Kind.SOURCE,
        ("plugins", "install"): Kind.SOURCE,
        ("plugins", "paths"): Kind.SOURCE,
        ("skills", "sources"): Kind.SOURCE,
        ("skills", "hubs"): Kind.SOURCE,
        ("skills", "taps"): Kind.SOURCE,
        ("skills", "external_dirs"): Kind.SOURCE,
        ("terminal", "docker_image"): Kind.COMMAND,
        ("terminal", "singularity_image"): Kind.COMMAND,
        ("terminal", "modal_image"): Kind.COMMAND,
        ("terminal", "daytona_image"): Kind.COMMAND,
        ("terminal", "docker_volumes"): Kind.VOLUMES,
        ("terminal", "docker_extra_args"): Kind.VOLUMES,
        ("terminal", "env_passthrough"): Kind.PASSES,
        ("terminal", "docker_forward_env"): Kind.PASSES,
    }.items()
}
# Programs that the agent trusts, with the names that they have.
_TRUSTED = {
    fold(key): names
    for key, names in {"tirith_path": ("tirith",), "binary_path": ("op", "bw", "bws")}.items()
}
# A member that holds the value of its key: `{"approvals.mode": {"value": "off"}}`.
WRAPPERS = _folded("value", "val", "new_value", "new", "to", "set")
# Members of an order to install something that may say where it comes from.
_ORIGINS = (
    "query",
    "url",
    "source",
    "repo",
    "repository",
    "package",
    "name",
    "path",
    "git",
    "spec",
    "skill",
    "plugin",
)
# A network that is most of the net: `0.0.0.0/1` beside `128.0.0.0/1`.
_WIDE_NETWORK = re.compile(r"[0-9a-f.:]{2,40}/[0-7]")
_SETTINGS = _folded(
    "approvals",
    "approval_mode",
    "command_allowlist",
    "hooks_auto_accept",
    "inline_shell",
    "subagent_auto_approve",
    "allow_unsafe_evaluate",
    "backend",
    "redact_secrets",
    "tirith_enabled",
    "website_blocklist",
    "allow_private_urls",
    "trusted_proxies",
    "public_url",
    "basic_auth",
    "allow_all_users",
    "yolo",
    "cron_mode",
    "allow_from",
    "allowed_users",
    "api_server",
    "portal_url",
    "ssh_host",
    "guard_enabled",
    "insecure",
    "plugins",
)
_ALLOWED = fold("command_allowlist")
_SOURCES = _folded("identifier", "hub_skills")
# Variables that say what a setting says.
_AS_SETTING = {
    "HERMES_YOLO_MODE": "yolo",
    "HERMES_YOLO": "yolo",
    "HERMES_ACCEPT_HOOKS": "hooks_auto_accept",
    "HERMES_APPROVAL_MODE": "approval_mode",
    "GATEWAY_ALLOW_ALL_USERS": "gateway.allow_all_users",
    "HERMES_DASHBOARD_SESSION_TOKEN": "basic_auth.password",
    "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_HASH": "basic_auth.password_hash",
    "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD": "basic_auth.password",
    "HERMES_DASHBOARD_BASIC_AUTH_USERNAME": "basic_auth.username",
    "API_SERVER_CORS_ORIGINS": "api_server.cors_origins",
}
_ON = frozenset({"1", "true", "yes", "on"})
# Members that hold a command, in the order in which one is taken for it.
_HOLDERS = ("command", "cmd", "exec", "executable", "program", "run", "script", "shell", "then", "bin")
# The members that are read together, folded.
MEMBERS = frozenset(
    {*_HOLDERS, *DIRECTORIES, *_ORIGINS, *ENDPOINT_MEMBERS, "action", "args", "arguments", "env", "event"}
)
# For a first look: each key that counts, folded, and of a pair the part that is rarer. One of these is in every body that
# has such a key.
WORDS = frozenset(
    _COMMANDS
    | _HOLDING
    | ENDPOINT_WORDS
    | _SETTINGS
    | _SOURCES
    | {"script"}
    | _TRUSTED.keys()
    | {"providers"}
    | {max(pair, key=len) for pair in _BELOW}
)


def told_by_key(parts: tuple[str, ...]) -> bool:
    """Tell whether a path leads through a key that counts."""
    return any(fold(part) in KNOWN_NAMES for part in parts)


KNOWN_NAMES = WORDS | {part for pair in _BELOW for part in pair} | _folded("mcp_servers", "mcp", "extra")


def _before(path: tuple[str, ...]) -> str:
    """Give the key that the last one stands in."""
    return path[-2] if len(path) > 1 else ""


def kin_of(
    path: tuple[str, ...], value: Any, place: str, members: Mapping[str, Any] | None = None
) -> Iterator[Entry]:
    """Give the entries that a value is, standing under a key with these parts (folded, outermost first).

    `members` are those of a mapping, with their keys folded.
    """
    if members is not None and isinstance(members.get("event"), str):
        # A hook as its route takes it.
        yield from _held(members, place)
    if members is not None and "install" in str(members.get("action", "")):
        yield from _origins(members, place)
    if members is not None:
        yield from unchecked_settings(path, members, place)
        yield from endpoints_of(path, members, place)
    if path and path[-1] in WRAPPERS:
        yield from kin_of(path[:-1], value, place)
        if is_endpoint(before := _before(path)):
            yield from endpoints_of(path[:-2], {before: value}, place)
    last = path[-1] if path else ""
    before = _before(path)
    if last in _COMMANDS and "mcpservers" not in path:
        yield from _commands(value, place, 0)
    elif last in _HOLDING and isinstance(value, Mapping):
        yield from _holding(value, place, 0)
    elif (kind := _BELOW.get((before, last))) is not None:
        yield from _of_kind(kind, value, place)
    elif last in _SOURCES:
        # What plug-ins and skills are installed from.
        yield from (Entry(text[:64], {"source": text}, place, Kind.SOURCE) for text in _texts(value))
    elif last == "script" and isinstance(value, str) and value:
        yield Entry(last, {"command": value}, place, Kind.COMMAND)
    elif last in _TRUSTED and isinstance(value, str) and value.strip():
        yield from _trusted(path, value, place)
    if last == _ALLOWED:
        # What is never asked about is judged as if it ran.
        yield from (Entry("", {"command": text}, place, Kind.COMMAND) for text in _texts(value))
    if not _SETTINGS.isdisjoint(path[-3:]):
        yield from _settings(path, value, place)


def environment(env: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give what setting these variables does: to what is started with them, as commands, and as settings."""
    texts = {name: str(value) for name, value in env.items() if isinstance(value, (str, int, float))}
    if not texts:
        return
    yield Entry("", {"env": texts}, place, Kind.COMMAND)
    for name, value in texts.items():
        upper = name.strip().upper()
        if _HELD.fullmatch(upper) is not None and value.strip():
            yield Entry("", {"command": value}, place, Kind.COMMAND)
        yield from endpoint_variable(upper, value, place)
        if _IMAGE.fullmatch(upper) is not None:
            yield from _images([value], place)
        setting = "allowed_users" if upper.endswith("_ALLOWED_USERS") else _AS_SETTING.get(upper)
        if setting is not None:
            told = "true" if value.strip().lower() in _ON else value.strip().lower()
            yield Entry("", {"setting": setting, "value": told}, place, Kind.SETTING)


def _of_kind(kind: Kind, value: Any, place: str) -> Iterator[Entry]:
    match kind:
        case Kind.SOURCE:
            yield from (Entry("", {"source": text}, place, kind) for text in _texts(value))
        case Kind.VOLUMES:
            texts = list(_volumes(value))
            options = [word for text in texts for word in (("-v", text) if ":" in text else (text,))]
            yield Entry(
                "", {"command": "docker", "args": ["run", *options, "image"], "volumes": texts}, place, kind
            )
        case Kind.COMMAND:
            yield from _images(_texts(value), place)
        case _:
            yield Entry("", {"passes": list(_texts(value))}, place, kind)


def _images(texts: Iterable[str], place: str) -> Iterator[Entry]:
    """Give what the agent's own commands would run in, as the engine would be told to run it."""
    for text in texts:
        image = text.strip().removeprefix("docker://")
        if image.startswith(("/", "~", ".")):
            yield Entry("", {"command": "apptainer", "args": ["exec", image]}, place, Kind.COMMAND)
        elif image:
            yield Entry("", {"command": "docker", "args": ["run", image]}, place, Kind.COMMAND)


def _trusted(path: tuple[str, ...], value: str, place: str) -> Iterator[Entry]:
    """Give a program that takes the place of one that the agent trusts: as a command, and as a setting if it is another one."""
    yield Entry("", {"command": value}, place, Kind.COMMAND)
    relative = "/" in value and not value.strip().startswith(("/", "~", "$"))
    if relative or basename(value) not in _TRUSTED[path[-1]]:
        yield Entry("", {"setting": path[-1], "value": "another program"}, place, Kind.SETTING)


def _origins(members: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give where an order to install something takes it from."""
    for key in _ORIGINS:
        text = members.get(key)
        if isinstance(text, str) and text.strip():
            yield Entry(text[:64], {"source": text.strip()}, place, Kind.SOURCE)


def _commands(value: Any, place: str, level: int) -> Iterator[Entry]:
    """Give the commands of a key: one, a list of them, or mappings that hold them."""
    if isinstance(value, str):
        if value.strip():
            yield Entry("", {"command": value}, place, Kind.COMMAND)
    elif level >= MAX_LEVELS:
        if isinstance(value, (list, Mapping)) and value:
            yield Entry("", {}, place, Kind.UNREAD)
    elif isinstance(value, list):
        for item in value:
            yield from _commands(item, place, level + 1)
    elif isinstance(value, Mapping):
        held = list(_spelled(value, place))
        yield from held
        if not held:
            for item in value.values():
                if isinstance(item, (list, Mapping)) or level == 0:
                    yield from _commands(item, place, level + 1)


def _held(members: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give each command that a mapping holds, and its environment if it holds none; a list is one vector."""
    with_it = {"args": members.get("args") or members.get("arguments"), "env": members.get("env")}
    with_it |= {key: members[key] for key in DIRECTORIES if key in members}
    found = [members[key] for key in _HOLDERS if isinstance(members.get(key), (str, list)) and members[key]]
    for command in found:
        yield Entry("", {"command": command, **with_it}, place, Kind.COMMAND)
    if not found and isinstance(with_it["env"], Mapping):
        yield Entry("", {"env": with_it["env"]}, place, Kind.COMMAND)


def _spelled(value: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give what a mapping holds by each choice among members whose names fold to one."""
    try:
        for members in spellings(
            (name, item) for key, item in value.items() if (name := fold(key)) in MEMBERS
        ):
            yield from _held(members, place)
    except SpellingsError:
        yield Entry("", {}, place, Kind.UNREAD)


def _holding(value: Mapping[str, Any], place: str, level: int) -> Iterator[Entry]:
    """Give the commands that are members of a mapping or of those in it."""
    yield from _spelled(value, place)
    for item in value.values():
        if isinstance(item, Mapping) and level >= MAX_LEVELS:
            yield Entry("", {}, place, Kind.UNREAD)
        elif isinstance(item, Mapping):
            yield from _holding(item, place, level + 1)


def _settings(path: tuple[str, ...], value: Any, place: str) -> Iterator[Entry]:
    if isinstance(value, (str, bool, int)):
        told = "true" if value is True else "false" if value is False else str(value).lower()
        told = "0.0.0.0/0" if _WIDE_NETWORK.fullmatch(told) else told
        yield Entry("", {"setting": ".".join(path), "value": told}, place, Kind.SETTING)
    elif isinstance(value, list):
        for text in _texts(value):
            yield from _settings(path, text, place)


def _volumes(value: Any) -> Iterator[str]:
    """Give volumes as `-v` has them, also those that are mappings of a place here and one there."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Mapping):
            yield ":".join(text for text in item.values() if isinstance(text, str))
        yield from _texts(item)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Mapping):
                yield from (text for text in item.values() if isinstance(text, str))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            if isinstance(item, str):
                yield item
