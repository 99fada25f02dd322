"""Keys of the agent's configuration that run, load or trust something like a server entry does.

A key is known by its last parts, wherever a body has it: `hooks.on_session_start[].command` below `config`, as a JSON Patch path,
as a key of `config.set`. What stands there is turned into an entry of its kind; the judge judges it like any other.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from herma.policy.entry.entry import Entry, Kind

__all__ = ["GATE_WORDS", "KEPT_KEYS", "kin_of", "steps"]

# How often list and mapping may alternate below a key: `hooks.<event>[].hooks[].command`.
MAX_LEVELS = 4
# Keys of the way to a value that tell what it is: `config.tts.providers.<name>.command`.
KEPT_KEYS = 4

_COMMANDS = frozenset(
    {
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
        "status_line",
        "apikeyhelper",
        "shell_init_files",
        "prefill_messages_file",
        "env_file",
    }
)
# The part before the last key, and the key.
_BELOW = {
    ("lsp", "servers"): Kind.COMMAND,
    ("tts", "providers"): Kind.COMMAND,
    ("stt", "providers"): Kind.COMMAND,
    ("plugins", "enabled"): Kind.SOURCE,
    ("plugins", "sources"): Kind.SOURCE,
    ("plugins", "install"): Kind.SOURCE,
    ("plugins", "paths"): Kind.SOURCE,
    ("skills", "sources"): Kind.SOURCE,
    ("skills", "hubs"): Kind.SOURCE,
    ("skills", "taps"): Kind.SOURCE,
    ("skills", "external_dirs"): Kind.SOURCE,
    ("terminal", "docker_volumes"): Kind.VOLUMES,
    ("terminal", "docker_extra_args"): Kind.VOLUMES,
    ("terminal", "env_passthrough"): Kind.PASSES,
    ("terminal", "docker_forward_env"): Kind.PASSES,
    ("security", "tirith_path"): Kind.COMMAND,
    ("onepassword", "binary_path"): Kind.COMMAND,
}
_ENDPOINTS = frozenset({"base_url", "api_base", "inference_base_url"})
_SETTINGS = frozenset(
    {
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
        "guard_enabled",
        "insecure",
    }
)
# For a first look at raw bytes: one of these is in every body that has such a key.
GATE_WORDS = (
    b"hooks",
    b"quick_commands",
    b"startup",
    b"pre_start",
    b"post_start",
    b"on_start",
    b"lsp",
    b'"tts',
    b"tts:",
    b"tts.",
    b'"stt',
    b"stt:",
    b"stt.",
    b"approval",
    b"allowlist",
    b"auto_accept",
    b"inline_shell",
    b"auto_approve",
    b"unsafe_evaluate",
    b"binary_path",
    b"tirith",
    b"base_url",
    b"api_base",
    b"init_files",
    b"docker_volumes",
    b"docker_extra_args",
    b"env_passthrough",
    b"forward_env",
    b"plugins",
    b"identifier",
    b"skills",
    b"redact_secrets",
    b"trusted_proxies",
    b"basic_auth",
    b"public_url",
    b"allow_all_users",
    b"allow_private_urls",
    b"cron_mode",
    b'"script"',
    b"backend",
    b"yolo",
)


def steps(key: str) -> tuple[str, ...]:
    """Take a key apart that is written as a path: `a.b`, `/a/b`, `a/b`."""
    return tuple(part for part in key.lower().strip("/").replace("/", ".").split(".") if part)


def kin_of(path: tuple[str, ...], value: Any, place: str) -> Iterator[Entry]:
    """Give the entries that a value is, standing under a key with these parts (lower-case, outermost first)."""
    if (
        isinstance(value, Mapping)
        and isinstance(value.get("event"), str)
        and isinstance(value.get("command"), str)
    ):
        # A hook as its route takes it.
        yield Entry("", {"command": value["command"]}, place, Kind.COMMAND)
    last = path[-1] if path else ""
    before = path[-2] if len(path) > 1 else ""
    if last in _COMMANDS and "mcp_servers" not in path:
        yield from _commands(value, place, 0)
    elif (kind := _BELOW.get((before, last))) is not None:
        yield from _of_kind(kind, value, place)
    elif last in _ENDPOINTS and isinstance(value, str):
        yield Entry(last, {"env": {"ENDPOINT_BASE_URL": value}}, place, Kind.ENDPOINT)
    elif last == "identifier" and isinstance(value, str):
        # What plug-ins and skills are installed from.
        yield Entry(value[:64], {"source": value}, place, Kind.SOURCE)
    elif last == "script" and isinstance(value, str) and value:
        yield Entry(last, {"command": value}, place, Kind.COMMAND)
    if last in _SETTINGS or before in _SETTINGS:
        yield from _settings(path, value, place)


def _of_kind(kind: Kind, value: Any, place: str) -> Iterator[Entry]:
    match kind:
        case Kind.SOURCE:
            yield from (Entry("", {"source": text}, place, kind) for text in _texts(value))
        case Kind.VOLUMES:
            options = [word for text in _texts(value) for word in (("-v", text) if ":" in text else (text,))]
            yield Entry("", {"command": "docker", "args": ["run", *options, "image"]}, place, kind)
        case Kind.PASSES:
            yield Entry("", {"passes": list(_texts(value))}, place, kind)
        case _:
            yield from _commands(value, place, 0)


def _commands(value: Any, place: str, level: int) -> Iterator[Entry]:
    """Give the commands of a key: one, a list of them, or mappings that hold them."""
    if isinstance(value, str):
        if value.strip():
            yield Entry("", {"command": value}, place, Kind.COMMAND)
    elif level < MAX_LEVELS and isinstance(value, list):
        for item in value:
            yield from _commands(item, place, level + 1)
    elif level < MAX_LEVELS and isinstance(value, Mapping):
        held = next(
            (value[key] for key in ("command", "exec", "run", "script", "shell", "cmd") if key in value), None
        )
        if isinstance(held, (str, list)):
            # A list here is one vector.
            yield Entry(
                "", {"command": held, "args": value.get("args"), "env": value.get("env")}, place, Kind.COMMAND
            )
        else:
            for item in value.values():
                if isinstance(item, (list, Mapping)) or level == 0:
                    yield from _commands(item, place, level + 1)


def _settings(path: tuple[str, ...], value: Any, place: str) -> Iterator[Entry]:
    if isinstance(value, (str, bool, int)):
        told = "true" if value is True else "false" if value is False else str(value).lower()
        yield Entry("", {"setting": ".".join(path), "value": told}, place, Kind.SETTING)
    elif isinstance(value, list):
        for text in _texts(value):
            yield Entry("", {"setting": ".".join(path), "value": text.lower()}, place, Kind.SETTING)


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
