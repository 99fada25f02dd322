r"""What a path leads to: a secret, something that runs or is believed later, or an ordinary file.

The gate does not see the disk, so a path is read in every way in which the system behind it might: without case, with its letters in
their compatible forms and without invisible ones, percent signs decoded again, `\` as `/`, without the name of an NTFS stream and
what Windows drops from the end of a name, and with `..` taken at its word. One reading that leads to a secret is enough. Links that a
system always has (`/proc/1/root`) are followed; what leads through others of that kind is taken for a secret.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from herma.policy.command.path import resolve_path

__all__ = ["Place", "place_of"]

# As long as a path may be on Linux; what is longer names no file.
MAX_PATH_CHARS: Final = 4096
# A proxy decodes once, an upstream once more; nobody decodes four times.
MAX_DECODINGS: Final = 3

_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
# What Windows takes away: a stream (`:$DATA` is the file itself), dots and blanks at the end of a name.
_STREAM: Final = re.compile(r"(?<=[^/]{2})::?\$?[^/:]*(?:::?\$?[^/:]*)?(?=/|$)")
_TAIL: Final = re.compile(r"(?<=[^/. ])[. ]+(?=/|$)")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")

_SECRET_FOLDERS: Final = frozenset(
    {
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".docker",
        ".password-store",
        ".config/gcloud",
        ".config/gh",
        ".config/op",
        "mcp-tokens",
        "pairing",
        "keyrings",
    }
)
_SECRET_FILE: Final = re.compile(
    r"\.env(?:rc|\..*|[~#-].*)?|\.?netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|\.git-credentials|\.htpasswd"
    r"|\.(?:bash|zsh|python|psql|mysql|node_repl)_history|auth\.(?:json|lock|json\..*)|\.?credentials(?:\..*)?|secrets?\.(?:json|ya?ml|toml|env)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\..*)?|authorized_keys2?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ovpn|ppk)|kubeconfig"
    r"|shadow-?|gshadow-?|sudoers|(?:state|response_store)\.db.*|dashboard-auth\.log"
)
_DEVICES: Final = re.compile(
    r"/proc/[^/]+/(?:.*/)?(?:environ|mem|maps|cmdline|cwd|root|exe|fd|map_files)(?:/|$)|/dev/(?:fd|mem|kmem|sd|nvme|dm-)"
)
# The agent's home: by its name, and where the images of the agent have it.
_HOME: Final = re.compile(r"(?:^|/)\.hermes(?:/|$)|^/opt/data(?:/(?!workspace(?:/|$))|$)")
# Its configuration holds keys wherever it lies.
_CONFIGURATION: Final = re.compile(
    r"(?:(?:^|/)\.hermes(?:/.*)?|^/opt/data(?:/profiles/[^/]+)?)/config\.ya?ml(?:[.~-].*)?$"
)
_PLANTED: Final = re.compile(
    r"^/(?:etc|boot|lib|lib64|usr|bin|sbin|var/spool/cron|var/lib|root/\.config/systemd|run|sys|proc|dev)(?:/|$)"
    r"|(?:^|/)(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|inputrc|vimrc|gitconfig"
    r"|xprofile|xinitrc|pam_environment|condarc)|sitecustomize\.py|usercustomize\.py|[^/]*\.pth)$"
    r"|(?:^|/)(?:\.git/(?:hooks|config)|\.config/(?:systemd|autostart|fish|git)|\.local/(?:bin|lib)|library/launch(?:agents|daemons)|site-packages)(?:/|$)"
)


class Place(StrEnum):
    """What a path leads to.

    `secret`: keys and passwords. `agent`: the agent's home, where each file is a part of it. `system`: what runs by itself, for the
    machine or for whoever logs in. `unreadable`: nothing that is certain.
    """

    PLAIN = "plain"
    SECRET = "secret"  # noqa: S105 - the name of a kind
    AGENT = "agent"
    SYSTEM = "system"
    UNREADABLE = "unreadable"


_GRAVEST: Final = (Place.UNREADABLE, Place.SECRET, Place.AGENT, Place.SYSTEM)


def place_of(path: str) -> Place:
    """Tell what a path leads to; of its readings the gravest counts."""
    if len(path) > MAX_PATH_CHARS:
        return Place.UNREADABLE
    found = {_place(reading) for reading in _readings(path)}
    return next((place for place in _GRAVEST if place in found), Place.PLAIN)


def _readings(path: str) -> Iterator[str]:
    """Give the path in the ways in which it may be read, each once, in lower case."""
    forms = [path]
    for _ in range(MAX_DECODINGS):
        forms.append(_decoded(forms[-1]))
    plain = [_plain(form) for form in forms]
    forms += plain
    forms += [form.replace("\\", "/") for form in plain]
    forms += [_TAIL.sub("", _STREAM.sub("", form)) for form in forms]
    yield from dict.fromkeys(form.casefold() for form in forms)


def _decoded(text: str) -> str:
    raw = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return raw


def _plain(text: str) -> str:
    """Write letters in their compatible forms, without invisible ones."""
    compatible = unicodedata.normalize("NFKC", text)
    # One letter may stand for eighteen: what is that long then has no meaning.
    if len(compatible) > MAX_PATH_CHARS:
        return "\0"
    return "".join(sign for sign in compatible if unicodedata.category(sign) != "Cf")


def _place(path: str) -> Place:
    if _CONTROL.search(path):
        return Place.UNREADABLE
    path = path.removeprefix("file://")
    whole, resolved = "/" + path.lstrip("/"), resolve_path(path)
    parts = [part for part in resolved.split("/") if part]
    pairs = {"/".join(parts[index : index + 2]) for index in range(len(parts))}
    if (
        not _SECRET_FOLDERS.isdisjoint(parts)
        or not _SECRET_FOLDERS.isdisjoint(pairs)
        or _SECRET_FILE.fullmatch(parts[-1] if parts else "")
        or _CONFIGURATION.search(resolved)
        or _DEVICES.match(whole)
        or _DEVICES.match(resolved)
    ):
        return Place.SECRET
    if _HOME.search(resolved):
        return Place.AGENT
    return Place.SYSTEM if _PLANTED.search(resolved) else Place.PLAIN
