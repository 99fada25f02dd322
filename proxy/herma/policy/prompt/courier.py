"""Keys in download commands: who may be sent which one.

A job that shows a key in the header of a request to a host that its writer names is ordinary work. It is not where the key
is that of another vendor, where it stands in what is sent or asked for, and where the host only looks like the one it
claims to be, is a bare address, listens without encryption or collects what strangers send.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from herma.policy.address import Host, hosts, is_foreign, is_metadata

__all__ = ["Courier"]

_KEY = re.compile(
    r"\$(?:env:)?\{?([A-Za-z0-9_]{0,60}?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API)[A-Za-z0-9_]{0,30})",
    re.IGNORECASE,
)
# `$GITHUB_API_URL` is an address.
_ADDRESS = re.compile(r"_(?:URL|URI|HOST|HOSTNAME|ENDPOINT|BASE|VERSION)$", re.IGNORECASE)
_FETCHER = re.compile(r"\b(?:curl|wget|https?|iwr|irm|invoke-webrequest|invoke-restmethod)\b", re.IGNORECASE)
_COMMAND_END = re.compile(r"[|;\n]|&&")
# What stands before a key that proves who asks: a header of that name, an option for the user, a user before the host.
_PROOF = re.compile(
    r"(?:[\w-]{0,40}(?:authorization|token|key|auth|secret|cookie)[\w-]{0,40}[\"']?\s?:\s?[\"']?(?:[\w-]{1,24}[ =]){0,2}"
    r"|authorization[\"']?\s?=\s?[\"']?(?:\w{1,12} )?"
    r"|(?:\s-u|\s-\w{1,6}u|--(?:proxy-)?user|--oauth2-bearer|--(?:http-)?password)[ =]?[\"']?[^\s\"']{0,80}"
    r"|://[^/\s@\"']{0,60})$",
    re.IGNORECASE,
)
MAX_PROOF_CHARS: Final = 200
# A parameter that an interface calls its key; what is merely called `k` or `t` is a place to put one.
_OWN_PARAMETER = re.compile(
    r"[?&](?:app_?id|api[_-]?key|access[_-]?token|auth[_-]?key|subscription-key)=$", re.IGNORECASE
)
# `api.github.com:443@`: a user that looks like a host.
_DISGUISED = re.compile(r"://[^/\s\"'@]{0,80}\.[^/\s\"'@]{1,80}@")
# Requests are sent to another place than the one that the address names.
_DIVERTED = re.compile(r"\s--connect-to[ =]|\s--resolve[ =]")
# More keys of different owners than a job hands in at one door (a proxy's and the service's own).
MAX_OWNERS: Final = 2
SHORTEST_OWNER: Final = 3


class _Key(NamedTuple):
    owner: str
    words: frozenset[str]
    # Whether it proves who asks, and whether it is at least a parameter that keys are expected in.
    proves: bool
    expected: bool


class Courier:
    """Tells commands that carry keys to places where they do not belong.

    Options of the rule: `vendors`, for each the ends of its hosts' names, first words of its variables being keys of the
    mapping; `collectors`, ends of names of hosts that keep what anybody sends.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Read the options.

        Raises:
            ValueError: they are not what is described above.
        """
        vendors, collectors = options.get("vendors"), options.get("collectors")
        if not isinstance(vendors, Mapping) or not all(map(_is_names, vendors.values())):
            raise ValueError("`vendors` maps words to lists of names of hosts")
        if not _is_names(collectors):
            raise ValueError("`collectors` is a list of names of hosts")
        self._vendors = {str(word): tuple(names) for word, names in vendors.items()}
        self._collectors = tuple(map(str, collectors or ()))
        self._names = frozenset(name for names in self._vendors.values() for name in names)

    def __call__(self, text: str) -> bool:
        """Tell whether a command of the text carries a key astray."""
        if "$" not in text:
            return False
        return any(self._strays(command) for command in _COMMAND_END.split(text.replace("\\\n", " ")))

    def _strays(self, command: str) -> bool:
        if _FETCHER.search(command) is None:
            return False
        keys = _keys(command)
        if not keys:
            return False
        addressed = [host for host in hosts(command) if host.scheme]
        if not addressed:
            return not all(key.proves for key in keys)
        if _DISGUISED.search(command) or _DIVERTED.search(command):
            return True
        if len({key.owner for key in keys}) > MAX_OWNERS:
            return True
        return any(self._refused(host, keys) for host in addressed)

    def _refused(self, host: Host, keys: list[_Key]) -> bool:
        if is_metadata(host):
            return True
        if not is_foreign(host):
            return False
        if host.address is not None or host.scheme == "http" or _ends(host.name, self._collectors):
            return True
        if not _ends(host.name, self._names) and self._imitates(host.name):
            return True
        return any(self._misdirected(host, key) for key in keys)

    def _imitates(self, name: str) -> bool:
        plain = name.replace("-", ".") + "."
        return any(f".{known}." in f".{plain}" for known in self._names)

    def _misdirected(self, host: Host, key: _Key) -> bool:
        own = [names for word, names in self._vendors.items() if word in key.words]
        if own:
            return not any(_ends(host.name, names) for names in own)
        return not (key.proves or key.expected or _related(host.name, key.owner))


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name for name in value)


def _keys(command: str) -> list[_Key]:
    found: list[_Key] = []
    for match in _KEY.finditer(command):
        if _ADDRESS.search(match[1]):
            continue
        words = match[1].lower().split("_")
        before = command[max(0, match.start() - MAX_PROOF_CHARS) : match.start()]
        proves = _PROOF.search(before) is not None
        found.append(_Key(words[0], frozenset(words), proves, _OWN_PARAMETER.search(before) is not None))
    return found


def _ends(name: str, ends: tuple[str, ...] | frozenset[str]) -> bool:
    return any(name == end or name.endswith("." + end) for end in ends)


def _related(name: str, owner: str) -> bool:
    """Tell whether a host is named like the owner of a key, in full or by its letters: `OWM`, `openweathermap`."""
    if len(owner) < SHORTEST_OWNER:
        return False
    return any(owner in label or _abbreviates(owner, label) for label in name.split(".")[:-1])


def _abbreviates(short: str, label: str) -> bool:
    letters = iter(label)
    return label.startswith(short[0]) and all(letter in letters for letter in short)
